// Reads [[tex, display], …] on stdin, writes one HTML string or {error} for each on stdout.
import { readFileSync } from "node:fs";
import katex from "katex";

// The marks of symbols, and nothing else that a formula could ask for.
const trust = ({ command }) => command === "\\htmlData";
// The TeX source beside the MathML would be found by the site's search and read out twice.
const annotation = /<annotation.*?<\/annotation>/gs;

const render = ([tex, displayMode]) => {
  try {
    return katex
      .renderToString(tex, { displayMode, output: "htmlAndMathml", strict: false, trust })
      .replace(annotation, "");
  } catch (problem) {
    return { error: problem.message };
  }
};

const jobs = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(jobs.map(render)));
