// The passages found, beside those of plain search; what only one side found is marked.

import { anchor, seconds } from "./answer_view.js";
import { byId, fact, make, plural, show } from "./dom.js";
import { inlineCode } from "./inline_code.js";
import { marked, matched, snippet } from "./marked_text.js";
import { PLAIN } from "./question.js";
import { linkTo } from "./reader.js";

const CHAINS_SHOWN = 2;

/** Both lists. `reader` opens a passage in its document. */
export function showPassages(section, result, plain, reader) {
  const [own, other] = [result, plain].map(({ passages }) => new Set(passages.map((passage) => passage.id)));
  const same = result.method === PLAIN && result.mode === "search";
  const columns = [
    column(`Found by ${result.method}`, result, result.passages, {
      only: plain.problem || same ? null : other,
      evidence: result.evidence,
      anchored: true,
      reader,
      index: result.index,
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
          anchored: false,
          reader,
          index: result.index,
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

/** Mark the cards that are there with the hop that leads to each passage: what has been unfolded in them stays. */
export function showHops(hops) {
  for (const [id, hop] of hops) {
    const badge = make("span", { class: `badge hop-${Math.min(hop, 3)}` }, `hop ${hop}`);
    byId(anchor(id))?.querySelector(".badges").prepend(badge);
  }
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
      passages.filter((passage) => !passage.like).map((passage) => card(passage, passages, options)),
    ),
  );
}

function card(passage, all, { only, evidence, anchored, reader, index }) {
  const alone = only && !only.has(passage.id);
  const supports = evidence.some((each) => each.span?.passage_id === passage.id);
  const badges = [
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
      make("h4", {}, titleLink(passage, index, reader)),
      make("span", { class: "badges" }, badges),
    ),
    make("p", { class: "note place" }, place(passage, all)),
    textView(passage, evidence, supports),
    likeIt(passage, all),
    chainsView(passage.chains ?? []),
    passage.found_by && make("p", { class: "note parts" }, partsLine(passage.found_by)),
  );
}

/** How many of the list have nearly the same text, and are not shown again. */
function likeIt(passage, all) {
  const more = all.filter((each) => each.like === passage.id).length;
  return more > 0 && make("p", { class: "note" }, `and ${more} more like it`);
}

/** Title and section; a click opens the passage in its document. */
function titleLink(passage, index, reader) {
  const open = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab or window
    event.preventDefault();
    reader.open(index, passage);
  };
  return make(
    "a",
    { href: linkTo(index, passage.id), onclick: open },
    inlineCode(passage.title || passage.id),
    passage.section && make("span", { class: "section" }, " › ", inlineCode(passage.section)),
  );
}

/** The file, and which of its passages where the heading alone does not say. */
function place(passage, all) {
  const heading = ({ title, section, document_id }) => JSON.stringify([title, section, document_id]);
  const same = all.filter((each) => heading(each) === heading(passage)).length > 1;
  return same ? `${passage.path} · passage ${passage.position + 1}` : passage.path;
}

/** The part that matches, and all of it at a press; whole at once if there is evidence in it. */
function textView(passage, evidence, supports) {
  if (supports || !passage.snippet) return make("div", { class: "text" }, marked(passage, evidence));
  const text = make("div", { class: "text" }, snippet(passage));
  if (isWhole(passage)) return text;
  const more = make(
    "button",
    {
      type: "button",
      class: "link",
      "aria-expanded": "false",
      onclick: () => {
        const expand = more.getAttribute("aria-expanded") === "false";
        text.replaceChildren(...(expand ? matched(passage.text, passage.snippet) : snippet(passage)));
        more.setAttribute("aria-expanded", String(expand));
        more.textContent = expand ? "Show less" : "Show all";
      },
    },
    "Show all",
  );
  return [text, more];
}

/** Nothing is cut but headings, which are shown above. */
const isWhole = ({ snippet: { text } }) => !text.startsWith("…") && !text.endsWith("…");

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
