// A passage's text as paragraphs, tables and blocks of code, with what supports the answer or matches the question marked.

import { make } from "./dom.js";
import { codeSpans, pieces } from "./inline_code.js";

const BLANK_LINES = /(\n(?:[ \t]*\n)+)/;
const INDENTED_OR_TABULAR = /^(?: {2,}|\t|```|~~~)|\t| \| /m;
const LIST = /^\s*(?:[-*•+]|\d{1,3}[.)])\s/;
const WRAPPED = 60;
const CELLS = / \| /;
const CUT = "…";

/** The whole text with the evidence in it marked. */
export const marked = (passage, evidence) => laidOut(passage.text, evidenceIn(passage.id, evidence));

/** The part that matches, as the server cut it; of a passage without one, the whole. */
export const snippet = (passage) =>
  laidOut(passage.snippet?.text ?? passage.text, (passage.snippet?.highlights ?? []).map(match));

/** The whole text with the words marked that are marked in the part. */
export function matched(text, part) {
  const words = wordsIn(part);
  if (!words.length) return laidOut(text, []);
  const found = text.matchAll(new RegExp(words.map(whole).join("|"), "gu"));
  const places = Array.from(found, ({ 0: word, index }) => [count(text.slice(0, index)), count(word)]);
  return laidOut(
    text,
    places.map(([start, length]) => match([start, start + length])),
  );
}

function wordsIn(part) {
  const letters = Array.from(part?.text ?? "");
  const words = (part?.highlights ?? []).map(([start, end]) => letters.slice(start, end).join(""));
  return [...new Set(words)].sort((one, other) => other.length - one.length);
}

/** A pattern for a word, not within another; scripts without spaces have no such borders. */
function whole(word) {
  const escaped = word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(word)
    ? escaped
    : `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`;
}

const match = ([start, end]) => ({ start, end, mark: (content) => make("mark", { class: "match" }, content) });

/** Offsets count characters as Python does, which JavaScript's strings do not. */
const count = (text) => Array.from(text).length;

/** The blocks as elements; the rules are those of the server's `layout.py`. */
function laidOut(text, stretches) {
  const blocks = [];
  let place = 0;
  text.split(BLANK_LINES).forEach((part, number) => {
    const letters = Array.from(part);
    if (number % 2 === 0 && part.trim()) blocks.push(block(part, letters, place, stretches));
    place += letters.length;
  });
  return blocks;
}

function block(text, letters, place, stretches) {
  if (isTable(text)) return table(text, place, stretches);
  const isCode = keepsLines(text) && !LIST.test(text);
  const content = nodes(letters, place, stretches, isCode ? [] : codeSpans(letters));
  if (isCode) return make("pre", { tabindex: "0" }, content);
  return make("p", { class: keepsLines(text) ? "lines" : null }, content);
}

/** Cells are joined by bars; a snippet may end with a line that says that it was cut. */
function isTable(text) {
  const lines = text.trim().split("\n");
  return lines.every((line) => CELLS.test(line) || line === CUT) && !/^(?: {2,}|\t)/.test(text);
}

function table(text, place, stretches) {
  let from = place;
  const rows = text.split(/(\n)/).map((line) => {
    const cells = line.split(/( \| )/).map((cell) => {
      const letters = Array.from(cell);
      const content = nodes(letters, from, stretches, codeSpans(letters));
      from += letters.length;
      return content;
    });
    return line.trim() && make("tr", {}, cells.filter((_, number) => number % 2 === 0).map((each) => make("td", {}, each)));
  });
  return make("div", { class: "table", tabindex: "0" }, make("table", {}, rows.filter(Boolean)));
}

function keepsLines(text) {
  const lines = text.split("\n").slice(0, -1);
  return INDENTED_OR_TABULAR.test(text) || (lines.length > 0 && Math.max(...lines.map(count)) < WRAPPED);
}

/** The letters of a block that begins at `from`, with its code and the stretches that reach into it. */
function nodes(letters, from, stretches, code) {
  const made = [];
  let place = 0;
  for (const { start, end, mark } of stretches) {
    const [first, last] = [Math.max(start - from, place), Math.min(end - from, letters.length)];
    if (first >= last) continue;
    made.push(pieces(letters, code, place, first), mark(pieces(letters, code, first, last)));
    place = last;
  }
  return [...made, pieces(letters, code, place, letters.length)];
}

/** Where the evidence is in a passage, in order; stretches that overlap become one. */
function evidenceIn(passageId, evidence) {
  const found = evidence
    .map((each, index) => ({ ...each.span, number: index + 1 }))
    .filter((span) => span.passage_id === passageId)
    .sort((one, other) => one.start - other.start || one.end - other.end);
  const merged = [];
  for (const { start, end, number } of found) {
    const last = merged.at(-1);
    if (last && start < last.end) {
      last.end = Math.max(last.end, end);
      if (!last.numbers.includes(number)) last.numbers.push(number);
    } else merged.push({ start, end, numbers: [number] });
  }
  return merged.map(({ start, end, numbers }) => ({ start, end, mark: (content) => numbered(content, numbers) }));
}

function numbered(content, numbers) {
  const label = numbers.length > 1 ? `facts ${numbers.join(", ")}` : `fact ${numbers[0]}`;
  return make("mark", {}, content, make("sup", { "aria-label": ` (${label})` }, numbers.join(",")));
}
