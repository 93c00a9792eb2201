// A passage in its document: a dialog that opens there, with a link of its own, and closes with Escape.

import { get, Problem, within } from "./api.js";
import { fact, make, show } from "./dom.js";
import { matched } from "./marked_text.js";

const BEFORE = 3;
const PAGE = 20;

/** The link to a passage: the question's, and the passage. */
export function linkTo(index, passageId) {
  const words = new URLSearchParams(location.hash.slice(1));
  words.set("index", index);
  words.set("passage", passageId);
  return `#${words}`;
}

/** The dialog. `open(index, passage)` shows a passage that a search returned, or that the passages' route did. */
export function reader(dialog) {
  dialog.addEventListener("close", () => {
    const words = new URLSearchParams(location.hash.slice(1));
    words.delete("passage");
    history.replaceState(null, "", words.size ? `#${words}` : location.pathname);
  });
  return {
    open: (index, passage) => open(dialog, index, passage),

    /** Open what the page's address names. */
    async followLink() {
      const words = new URLSearchParams(location.hash.slice(1));
      const [index, id] = [words.get("index"), words.get("passage")];
      if (index && id) await open(dialog, index, await get(within(index, "passages", id)));
    },
  };
}

async function open(dialog, index, passage) {
  const list = make("ol", { class: "passages-of" });
  const note = make("p", { class: "note", role: "status" }, "Fetching the document …");
  const [earlier, later] = ["Show what comes before", "Show what comes after"].map((text) =>
    make("button", { type: "button", class: "link", hidden: true }, text),
  );
  const close = { type: "button", class: "quiet close", "aria-label": "Close", onclick: () => dialog.close() };
  const title = make("h2", { id: "reader-title" }, passage.title || passage.document_id);
  show(dialog, make("div", { class: "panel-head" }, title, make("button", close, "×")), note, earlier, list, later);
  dialog.hidden = false;
  if (!dialog.open) dialog.showModal();
  history.replaceState(null, "", linkTo(index, passage.id));
  const view = { list, note, earlier, later, index, passage, first: Math.max(0, passage.position - BEFORE) };
  view.end = view.first;
  earlier.onclick = () => attempt(view, () => before(view));
  later.onclick = () => attempt(view, () => after(view));
  await attempt(view, () => after(view));
  const chosen = list.querySelector("[aria-current]");
  chosen?.scrollIntoView({ block: "start" });
  chosen?.focus({ preventScroll: true });
}

/** Do something; what goes wrong is said within the dialog. */
async function attempt(view, work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    view.note.textContent = error.message;
  }
}

async function after(view) {
  const { passages, total } = await piece(view, view.end, PAGE);
  view.list.append(...passages.map((each) => row(view, each)));
  view.end += passages.length;
  told(view, total);
}

async function before(view) {
  const first = Math.max(0, view.first - PAGE);
  const { passages, total } = await piece(view, first, view.first - first);
  view.list.prepend(...passages.map((each) => row(view, each)));
  view.first = first;
  told(view, total);
}

const piece = ({ index, passage }, offset, limit) =>
  get(`${within(index, "documents", passage.document_id)}?${new URLSearchParams({ offset, limit })}`);

function told(view, total) {
  const all = view.first === 0 && view.end >= total;
  const which = all ? "" : ` · passages ${view.first + 1} to ${view.end} of ${total}`;
  view.note.textContent = `${view.passage.path}${which}`;
  view.earlier.hidden = view.first === 0;
  view.later.hidden = view.end >= total;
}

/** Its heading is in the text. */
const beginsSection = ({ section, text }) => text.split("\n").includes(section.split(" › ").at(-1));

function row(view, each) {
  const chosen = each.id === view.passage.id;
  const facts =
    chosen &&
    each.triples.length > 0 &&
    make(
      "details",
      {},
      make("summary", {}, "Facts extracted from this passage"),
      make(
        "ul",
        { class: "facts" },
        each.triples.map((triple) => make("li", {}, fact(triple))),
      ),
    );
  return make(
    "li",
    { "aria-current": chosen ? "true" : null, tabindex: chosen ? "-1" : null },
    each.section && !beginsSection(each) && make("p", { class: "section" }, each.section),
    make("div", { class: "text" }, matched(each.text, chosen ? view.passage.snippet : null)),
    facts,
  );
}
