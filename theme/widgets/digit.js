// <capsnet-digit>: move the numbers of a capsule, and the trained decoder draws the digit anew.
import { Widget, button, define, make, say, slider } from "./widget.js";

/** What the button says that it loads; a test compares it with the file. */
export const MEGABYTES = 1.4;
const FILE = new URL("decoder.bin", import.meta.url);
const BLUE = [0x2e, 0x7f, 0xc2];
const REACH = 0.25;

/** Read decoder.bin, whose parts tools/widgets.py describes. */
export function readDecoder(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  let at = 4 + size;
  const take = (Kind, count) => {
    const part = new Kind(buffer, at, count);
    at += part.byteLength;
    return part;
  };
  const { digit_dim: dim, pixels, labels } = header;
  const layers = header.layers.map(([rows, columns]) =>
    ({ rows, columns, scale: take(Float32Array, rows), bias: take(Float32Array, rows) }));
  const capsules = labels.map(() => take(Float32Array, dim));
  const images = labels.map(() => Float32Array.from(take(Uint8Array, pixels), (x) => x / 255));
  for (const layer of layers) layer.weight = take(Int8Array, layer.rows * layer.columns);
  return { dim, labels, layers, capsules, images };
}

/** Draw from one capsule, all others being masked: three layers, ReLU between, a sigmoid at the end. */
export function decode({ dim, layers }, capsule, label) {
  let x = new Float32Array(layers[0].columns);
  x.set(capsule, label * dim);
  layers.forEach(({ rows, columns, scale, bias, weight }, number) => {
    const speaks = [...x.keys()].filter((k) => x[k] !== 0);
    const y = new Float32Array(rows);
    for (let r = 0; r < rows; r++) {
      let sum = 0;
      for (const k of speaks) sum += weight[r * columns + k] * x[k];
      const z = scale[r] * sum + bias[r];
      y[r] = number < layers.length - 1 ? Math.max(0, z) : 1 / (1 + Math.exp(-z));
    }
    x = y;
  });
  return x;
}

/** The sum of the squared differences of two pictures. */
export const squaredError = (a, b) => a.reduce((sum, x, k) => sum + (x - b[k]) ** 2, 0);

let loading;  // one download for all pages of a visit
async function load() {
  const answer = await fetch(FILE);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return readDecoder(await answer.arrayBuffer());
}

export class CapsnetDigit extends Widget {
  build(picture) {
    this.press = button(`Load the decoder (${MEGABYTES} MB)`, () => this.start());
    this.stage = make("div", {}, ...(picture ? [picture] : []), this.press);
    return [
      this.opening("Move the numbers of a capsule",
        "Load the decoder, move one slider to both of its ends, and say what that number stands for."),
      this.stage,
      this.says,
    ];
  }

  async start() {
    this.press.disabled = true;
    this.says.textContent = "Loading …";
    try {
      this.decoder = await (loading ??= load());
    } catch (error) {
      loading = undefined;
      this.press.disabled = false;
      this.says.textContent = `The decoder did not load: ${error.message}. Press the button to try again.`;
      return;
    }
    this.digit = 0;
    this.offsets = this.decoder.capsules[0].map(() => 0);
    this.stage.replaceChildren(...this.controls());
    this.select.focus();
    this.draw();
  }

  controls() {
    this.select = make("select", { onchange: () => ((this.digit = Number(this.select.value)), this.draw()) },
      ...this.decoder.labels.map((label, k) => make("option", { value: k }, label)));
    this.canvases = ["the digit", "drawn from its capsule"].map((name) => {
      const canvas = make("canvas", { width: 28, height: 28, role: "img" });
      return { canvas, frame: make("div", {}, canvas, make("p", {}, name)) };
    });
    this.sliders = Array.from(this.offsets, (_, k) =>
      slider(k, { min: -REACH, max: REACH, step: 0.01, "aria-label": `number ${k}` },
        (x) => ((this.offsets[k] = x), this.draw())));
    return [
      make("div", { class: "widget-controls" },
        make("label", { class: "widget-number" }, "digit", this.select),
        button("All back to 0", () => (this.offsets.fill(0), this.draw()))),
      make("div", { class: "widget-drawings" }, ...this.canvases.map(({ frame }) => frame)),
      make("fieldset", { class: "widget-sixteen" },
        make("legend", {}, "Added to each of the sixteen numbers"), ...this.sliders),
    ];
  }

  draw() {
    if (!this.decoder) return;
    const { capsules, images, labels } = this.decoder;
    const [capsule, image, label] = [capsules, images, labels].map((list) => list[this.digit]);
    const moved = capsule.map((x, k) => x + this.offsets[k]);
    const drawn = decode(this.decoder, moved, label);
    [image, drawn].forEach((pixels, k) => paint(this.canvases[k].canvas, pixels));
    this.canvases[0].canvas.setAttribute("aria-label", `A handwritten ${label}.`);
    this.canvases[1].canvas.setAttribute("aria-label", `The decoder's drawing of the ${label}.`);
    this.sliders.forEach((row, k) => row.set(this.offsets[k]));
    const change = squaredError(drawn, decode(this.decoder, capsule, label));
    this.says.textContent = `Squared error to the digit: ${say(squaredError(drawn, image), 1)}. ` +
      `Change by your moves: ${say(change, 1)}.`;
  }
}

/** Paint a picture in the blue of the figures: 0 is clear, 1 is blue. */
function paint(canvas, pixels) {
  const context = canvas.getContext("2d");
  const data = context.createImageData(canvas.width, canvas.height);
  pixels.forEach((x, k) => data.data.set([...BLUE, 255 * x], 4 * k));
  context.putImageData(data, 0, 0);
}

define("capsnet-digit", CapsnetDigit);
