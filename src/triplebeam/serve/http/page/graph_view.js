// The graph with its legend, the panel for a chosen node, and the same facts as a list.

import { get, isStopped, within } from "./api.js";
import { draw, fact, make, plural, show } from "./dom.js";
import { join, neighbourhood } from "./evidence_graph.js";
import { drawGraph, mark } from "./graph_drawing.js";
import { marked } from "./marked_text.js";

const MOST_NODES = 60;
let forgetSize = () => {};

/** Show the graph of a result. */
export function showGraph(section, graph, result) {
  const svg = draw("svg", {
    role: "group",
    class: "drawing",
    "aria-labelledby": "graph-title",
    "aria-describedby": "graph-help",
  });
  const panel = make("aside", { class: "panel", "aria-label": "The chosen node", "aria-live": "polite" }, hint());
  const listing = make("div", {});
  const view = { svg, panel, listing, graph, result, chosen: null };
  show(
    section,
    make("h2", { id: "graph-title" }, result.mode === "ask" ? "Evidence as a graph" : "Passages as a graph"),
    make(
      "p",
      { class: "note", id: "graph-help" },
      `${graph.reading} Arrow keys move between nodes, Enter opens one, Escape closes it.`,
    ),
    legend(graph),
    make("div", { class: "stage" }, make("div", { class: "canvas" }, svg), panel),
    make("details", { class: "as-list" }, make("summary", {}, "The same as a list"), listing),
  );
  section.onkeydown = (event) => {
    if (event.key === "Escape" && view.chosen) close(view);
  };
  redraw(view);
  followSize(view);
}

const hint = () => make("p", { class: "note" }, "Choose a node to read its text and the facts around it.");

function redraw(view) {
  drawGraph(view.svg, view.graph, view.chosen?.id, (node) => choose(view, node));
  mark(view.svg, view.chosen?.id);
  view.listing.replaceChildren(asList(view.graph));
}

/** A new width is a new drawing. */
function followSize(view) {
  forgetSize();
  let width = view.svg.parentElement.clientWidth;
  const observer = new ResizeObserver(() => {
    const now = view.svg.parentElement?.clientWidth ?? 0;
    if (now && Math.abs(now - width) > 8) {
      width = now;
      redraw(view);
    }
  });
  observer.observe(view.svg.parentElement);
  forgetSize = () => observer.disconnect();
}

function legend(graph) {
  const hops = [...new Set([...graph.hops.values()].map((hop) => Math.min(hop, 3)))].sort();
  const has = (role) => [...graph.edges.values()].some((edge) => edge.role === role);
  const entry = (kind, label) =>
    make("li", {}, make("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), label);
  return make(
    "ul",
    { class: "legend", "aria-label": "Legend" },
    hops.map((hop) => entry(`hop-${hop}`, `hop ${hop}${hop === 3 ? " or more" : ""}`)),
    entry("plain", "passage not connected to a name in the question"),
    entry("entity", "entity"),
    has("evidence") && entry("fact-line", "fact of the answer"),
    has("unquoted") && entry("fact-line unquoted", "fact that no passage states"),
  );
}

/** Every fact, then every passage with what it speaks of. */
function asList(graph) {
  const label = (id) => graph.nodes.get(id).label;
  const edges = [...graph.edges.values()];
  const facts = edges
    .filter((edge) => edge.predicate)
    .map((edge) =>
      make(
        "li",
        {},
        fact([label(edge.source), edge.predicate, label(edge.target)]),
        edge.role === "evidence" && make("span", { class: "note" }, " (evidence)"),
      ),
    );
  const passages = [...graph.nodes.values()]
    .filter((node) => node.kind === "passage")
    .map((node) => {
      const named = edges
        .filter((edge) => !edge.predicate && edge.source === node.id)
        .map((edge) => label(edge.target));
      const hop = graph.hops.get(node.id.slice(2));
      return make(
        "li",
        {},
        make("b", {}, node.label),
        hop && ` (hop ${hop})`,
        named.length ? `: ${named.join(", ")}` : "",
      );
    });
  return make(
    "div",
    { class: "lists" },
    make("h3", {}, "Facts"),
    make("ul", {}, facts),
    make("h3", {}, "Passages"),
    make("ul", {}, passages),
  );
}

async function choose(view, node) {
  view.chosen = node;
  mark(view.svg, node.id);
  const id = node.id.slice(2);
  const passage = node.kind === "passage";
  fillPanel(view, node, make("p", { class: "note" }, "Looking it up …"));
  try {
    const centre = passage ? { passage: id } : { entity: node.label };
    const [around, text] = await Promise.all([
      neighbourhood(view.result, centre),
      passage && get(within(view.result.index, "passages", id)),
    ]);
    if (view.chosen === node)
      fillPanel(view, node, [
        text && make("div", { class: "text" }, marked(text, view.result.evidence)),
        factsOf(view, around),
      ]);
  } catch (error) {
    if (isStopped(error) || view.chosen !== node) return;
    const message =
      error.code === "unknown_entity"
        ? "The model read this name in a passage; no fact in the index mentions it."
        : error.message;
    fillPanel(view, node, make("p", { class: "note" }, message));
  }
}

function fillPanel(view, node, content) {
  const kind = node.kind === "passage" ? "Passage" : "Entity";
  show(
    view.panel,
    make(
      "div",
      { class: "panel-head" },
      make(
        "div",
        {},
        make("p", { class: "kind" }, node.hop ? `${kind} · hop ${node.hop}` : kind),
        make("h3", {}, node.label),
      ),
      make("button", { type: "button", class: "quiet close", "aria-label": "Close", onclick: () => close(view) }, "×"),
    ),
    content,
  );
}

function factsOf(view, around) {
  const names = new Map(around.nodes.map((each) => [each.id, each.label]));
  const facts = around.edges.filter((edge) => edge.predicate);
  const fresh = around.nodes.filter((each) => !view.graph.nodes.has(each.id)).length;
  const expand =
    fresh > 0 &&
    make(
      "button",
      { type: "button", class: "quiet", onclick: () => grow(view, around) },
      `Add ${plural(fresh, "neighbour")} to the graph`,
    );
  return [
    make("h4", {}, facts.length ? "Facts around it" : "No facts were extracted from it"),
    make(
      "ul",
      { class: "facts" },
      facts.map((edge) =>
        make(
          "li",
          {},
          fact([names.get(edge.source), edge.predicate, names.get(edge.target)]),
          view.chosen.kind === "entity" && make("span", { class: "note" }, ` in ${names.get(`p:${edge.passage_id}`)}`),
        ),
      ),
    ),
    around.truncated && make("p", { class: "note" }, "There are more facts than shown here."),
    expand,
  ];
}

function grow(view, around) {
  const unseen = around.nodes.filter((each) => !view.graph.nodes.has(each.id));
  const fresh = unseen.slice(0, Math.max(MOST_NODES - view.graph.nodes.size, 0));
  const held = new Set([...view.graph.nodes.keys(), ...fresh.map((each) => each.id)]);
  join(view.graph, {
    nodes: fresh,
    edges: around.edges.filter((edge) => held.has(edge.source) && held.has(edge.target)),
  });
  redraw(view);
  const full = fresh.length < unseen.length ? "; the drawing is full" : "";
  fillPanel(view, view.chosen, make("p", { class: "note" }, `${plural(fresh.length, "node")} added${full}.`));
  view.svg.querySelector('[aria-pressed="true"]')?.focus();
}

function close(view) {
  view.chosen = null;
  view.panel.replaceChildren(hint());
  mark(view.svg, null);
  view.svg.querySelector('.node[tabindex="0"]')?.focus();
}
