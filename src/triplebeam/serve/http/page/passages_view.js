// The passages found, beside those of plain search; what only one side found is marked.

import { anchor, seconds } from "./answer_view.js";
import { fact, make, plural, show } from "./dom.js";
import { marked } from "./marked_text.js";
import { PLAIN } from "./question.js";

const CHAINS_SHOWN = 2;
const SHORT = 200;

/** Both lists. `hops` maps a passage's id to the hop that leads to it. */
export function showPassages(section, result, plain, hops) {
  const [own, other] = [result, plain].map(({ passages }) => new Set(passages.map((passage) => passage.id)));
  const same = result.method === PLAIN && result.mode === "search";
  const columns = [
    column(`Found by ${result.method}`, result, result.passages, {
      only: plain.problem || same ? null : other,
      evidence: result.evidence,
      hops,
      anchored: true,
    }),
  ];
  if (!same) {
    columns.push(
      column(
        `Plain search (${PLAIN})`,
        plain,
        plain.passages.map((passage, place) => ({ ...passage, rank: place + 1 })),
        {
          only: own,
          evidence: [],
          hops: new Map(),
          anchored: false,
        },
      ),
    );
  }
  show(
    section,
    make("h2", { id: "passages-title" }, "Passages"),
    make("div", { class: same ? "columns single" : "columns" }, columns),
  );
}

function column(title, { seconds: time, problem, mode }, passages, options) {
  const note =
    problem ??
    [plural(passages.length, "passage"), mode !== "ask" && time !== undefined && seconds(time)]
      .filter(Boolean)
      .join(" · ");
  return make(
    "section",
    { "aria-label": title },
    make("h3", {}, title),
    make("p", { class: "note" }, note),
    make(
      "ol",
      { class: "cards" },
      passages.map((passage) => card(passage, options)),
    ),
  );
}

function card(passage, { only, evidence, hops, anchored }) {
  const alone = only && !only.has(passage.id);
  const hop = hops.get(passage.id);
  const supports = evidence.some((each) => each.span?.passage_id === passage.id);
  const badges = [
    hop && make("span", { class: `badge hop-${Math.min(hop, 3)}` }, `hop ${hop}`),
    supports && make("span", { class: "badge supports" }, "evidence"),
    alone && make("span", { class: "badge alone" }, "only here"),
  ];
  return make(
    "li",
    {
      class: alone ? "card alone" : "card",
      id: anchored ? anchor(passage.id) : null,
      tabindex: anchored ? "-1" : null,
    },
    make(
      "div",
      { class: "card-head" },
      make("span", { class: "rank" }, passage.rank ? `${passage.rank}` : "–"),
      make("h4", {}, passage.title || passage.id),
      make("span", { class: "badges" }, badges),
    ),
    textView(passage, evidence, supports),
    chainsView(passage.chains ?? []),
    passage.found_by && make("p", { class: "note parts" }, partsLine(passage.found_by)),
  );
}

/** The text, cut to some lines by the style sheet unless there is something marked in it. */
function textView(passage, evidence, supports) {
  const text = make("p", { class: "text" }, marked(passage, evidence));
  if (supports || passage.text.length <= SHORT) return text;
  text.classList.add("cut");
  const more = make(
    "button",
    {
      type: "button",
      class: "link",
      "aria-expanded": "false",
      onclick: () => {
        const cut = text.classList.toggle("cut");
        more.setAttribute("aria-expanded", String(!cut));
        more.textContent = cut ? "Show all" : "Show less";
      },
    },
    "Show all",
  );
  return [text, more];
}

function chainsView(chains) {
  if (!chains.length) return null;
  const rows = chains.slice(0, CHAINS_SHOWN).map((chain) =>
    make(
      "li",
      {},
      chain.map((each, place) => [place > 0 && make("span", { class: "then" }, " then "), fact(each)]),
    ),
  );
  const more = chains.length - CHAINS_SHOWN;
  return make(
    "ul",
    { class: "chains", "aria-label": "Chains that led here" },
    rows,
    more > 0 && make("li", { class: "note" }, `and ${plural(more, "more chain")}`),
  );
}

const partsLine = (parts) => {
  const ranked = Object.entries(parts).sort((one, other) => one[1] - other[1]);
  return `found by ${ranked.map(([name, rank]) => `${name} (${rank})`).join(", ")}`;
};
