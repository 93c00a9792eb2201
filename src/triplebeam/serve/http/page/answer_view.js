// The steps as they come, and the answer with its evidence and what it cost.

import { fact, make, plural, show } from "./dom.js";
import { inlineCode } from "./inline_code.js";

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
        step.facts.map((each) =>
          make("li", {}, stated(each), each.from_memory && memory(), each.quotation && quote(each.quotation, each.fact)),
        ),
      ),
    step.problems.map((problem) => make("p", { class: "warning" }, `A reply from the model could not be used: ${problem}`)),
    make("p", { class: "note" }, did.join(" · ")),
  );
}

/** A fact as a sentence with its speaker and date, or as a triple where it has no sentence. */
const stated = ({ fact: sentence, triple, speaker, date }) => {
  const from = [speaker && `said by ${speaker}`, date].filter(Boolean).join(", ");
  return sentence && sentence !== triple.join(" ")
    ? make("p", { class: "fact" }, sentence, from && make("span", { class: "note" }, ` (${from})`))
    : fact(triple);
};
/** The words of a passage, unless the fact has them itself, and where they are. */
const quote = (text, sentence, ...source) =>
  make("p", { class: "quote" }, !sentence?.includes(text) && ["“", inlineCode(text), "” "], source);
const memory = () => make("p", { class: "memory" }, "the model's own knowledge: no document says it");

/** The answer in a sentence, how far it can be relied on, the words it rests on, and what is missing. */
export function showAnswer(section, result) {
  const { outcome, answer, sentence, others, missing, supported, verdict, premise, remarks } = result;
  const failed = outcome === "model_failed";
  const none = failed || outcome === "not_in_documents";
  const said = failed ? "The model failed, so there is no answer." : none ? verdict : premise || sentence || answer;
  section.dataset.outcome = outcome;
  show(
    section,
    make("h2", { id: "answer-title", class: "unseen" }, "Answer"),
    outcome === "guess" && make("p", { class: "badge guess" }, "A guess"),
    make("p", { class: "sentence" }, said),
    failed && make("p", { class: "failure" }, verdict),
    none && sentence && !missing.includes(sentence) && make("p", {}, sentence),
    answer && answer !== said && make("p", { class: "short" }, "In short: ", make("b", {}, answer)),
    remarks.map((each) => make("p", { class: "remark" }, each)),
    others.length > 0 && make("p", { class: "others" }, "Other answers that fit: ", make("b", {}, others.join("; "))),
    !none && make("p", { class: supported ? "support yes" : "support" }, supported ? `✓ ${verdict}` : verdict),
    missing.length > 0 && [
      make("h3", {}, "What is missing"),
      make(
        "ul",
        { class: "missing" },
        missing.map((each) => make("li", {}, each)),
      ),
    ],
    evidenceList(result),
    make("p", { class: "note cost" }, cost(result)),
  );
}

function evidenceList({ outcome, evidence, passages }) {
  if (!evidence.length) return null;
  const known = new Map(passages.map((passage) => [passage.id, passage]));
  const rows = evidence.map(({ span, note, from_memory, ...each }, index) =>
    make(
      "li",
      {},
      make("span", { class: span ? "number" : "number unquoted", "aria-hidden": "true" }, String(index + 1)),
      make(
        "div",
        {},
        stated(each),
        note && make("p", { class: "note" }, note),
        span && quote(span.text, each.fact, source(known.get(span.passage_id) ?? { id: span.passage_id })),
        from_memory && memory(),
        !span && !from_memory && make("p", { class: "memory" }, "no passage was found that says it"),
      ),
    ),
  );
  const title = outcome === "answered" || outcome === "false_premise" ? "Because" : "What was found";
  return make("div", {}, make("h3", {}, title), make("ol", { class: "because" }, rows));
}

/** A link to the passage's card; its title and section. */
const source = ({ id, title, section }) =>
  make(
    "a",
    { href: `#${anchor(id)}`, onclick: (event) => goTo(event, id) },
    title || id,
    section && ` › ${section}`,
  );

/** The hash is the deep link's, so a jump within the page must not replace it. */
function goTo(event, passageId) {
  event.preventDefault();
  const card = document.getElementById(anchor(passageId));
  card?.scrollIntoView({ block: "center" });
  card?.focus({ preventScroll: true });
}

export const anchor = (passageId) => `passage-${encodeURIComponent(passageId)}`;

/** Time, calls, tokens and price, where they are known. */
export function cost({ seconds: time, usage, price, ending, outcome }) {
  const parts = [seconds(time)];
  if (usage) {
    const calls = usage.calls + usage.cached_calls;
    const tokens = usage.tokens_in + usage.tokens_out + usage.cached_tokens_in + usage.cached_tokens_out;
    parts.push(plural(calls, "model call"), `${usage.estimated ? "about " : ""}${plural(tokens, "token")}`);
    if (usage.cached_calls)
      parts.push(usage.calls ? `${plural(usage.cached_calls, "call")} from the cache` : "all from the cache");
  }
  if (price !== undefined && price !== null) parts.push(`$${price < 0.01 ? price.toPrecision(2) : price.toFixed(2)}`);
  if (ending && outcome !== "model_failed") parts.push(`it stopped because ${ending}`);
  return parts.join(" · ");
}

export const seconds = (value) => (value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`);
