// A passage's text with the words marked that support the answer.

import { make } from "./dom.js";

/** The text as nodes. Offsets count characters as Python does, which JavaScript's strings do not. */
export function marked(passage, evidence) {
  const letters = Array.from(passage.text);
  const nodes = [];
  let place = 0;
  for (const { start, end, numbers } of stretches(passage.id, evidence)) {
    nodes.push(letters.slice(place, start).join(""));
    const label = numbers.length > 1 ? `facts ${numbers.join(", ")}` : `fact ${numbers[0]}`;
    nodes.push(
      make(
        "mark",
        {},
        letters.slice(start, end).join(""),
        make("sup", { "aria-label": ` (${label})` }, numbers.join(",")),
      ),
    );
    place = end;
  }
  nodes.push(letters.slice(place).join(""));
  return nodes;
}

/** Where evidence stands in a passage, in order; stretches that overlap become one. */
function stretches(passageId, evidence) {
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
  return merged;
}
