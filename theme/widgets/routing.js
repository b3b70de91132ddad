// <capsnet-routing>: two children guess at three parents, and share themselves out.
import { squash } from "./squash.js";
import { Chart, Widget, button, clamp, define, key, make, number, say, slider } from "./widget.js";

/** The running example of the lessons: prediction vectors by child, parent and component. */
export const START = [
  [[1.0, 0.2], [0.9, 0.9], [0.1, 0.0]],
  [[0.9, 0.3], [-0.9, -0.8], [0.0, 0.1]],
];
const ROUNDS = 10;
const REACH = 1.5;
const CHILDREN = ["blue", "orange dashed"];

/** Equation 3 over the "parents"; over the "children" it is the mistake that the lesson shows. */
export function softmax(b, axis) {
  const e = b.map((row) => row.map(Math.exp));
  const total = (i, j) => (axis === "parents" ? e[i] : e.map((row) => row[j])).reduce((a, x) => a + x);
  return e.map((row, i) => row.map((x, j) => x / total(i, j)));
}

/** Procedure 1: the couplings c, total inputs s and outputs v of each round. */
export function route(uHat, rounds, axis = "parents") {
  let b = uHat.map((guesses) => guesses.map(() => 0));
  const trace = [];
  for (let round = 0; round < rounds; round++) {
    const c = softmax(b, axis);
    const s = uHat[0].map((first, j) =>
      first.map((_, m) => uHat.reduce((sum, guesses, i) => sum + c[i][j] * guesses[j][m], 0)));
    const v = s.map(squash);
    trace.push({ c, s, v });
    const agreement = (u, j) => u.reduce((sum, x, m) => sum + x * v[j][m], 0);
    b = b.map((row, i) => row.map((x, j) => x + agreement(uHat[i][j], j)));
  }
  return trace;
}

export class CapsnetRouting extends Widget {
  build() {
    this.reset();
    this.planes = START[0].map((_, j) => this.plane(j));
    this.round = slider("round", { min: 1, max: ROUNDS, step: 1 }, (t) => this.go(t), 0);
    this.back = button("Back", () => this.go(this.t - 1));
    this.next = button("Next round", () => this.go(this.t + 1));
    const again = button("Start again", () => (this.reset(), this.draw()));
    this.axes = ["parents", "children"].map((axis) =>
      make("input", { type: "radio", name: "axis", value: axis,
        onchange: () => ((this.axis = axis), this.draw()) }));
    const choice = make("form", {},
      make("fieldset", {}, make("legend", {}, "The softmax runs over the"),
        make("label", {}, this.axes[0], "parents (right)"),
        make("label", {}, this.axes[1], "children (wrong)")));
    this.picked = make("select", { onchange: () => this.pick(...this.picked.value.split("")) });
    START.forEach((guesses, i) => guesses.forEach((_, j) => this.picked.append(
      make("option", { value: `${i}${j}` }, `child ${i} about parent ${j}`))));
    const range = { min: -REACH, max: REACH, step: 0.1 };
    this.x = number("to the right", range, (x) => this.move(this.i, this.j, [x, this.guess[1]]));
    this.y = number("upwards", range, (y) => this.move(this.i, this.j, [this.guess[0], y]));
    this.table = make("tbody");
    return [
      this.opening("Route by agreement",
        "Press Next round, and watch where each child gives itself. Then drag a ring, or try the wrong axis."),
      make("div", { class: "widget-planes" }, ...this.planes.map(({ chart, caption }) =>
        make("div", {}, chart.svg, make("p", {}, caption)))),
      make("p", { class: "widget-keys" }, key("blue", "child 0"), key("orange dashed", "child 1"),
        key("ink dotted", "s, their sum by shares"), key("purple thick", "v, squashed")),
      make("div", { class: "widget-controls" }, this.back, this.next, this.round),
      make("table", { class: "widget-table" }, make("thead", {}, make("tr", {},
        ...["", "parent 0", "parent 1", "parent 2", "sum"].map((name) =>
          make("th", { scope: "col" }, name)))), this.table),
      choice,
      make("div", { class: "widget-controls" },
        make("label", { class: "widget-number" }, "guess of", this.picked), this.x, this.y, again),
      this.says,
    ];
  }

  plane(j) {
    const chart = new Chart("", [-1.7, 1.7], [-1.7, 1.7], 120, 120, [0, 0, 0, 0]);
    chart.circle(1, "ink fine dotted");
    const guesses = CHILDREN.map((kind) => chart.add("path", { class: kind }));
    const [sum, parent] = ["ink dotted", "purple thick"].map((kind) => chart.add("path", { class: kind }));
    const tips = CHILDREN.map((kind, i) => chart.handle(kind.split(" ")[0], (point) => {
      this.pick(i, j);
      this.move(i, j, point.map((x) => Math.round(100 * x) / 100));
    }, 13));
    return { chart, guesses, sum, parent, tips, caption: make("span", {}, `parent ${j}`) };
  }

  reset() {
    this.uHat = structuredClone(START);
    Object.assign(this, { t: 1, i: 0, j: 0, axis: "parents" });
  }

  get guess() {
    return this.uHat[this.i][this.j];
  }

  go(t) {
    this.t = clamp(t, 1, ROUNDS);
    this.draw();
  }

  pick(i, j) {
    [this.i, this.j] = [Number(i), Number(j)];
    this.draw();
  }

  move(i, j, point) {
    this.uHat[i][j] = point.map((x) => clamp(x, -REACH, REACH));
    this.draw();
  }

  draw() {
    const { c, s, v } = route(this.uHat, this.t, this.axis).at(-1);
    this.planes.forEach(({ chart, guesses, sum, parent, tips, caption }, j) => {
      this.uHat.forEach((guess, i) => {
        chart.ray(guesses[i], guess[j]);
        tips[i].place(guess[j]);
      });
      chart.ray(sum, s[j]);
      chart.arrow(parent, v[j]);
      caption.textContent = `parent ${j}: ${say(Math.hypot(...v[j]))}`;
      chart.svg.setAttribute("aria-label", `Parent ${j}: ${this.uHat.map((guess, i) =>
        `child ${i} guesses (${guess[j].map((x) => say(x)).join(", ")})`).join(", ")}; ` +
        `v is (${v[j].map((x) => say(x)).join(", ")}).`);
    });
    this.round.set(this.t);
    this.back.disabled = this.t === 1;
    this.next.disabled = this.t === ROUNDS;
    this.axes.forEach((input) => (input.checked = input.value === this.axis));
    this.picked.value = `${this.i}${this.j}`;
    this.x.set(this.guess[0]);
    this.y.set(this.guess[1]);
    this.fill(c, s, v);
    this.says.textContent = `Round ${this.t}. ${c.map((row, i) =>
      `Child ${i} gives ${row.map((x) => say(x)).join(", ")}.`).join(" ")} ` +
      `The parents' lengths are ${v.map((x) => say(Math.hypot(...x))).join(", ")}.`;
  }

  /** Write the table: couplings with their sums both ways, and the parents' vectors. */
  fill(c, s, v) {
    const add = (xs) => xs.reduce((a, x) => a + x);
    const row = (name, cells, last = "") => make("tr", {}, make("th", { scope: "row" }, name),
      ...cells.map((cell) => make("td", cell.share === undefined ? {} : { style: `--share: ${cell.share}` },
        ...[cell.text ?? cell].flat())), make("td", {}, last));
    const vector = ([x, y]) => ({ text: [say(x), make("br"), say(y)] });
    const byParent = c[0].map((_, j) => say(add(c.map((shares) => shares[j]))));
    this.table.replaceChildren(
      ...c.map((shares, i) => row(`child ${i}`,
        shares.map((x) => ({ share: x, text: say(x) })), say(add(shares)))),
      row("sum", byParent), row("s", s.map(vector)), row("v", v.map(vector)),
      row("length of v", v.map((x) => say(Math.hypot(...x)))));
  }
}

define("capsnet-routing", CapsnetRouting);
