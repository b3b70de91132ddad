// <capsnet-margin>: ten lengths and three constants, and what each capsule costs.
import { Chart, Widget, button, define, key, make, say, slider } from "./widget.js";

const CONSTANTS = { mPlus: 0.9, mMinus: 0.1, lambda: 0.5 };

/** Equation 4: what each class costs, how steep that is in its length, and the sum of the costs. */
export function marginTerms(lengths, present, { mPlus, mMinus, lambda } = CONSTANTS) {
  const terms = lengths.map((n, k) => present[k]
    ? Math.max(0, mPlus - n) ** 2
    : lambda * Math.max(0, n - mMinus) ** 2);
  const slopes = lengths.map((n, k) => present[k]
    ? -2 * Math.max(0, mPlus - n)
    : 2 * lambda * Math.max(0, n - mMinus));
  return { terms, slopes, total: terms.reduce((sum, term) => sum + term, 0) };
}

const START = [0.05, 0.11, 0.17, 0.23, 0.66, 0.29, 0.35, 0.41, 0.47, 0.55];
const STEPS = Array.from({ length: 101 }, (_, k) => k / 100);

export class CapsnetMargin extends Widget {
  build() {
    this.lengths = [...START];
    this.present = START.map((_, k) => k === 4);
    this.constants = { ...CONSTANTS };
    const chart = (this.chart = new Chart("", [0, 1], [0, 0.9], 400, 250, [18, 10, 46, 34]));
    chart.line([[0, 0.9], [0, 0], [1, 0]], "ink fine");
    for (const n of [0, 0.5, 1]) chart.text([n, -0.09], n, { "text-anchor": "middle" });
    for (const cost of [0.4, 0.8]) chart.text([-0.02, cost - 0.02], cost, { "text-anchor": "end" });
    chart.text([0.5, -0.2], "length of the capsule", { "text-anchor": "middle" });
    this.margins = ["mPlus", "mMinus"].map((name) => [name, chart.add("path", { class: "ink fine dotted" })]);
    this.curves = [[true, "blue"], [false, "orange dashed"]].map(([there, kind]) =>
      [there, chart.add("path", { class: kind })]);
    this.dots = START.map((_, k) => ({
      dot: chart.add("circle", { r: 5 }),
      name: chart.add("text"),
    }));
    const constant = (name, label, max, step) =>
      [name, slider(label, { min: 0, max, step }, (x) => ((this.constants[name] = x), this.draw()))];
    this.knobs = [constant("mPlus", "long enough, m⁺", 1, 0.01),
      constant("mMinus", "short enough, m⁻", 1, 0.01), constant("lambda", "weight, λ", 5, 0.1)];
    this.rows = START.map((_, k) => this.row(k));
    this.sum = make("td");
    const all = (n) => button(`all ${n}`, () => (this.lengths.fill(n), this.draw()));
    const again = button("Start again", () => {
      this.lengths = [...START];
      this.present = START.map((_, k) => k === 4);
      this.constants = { ...CONSTANTS };
      this.draw();
    });
    return [
      this.opening("Pay for ten lengths",
        "A 4 is there. Make its capsule longer and the others shorter, until nothing is left to pay."),
      chart.svg,
      make("p", { class: "widget-keys" }, key("blue", "the digit is there"), key("orange dashed", "it isn't")),
      make("table", { class: "widget-table" }, make("thead", {}, make("tr", {},
        ...["digit", "there", "length", "cost", "slope"].map((name) =>
          make("th", { scope: "col", colspan: name === "length" ? 2 : 1 }, name)))),
      make("tbody", {}, ...this.rows.map(({ row }) => row)),
      make("tfoot", {}, make("tr", {}, make("th", { scope: "row", colspan: 4 }, "loss, the sum"),
        this.sum, make("td")))),
      make("div", { class: "widget-controls" }, ...this.knobs.map(([, knob]) => knob)),
      make("div", { class: "widget-controls" }, all(0), all(0.3), all(1), again),
      this.says,
    ];
  }

  /** A row of the table: a digit's controls, and its numbers. */
  row(k) {
    const there = make("input", { type: "checkbox", "aria-label": `digit ${k} is there`,
      onchange: () => ((this.present[k] = there.checked), this.draw()) });
    const length = make("input", { type: "range", min: 0, max: 1, step: 0.01,
      "aria-label": `length of capsule ${k}`,
      oninput: () => ((this.lengths[k] = length.valueAsNumber), this.draw()) });
    const [n, cost, slope] = [make("td"), make("td"), make("td")];
    const row = make("tr", {}, make("th", { scope: "row" }, k), make("td", {}, there),
      make("td", { class: "widget-wide" }, length), n, cost, slope);
    return { row, there, length, n, cost, slope };
  }

  draw() {
    const { terms, slopes, total } = marginTerms(this.lengths, this.present, this.constants);
    this.rows.forEach(({ there, length, n, cost, slope }, k) => {
      there.checked = this.present[k];
      length.value = this.lengths[k];
      n.textContent = say(this.lengths[k]);
      cost.textContent = say(terms[k], 3);
      slope.textContent = say(slopes[k]);
    });
    this.knobs.forEach(([name, knob]) => knob.set(this.constants[name]));
    this.sum.textContent = say(total, 3);
    this.plot(terms);
    const pulled = slopes.reduce((most, slope, k) => (Math.abs(slope) > Math.abs(slopes[most]) ? k : most), 0);
    const pull = slopes[pulled];
    this.says.textContent = `The loss is ${say(total, 3)}. ` + (pull
      ? `The hardest pull, ${say(Math.abs(pull))}, makes capsule ${pulled} ${pull < 0 ? "longer" : "shorter"}.`
      : "No capsule is pulled.");
  }

  /** Draw both curves, the margins and a dot for each capsule; what is too dear stays at the top. */
  plot(terms) {
    const place = (n, cost) => this.chart.at([n, Math.min(cost, 0.9)]).map((x) => x.toFixed(1));
    for (const [there, path] of this.curves) {
      const { terms: costs } = marginTerms(STEPS, STEPS.map(() => there), this.constants);
      const shown = STEPS.flatMap((n, k) => (costs[k] <= 0.9 ? [place(n, costs[k]).join(" ")] : []));
      path.setAttribute("d", `M${shown.join("L")}`);
    }
    for (const [name, path] of this.margins) {
      const n = this.constants[name];
      path.setAttribute("d", `M${place(n, 0).join(" ")}L${place(n, 0.9).join(" ")}`);
    }
    // Dots in one place share a name.
    const spots = this.lengths.map((n, k) => `${this.present[k]} ${n}`);
    this.dots.forEach(({ dot, name }, k) => {
      const n = this.lengths[k];
      const [x, y] = place(n, terms[k]);
      const names = [...spots.keys()].filter((other) => spots[other] === spots[k]);
      name.textContent = names[0] === k ? names.join(" ") : "";
      name.setAttribute("text-anchor", n < 0.15 ? "start" : n > 0.85 ? "end" : "middle");
      dot.setAttribute("class", `${this.present[k] ? "blue" : "orange"} full`);
      dot.setAttribute("cx", x);
      dot.setAttribute("cy", y);
      name.setAttribute("x", x);
      name.setAttribute("y", y - 9);
    });
    this.chart.svg.setAttribute("aria-label", "What a capsule costs over its length, and a dot for " +
      `each capsule: ${terms.map((cost, k) => `${k} at ${say(this.lengths[k])} costs ${say(cost)}`).join(", ")}.`);
  }
}

define("capsnet-margin", CapsnetMargin);
