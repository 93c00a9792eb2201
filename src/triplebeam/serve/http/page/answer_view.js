// The steps as they come, and the answer with its evidence and what it cost.

import { fact, make, plural, show } from "./dom.js";

/** The list that steps are added to. */
export function stepsView(section) {
  const list = make("ol", { class: "step-list" });
  const summary = make("summary", {}, make("h2", { id: "steps-title" }, "Steps"));
  const fold = make("details", { open: true }, summary, list);
  show(section, fold);
  return {
    add: (step) => list.append(stepRow(step)),
    fold: () => {
      fold.open = false;
    },
    count: () => list.childElementCount,
  };
}

function stepRow(step) {
  const did = [plural(step.passages.length, "passage"), plural(step.facts.length, "new fact"), seconds(step.seconds)];
  return make(
    "li",
    {},
    make("p", { class: "query" }, step.query || "From what is known so far"),
    step.thought && make("p", { class: "thought" }, step.thought),
    step.facts.length > 0 &&
      make(
        "ul",
        { class: "facts" },
        step.facts.map(({ triple }) => make("li", {}, fact(triple))),
      ),
    step.problems.map((problem) => make("p", { class: "warning" }, `A reply from the model could not be used: ${problem}`)),
    make("p", { class: "note" }, did.join(" · ")),
  );
}

/** The answer, in a sentence where there is one. */
export function showAnswer(section, result) {
  const said = result.sentence || result.answer || "No answer was found in these documents.";
  const support = result.supported
    ? make("p", { class: "support yes" }, "✓ Every fact below is stated in a passage, and together they support this answer.")
    : result.answer &&
      make(
        "p",
        { class: "support" },
        "Not every step of this answer is supported by a passage: read the passages before you rely on it.",
      );
  show(
    section,
    make("h2", { id: "answer-title", class: "unseen" }, "Answer"),
    make("p", { class: "sentence" }, said),
    result.answer &&
      result.answer !== said &&
      make("p", { class: "short" }, "In short: ", make("b", {}, result.answer)),
    support,
    evidenceList(result),
    make("p", { class: "note cost" }, cost(result)),
  );
}

function evidenceList({ evidence, passages }) {
  if (!evidence.length) return null;
  const titles = new Map(passages.map((passage) => [passage.id, passage.title || passage.id]));
  const rows = evidence.map(({ triple, span, note }, index) =>
    make(
      "li",
      {},
      make("span", { class: "number", "aria-hidden": "true" }, String(index + 1)),
      make(
        "div",
        {},
        fact(triple),
        note && make("p", { class: "note" }, note),
        span
          ? make(
              "p",
              { class: "quote" },
              `“${span.text}” `,
              make(
                "a",
                { href: `#${anchor(span.passage_id)}`, onclick: (event) => goTo(event, span.passage_id) },
                titles.get(span.passage_id),
              ),
            )
          : make("p", { class: "note" }, "no supporting passage found"),
      ),
    ),
  );
  return make("div", {}, make("h3", {}, "Because"), make("ol", { class: "because" }, rows));
}

/** The hash is the deep link's, so a jump within the page must not replace it. */
function goTo(event, passageId) {
  event.preventDefault();
  const card = document.getElementById(anchor(passageId));
  card?.scrollIntoView({ block: "center" });
  card?.focus({ preventScroll: true });
}

export const anchor = (passageId) => `passage-${encodeURIComponent(passageId)}`;

/** Time, calls, tokens and price, as far as they are known. */
export function cost({ seconds: time, usage, price, ending }) {
  const parts = [seconds(time)];
  if (usage) {
    const calls = usage.calls + usage.cached_calls;
    const tokens = usage.tokens_in + usage.tokens_out + usage.cached_tokens_in + usage.cached_tokens_out;
    parts.push(plural(calls, "model call"), `${usage.estimated ? "about " : ""}${plural(tokens, "token")}`);
    if (usage.cached_calls)
      parts.push(usage.calls ? `${plural(usage.cached_calls, "call")} from the cache` : "all from the cache");
  }
  if (price !== undefined && price !== null) parts.push(`$${price < 0.01 ? price.toPrecision(2) : price.toFixed(2)}`);
  if (ending) parts.push(`it stopped because ${ending}`);
  return parts.join(" · ");
}

export const seconds = (value) => (value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`);
