// Code between backticks, as Markdown has it within a line: shown as code, and its backticks not at all.

import { make } from "./dom.js";

/** A text that has nothing else to mark. */
export function inlineCode(text) {
  const letters = Array.from(text);
  return pieces(letters, codeSpans(letters), 0, letters.length);
}

/** Where code is, with its backticks from `open` to `close` and without them from `start` to `end`. */
export function codeSpans(letters) {
  const runs = backticks(letters);
  const spans = [];
  for (let at = 0; at < runs.length; at += 1) {
    const { place, length } = runs[at];
    const closing = runs.findIndex((run, number) => number > at && run.length === length);
    if (closing < 0) continue;
    const end = runs[closing].place;
    spans.push({ open: place, start: place + length, end, close: end + length });
    at = closing;
  }
  return spans;
}

/** The letters from `first` to `last` as texts and elements. */
export function pieces(letters, spans, first, last) {
  const made = [];
  let place = first;
  const upTo = (end, element) => {
    const text = letters.slice(place, Math.min(end, last)).join("");
    if (text) made.push(element ? make(element, {}, text) : text);
    place = Math.max(place, Math.min(end, last));
  };
  const skipTo = (end) => {
    place = Math.max(place, Math.min(end, last));
  };
  for (const { open, start, end, close } of spans) {
    if (close <= first || open >= last) continue;
    upTo(open);
    skipTo(start);
    upTo(end, "code");
    skipTo(close);
  }
  upTo(last);
  return made;
}

function backticks(letters) {
  const runs = [];
  letters.forEach((letter, place) => {
    const last = runs.at(-1);
    if (letter !== "`") return;
    if (last && last.place + last.length === place) last.length += 1;
    else runs.push({ place, length: 1 });
  });
  return runs;
}
