// The question's form: index, mode, method and words, kept in the page's address so that it can be shared.

import { byId, make, plural } from "./dom.js";
import { filters } from "./filters.js";

const state = { known: null, methods: { ask: [], search: [] }, chosen: { ask: null, search: null } };

const mode = () => document.querySelector('input[name="mode"]:checked')?.value ?? "search";

function setMode(wanted) {
  const possible = wanted === "ask" && !state.known.can_ask ? "search" : wanted;
  document.querySelector(`input[name="mode"][value="${possible}"]`).checked = true;
  fillMethods();
}

function fillMethods() {
  const now = mode();
  const select = byId("method");
  const listed = state.methods[now];
  const wanted = state.chosen[now] ?? (now === "ask" ? state.known.default_ask : state.known.default_search);
  const all = listed.some((method) => method.name === wanted)
    ? listed
    : [{ name: wanted, description: "from the link" }, ...listed];
  select.replaceChildren(
    ...all.map(({ name, uses_model }) =>
      make("option", { value: name, disabled: uses_model && !state.known.can_ask }, name),
    ),
  );
  select.value = wanted;
  describe();
  byId("go").textContent = now === "ask" ? "Ask" : "Search";
}

function describe() {
  const method = state.methods[mode()].find((each) => each.name === byId("method").value);
  const text = method?.description ?? "";
  byId("method-note").textContent = text && `${method.name}: ${text}.`;
}

/** Does the chosen method call no model? Of a method that is not listed nobody knows. */
const costsNothing = () =>
  mode() === "search" &&
  state.methods.search.some(({ name, uses_model }) => name === byId("method").value && !uses_model);

function asked() {
  return {
    index: byId("index").value,
    question: byId("question").value.trim(),
    mode: mode(),
    method: byId("method").value,
    where: filters.where(),
  };
}

/** Words of the link: `#index=…&q=…`, and where they differ from the usual ones also `mode`, `method` and filters. */
function writeLink({ index, question, mode: how, method }) {
  const usual = how === "ask" ? state.known.default_ask : state.known.default_search;
  const words = new URLSearchParams({ index, q: question });
  if (how === "search" && state.known.can_ask) words.set("mode", how);
  if (method !== usual) words.set("method", method);
  filters.write(words);
  history.replaceState(null, "", `#${words}`);
}

/** A question that comes before the choices are there waits for them, and is put if the box still holds it. */
async function submit({ ask, wait }) {
  const { question } = asked();
  if (!question) return byId("question").focus();
  if (!state.known && !(await wait())) return;
  const now = asked();
  if (now.question !== question) return;
  if (!now.index) return byId("open-documents").focus();
  writeLink(now);
  return ask(now);
}

export const form = {
  index: () => byId("index").value,

  /** The methods to choose from, before indexes are offered. */
  methods(methods) {
    state.methods = methods;
  },

  /** Offer these indexes, and what can be done with them. */
  offer(known, wanted = byId("index").value) {
    const first = state.known === null;
    state.known = known;
    const select = byId("index");
    select.replaceChildren(
      ...known.indexes.map(({ name, status, documents }) =>
        make(
          "option",
          { value: name },
          status === "ready" ? `${name} (${plural(documents, "document")})` : `${name} (${status})`,
        ),
      ),
    );
    select.disabled = !known.indexes.length;
    if (known.indexes.some(({ name }) => name === wanted)) select.value = wanted;
    if (known.indexes.length) filters.offer(select.value);
    byId("no-model").hidden = known.can_ask;
    document.querySelector('input[name="mode"][value="search"]').disabled = false;
    document.querySelector('input[name="mode"][value="ask"]').disabled = !known.can_ask;
    if (first) setMode("ask");
  },

  /** Name a question in the page's address. */
  link: writeLink,

  /** Leave room for a new question. */
  empty() {
    byId("question").value = "";
    byId("question").focus();
  },

  busy(is) {
    byId("stop").hidden = !is;
    byId("ask").setAttribute("aria-busy", String(is));
    byId("ask").classList.toggle("busy", is);
    if (!is && document.activeElement === document.body) byId("question").focus();
  },

  /** `wait` waits until indexes are offered: false where the question is no longer wanted then. */
  listen({ ask, stop, wait }) {
    byId("ask").onsubmit = (event) => {
      event.preventDefault();
      submit({ ask, wait });
    };
    byId("go").disabled = false; // until now it would have submitted to nobody
    document.querySelector(".skip").onclick = (event) => {
      event.preventDefault(); // the address holds the question, not a place on the page
      byId("question").focus();
    };
    byId("stop").onclick = () => {
      stop();
      byId("question").focus();
    };
    byId("question").onkeydown = (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      byId("ask").requestSubmit();
    };
    for (const radio of document.querySelectorAll('input[name="mode"]')) radio.onchange = fillMethods;
    byId("method").onchange = () => {
      state.chosen[mode()] = byId("method").value;
      describe();
    };
    byId("index").onchange = () => filters.offer(byId("index").value);
    filters.listen();
    window.addEventListener("hashchange", () => this.followLink());
  },

  /**
   * Fill in what the link says. A search is made at once unless it calls a model; whatever does waits for the user:
   * anybody can write a link, and a question may cost money. Where the page has just been opened, words typed meanwhile
   * stay (`typed`).
   */
  followLink({ typed = "" } = {}) {
    const words = new URLSearchParams(location.hash.slice(1));
    if (!words.has("q") || !state.known) return;
    const how = words.get("mode") === "search" ? "search" : "ask";
    if (words.has("method")) state.chosen[state.known.can_ask ? how : "search"] = words.get("method");
    setMode(how);
    byId("index").value = words.get("index") ?? byId("index").value;
    filters.read(words, byId("index").value);
    if (typed) return;
    byId("question").value = words.get("q");
    byId("go").focus();
    if (costsNothing()) byId("ask").requestSubmit();
  },
};
