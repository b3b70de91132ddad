// Reads [[module, name, arguments], …] on stdin, calls each, and writes the results on stdout; what
// isn't a function is a result itself. An argument {"bytes": path} stands for the bytes of a file,
// and {"file": path} for the decoder in them.
import { readFileSync } from "node:fs";
import { readDecoder } from "../../theme/widgets/digit.js";

const read = (path) => new Uint8Array(readFileSync(path)).buffer;
const argument = (value) => {
  if (value?.bytes) return read(value.bytes);
  return value?.file ? readDecoder(read(value.file)) : value;
};
const plain = (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);

const results = [];
for (const [module, name, values] of JSON.parse(readFileSync(0, "utf8"))) {
  const found = (await import(`../../theme/widgets/${module}.js`))[name];
  results.push(typeof found === "function" ? found(...values.map(argument)) : found);
}
process.stdout.write(JSON.stringify(results, plain));
