// Filters: fields of the metadata with few values as check boxes, and any other filter as text.

import { get, within } from "./api.js";
import { byId, make } from "./dom.js";

const state = { index: null, facets: [], chosen: new Map() };

const quoted = (value) => (value.includes('"') ? `'${value}'` : `"${value}"`);
const condition = ([field, values]) => `\`${field}\` in (${[...values].map(quoted).join(", ")})`;
const chosen = () => [...state.chosen].filter(([, values]) => values.size);

function choose(field, value, is) {
  const values = state.chosen.get(field) ?? new Set();
  if (is) values.add(value);
  else values.delete(value);
  state.chosen.set(field, values);
  count();
}

/** How many are in use, for whoever has the filters folded away. */
function count() {
  const written = byId("where").value.trim() ? 1 : 0;
  const used = chosen().reduce((sum, [, values]) => sum + values.size, written);
  byId("filters-used").textContent = used ? `(${used} in use)` : "";
}

function box(field, { value, documents }) {
  const attributes = { type: "checkbox", checked: state.chosen.get(field)?.has(value) };
  const input = make("input", { ...attributes, onchange: () => choose(field, value, input.checked) });
  return make("label", {}, input, ` ${value} `, make("span", { class: "count" }, documents.toLocaleString("en")));
}

function draw() {
  byId("facets").replaceChildren(
    ...state.facets.map(({ field, values }) =>
      make("fieldset", {}, make("legend", {}, field), ...values.map((value) => box(field, value))),
    ),
  );
  count();
}

export const filters = {
  /** Offer the fields of an index; what was chosen for another one is forgotten. */
  async offer(index) {
    const other = state.index !== null && index !== state.index;
    state.index = index;
    if (other) this.clear();
    const found = await get(within(index, "facets")).catch(() => ({ facets: [], fields: [] }));
    if (state.index !== index) return; // another one was chosen meanwhile
    state.facets = found.facets;
    byId("filters").hidden = !found.fields.length;
    byId("fields").textContent = found.fields.join(", ");
    draw();
  },

  clear() {
    state.chosen.clear();
    byId("where").value = "";
    draw();
  },

  /** What is filtered by, as the server reads it; undefined where nothing is. */
  where() {
    const written = byId("where").value.trim();
    const parts = [...chosen().map(condition), ...(written ? [chosen().length ? `(${written})` : written] : [])];
    return parts.join(" and ") || undefined;
  },

  /** Into the words of a link, and out of them. */
  write(words) {
    for (const [field, values] of chosen()) for (const value of values) words.append("only", `${field}=${value}`);
    if (byId("where").value.trim()) words.set("where", byId("where").value.trim());
  },
  read(words, index) {
    if (index && index !== state.index) this.offer(index);
    this.clear();
    for (const pair of words.getAll("only")) {
      const [field, ...value] = pair.split("=");
      choose(field, value.join("="), true);
    }
    byId("where").value = words.get("where") ?? "";
    if (chosen().length || byId("where").value) byId("filters").open = true;
    draw();
  },

  listen() {
    byId("where").oninput = count;
  },
};
