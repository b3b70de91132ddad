// <capsnet-squash>: drag or type a vector of the plane, and see it squashed.
import { Chart, Widget, define, key, make, number, say, slider } from "./widget.js";

/** Equation 1, in the form that has a value at 0: v = s ‖s‖ / (1 + ‖s‖²). */
export function squash(s) {
  const n = Math.hypot(...s);
  return s.map((x) => x * (n / (1 + n * n)));
}

/** The length after squashing, of a vector of length n. */
export const squashedLength = (n) => (n * n) / (1 + n * n);

/** How much the length after changes when the length before does. */
export const squashSlope = (n) => (2 * n) / (1 + n * n) ** 2;

const [LEFT, RIGHT, LOW, HIGH, LONGEST] = [-3, 3, -2, 4, 5];

/** Shorten a vector, if need be, until it fits the plane. */
function fit([x, y]) {
  const room = Math.max(x / RIGHT, x / LEFT, y / HIGH, y / LOW, 1);
  return [x / room, y / room];
}

export class CapsnetSquash extends Widget {
  build() {
    this.s = [1.6, 1.2];
    this.direction = [0.8, 0.6];
    const plane = (this.plane = new Chart("", [-3.2, 3.2], [-2.2, 4.2], 300, 300, [0, 0, 0, 0]));
    plane.circle(1, "ink fine dotted");
    plane.text([0, -1.12], "length 1", { "text-anchor": "middle", "dominant-baseline": "hanging" });
    this.before = plane.add("path", { class: "orange dashed" });
    this.after = plane.add("path", { class: "blue thick" });
    this.tip = plane.handle("orange", (s) => this.set(s));

    const curve = (this.curve = new Chart("", [0, LONGEST], [0, 1.08], 300, 260, [8, 8, 40, 30]));
    curve.line([[0, 1], [LONGEST, 1]], "ink fine dotted");
    curve.line([[0, 1.08], [0, 0], [LONGEST, 0]], "ink fine");
    for (const n of [0, 1, 2, 3, 4, 5]) curve.text([n, -0.075], n, { "text-anchor": "middle" });
    for (const n of [0.5, 1]) curve.text([-0.1, n - 0.02], n, { "text-anchor": "end" });
    curve.text([LONGEST / 2, -0.16], "length before", { "text-anchor": "middle" });
    const grid = Array.from({ length: 101 }, (_, k) => (k * LONGEST) / 100);
    curve.line(grid.map((n) => [n, squashedLength(n)]), "blue");
    this.drop = curve.add("path", { class: "orange dashed" });
    this.tangent = curve.add("path", { class: "purple thick" });
    this.point = curve.add("circle", { r: 5, class: "blue full" });

    this.x = number("s, to the right", { min: LEFT, max: RIGHT, step: 0.1 }, (x) =>
      this.set([x, this.s[1]]));
    this.y = number("s, upwards", { min: LOW, max: HIGH, step: 0.1 }, (y) =>
      this.set([this.s[0], y]));
    this.length = slider("length of s", { min: 0, max: LONGEST, step: 0.01 }, (n) =>
      this.set(this.direction.map((x) => n * x)));
    return [
      this.opening("Squash an arrow",
        "Drag the ring, or type 3 and 4. Then make s very short, and very long."),
      make("div", { class: "widget-pair" }, plane.svg, curve.svg),
      make("p", { class: "widget-keys" }, key("orange dashed", "s, before"),
        key("blue thick", "v, after"), key("purple thick", "slope")),
      make("div", { class: "widget-controls" }, this.x, this.y, this.length),
      this.says,
    ];
  }

  /** Take a new s; its direction is kept for when it grows again from 0. */
  set(s) {
    const n = Math.hypot(...s);
    if (n > 0) this.direction = s.map((x) => x / n);
    this.s = fit(s);
    this.draw();
  }

  draw() {
    const { s } = this;
    const [v, n] = [squash(s), Math.hypot(...s)];
    const [p, slope] = [squashedLength(n), squashSlope(n)];
    this.plane.ray(this.before, s);
    this.plane.arrow(this.after, v);
    this.tip.place(s);
    const [x, y] = this.curve.at([n, p]);
    const [x1, y1] = this.curve.at([n + 1, p + slope]);
    const half = 48 / Math.hypot(x1 - x, y1 - y);
    const [dx, dy] = [half * (x1 - x), half * (y1 - y)];
    this.tangent.setAttribute("d", `M${x - dx} ${y - dy}L${x + dx} ${y + dy}`);
    this.drop.setAttribute("d", `M${x} ${this.curve.at([0, 0])[1]}V${y}`);
    this.point.setAttribute("cx", x);
    this.point.setAttribute("cy", y);
    this.x.set(s[0]);
    this.y.set(s[1]);
    this.length.set(n);
    this.says.textContent =
      `v = (${say(v[0], 3)}, ${say(v[1], 3)}). Its length is ${say(p, 3)}; that of s was ` +
      `${say(n)}. The slope there is ${say(slope, 3)}.`;
    this.plane.svg.setAttribute("aria-label",
      `Vectors in a plane with a circle of radius 1: s = (${say(s[0])}, ${say(s[1])}), dashed, ` +
      `and v = (${say(v[0])}, ${say(v[1])}) in the same direction.`);
    this.curve.svg.setAttribute("aria-label",
      "The length after squashing over the length before; a point at " +
      `(${say(n)}, ${say(p)}) with a tangent of slope ${say(slope)}.`);
  }
}

define("capsnet-squash", CapsnetSquash);
