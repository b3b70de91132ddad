// What the widgets share: elements, controls with labels, numbers in words, and charts to drag in.

const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "g", "path", "line", "circle", "text"]);

/** Make an element; `onclick` and its like are listeners, `false` leaves an attribute out. */
export function make(tag, attributes = {}, ...children) {
  const node = DRAWN.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Write a number with a true minus, and never as −0. */
export function say(x, digits = 2) {
  const text = Math.abs(x).toFixed(digits);
  return x < 0 && Number(text) !== 0 ? `−${text}` : text;
}

export const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

/** A slider in its label; `set` shows a value. */
export function slider(label, range, change, digits = 2) {
  const value = make("span", { class: "widget-value", "aria-hidden": "true" });
  const input = make("input", { type: "range", ...range });
  input.addEventListener("input", () => change(input.valueAsNumber));
  const row = make("label", { class: "widget-slider" }, make("span", {}, label), input, value);
  row.set = (x) => {
    input.value = x;
    value.textContent = say(x, digits);
  };
  return row;
}

/** A number to type in its label; `set` shows a value, but not into what is being typed. */
export function number(label, range, change) {
  const input = make("input", { type: "number", inputmode: "decimal", ...range });
  let shown = 0;
  const show = () => (input.value = Number(shown.toFixed(2)));
  input.addEventListener("input", () => {
    if (Number.isFinite(input.valueAsNumber)) change(input.valueAsNumber);
  });
  input.addEventListener("change", show);
  const row = make("label", { class: "widget-number" }, label, input);
  row.set = (x) => {
    shown = x;
    if (document.activeElement !== input) show();
  };
  return row;
}

export const button = (label, click) => make("button", { type: "button", onclick: click }, label);

/** A part of a legend: a line in a style of the charts, and what it stands for. */
export const key = (kind, text) =>
  make("span", { class: "widget-key" },
    make("svg", { viewBox: "0 0 22 8", class: "widget-chart", "aria-hidden": "true" },
      make("path", { d: "M1 4H21", class: kind })), text);

/** A drawing with axes x and y of its own; `at` leads from them to the drawing. */
export class Chart {
  constructor(label, [left, right], [low, high], width, height, pad = [4, 4, 4, 4]) {
    const [top, east, bottom, west] = pad;
    const across = (width - west - east) / (right - left);
    const up = (height - top - bottom) / (high - low);
    this.at = ([x, y]) => [west + (x - left) * across, height - bottom - (y - low) * up];
    this.from = ([px, py]) => [left + (px - west) / across, low + (height - bottom - py) / up];
    const box = { viewBox: `0 0 ${width} ${height}`, class: "widget-chart" };
    this.svg = make("svg", { ...box, role: "img", "aria-label": label });
  }

  add(tag, attributes = {}, ...children) {
    const node = make(tag, attributes, ...children);
    this.svg.append(node);
    return node;
  }

  line(points, kind) {
    const d = points.map((p) => this.at(p).map((x) => x.toFixed(1)).join(" ")).join("L");
    return this.add("path", { d: `M${d}`, class: kind });
  }

  text(point, words, attributes = {}) {
    const [x, y] = this.at(point);
    return this.add("text", { x, y, ...attributes }, words);
  }

  circle(radius, kind) {
    const [x, y] = this.at([0, 0]);
    return this.add("circle", { cx: x, cy: y, r: this.at([radius, 0])[0] - x, class: kind });
  }

  /** Let a path be the line from the centre to a tip. */
  ray(path, tip) {
    path.setAttribute("d", `M${this.at([0, 0])}L${this.at(tip)}`);
  }

  /** Let a path be the arrow from the centre to a tip, with a head where there is room. */
  arrow(path, tip) {
    const [[x0, y0], [x1, y1]] = [this.at([0, 0]), this.at(tip)];
    const long = Math.hypot(x1 - x0, y1 - y0);
    const [ux, uy] = long ? [(x1 - x0) / long, (y1 - y0) / long] : [0, 0];
    const head = Math.min(9, 0.5 * long);
    const side = (k) => [x1 - head * (ux + k * uy), y1 - head * (uy - k * ux)];
    path.setAttribute("d", `M${[x0, y0]}L${[x1, y1]}M${side(0.6)}L${[x1, y1]}L${side(-0.6)}`);
  }

  /** Add a handle, drawn as a ring, that `move` hears of when it is dragged; `place` moves it. */
  handle(kind, move, reach = 20) {
    const ring = make("circle", { r: 5.5, class: `${kind} ring` });
    const hold = make("circle", { r: reach, class: "hold" });
    const group = this.add("g", { class: "handle" }, ring, hold);
    hold.addEventListener("pointerdown", (event) => hold.setPointerCapture(event.pointerId));
    // A finger on the handle drags it and doesn't scroll (Chromium ignores `touch-action` on a shape).
    hold.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
    hold.addEventListener("pointermove", (event) => {
      if (!hold.hasPointerCapture(event.pointerId)) return;
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(
        this.svg.getScreenCTM().inverse());
      move(this.from([x, y]));
    });
    group.place = (point) => group.setAttribute("transform", `translate(${this.at(point)})`);
    return group;
  }
}

/** An element that takes the place of the picture inside it, once: `build`, then `draw`. */
export class Widget extends (globalThis.HTMLElement ?? Object) {
  connectedCallback() {
    if (this.built) return;
    this.built = true;
    this.classList.add("widget");
    const picture = this.querySelector("figure");
    this.says = make("output", { class: "widget-says" });
    this.replaceChildren(...this.build(picture));
    this.draw();
  }

  /** The first lines of every widget: what it is, and what to try first. */
  opening(title, advice) {
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", title);
    return make("p", { class: "widget-try" }, make("strong", {}, title), make("br"), advice);
  }
}

export function define(name, kind) {
  if (globalThis.customElements && !customElements.get(name)) customElements.define(name, kind);
}
