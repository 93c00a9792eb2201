// The graph as SVG: boxes for passages, names for entities, arrows for facts. One tab stop; arrow keys walk the nodes.

import { draw, factText } from "./dom.js";
import { arrange } from "./layout.js";

const CHIP = 24;
const pen = document.createElement("canvas").getContext("2d");

/** Draw into `svg` at its own width. `choose(node)` is called for a click or Enter. */
export function drawGraph(svg, graph, chosenId, choose) {
  const width = Math.max(svg.parentElement.clientWidth, 280);
  const nodes = [...graph.nodes.values()];
  const narrow = width < 620;
  const most = narrow ? 17 : 24;
  for (const node of nodes) measure(node, graph, most, width, narrow);
  const area = nodes.reduce((sum, node) => sum + (node.width + 44) * (node.height + 34), 0);
  const height = Math.round(Math.min(Math.max((area * (narrow ? 1.5 : 2.1)) / width, 400), narrow ? 1400 : 900));
  const edges = [...graph.edges.values()];
  arrange(nodes, edges, width, height);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  const labels = [];
  const lines = edges.map((edge) => line(edge, graph, labels));
  svg.replaceChildren(
    arrows(),
    draw("g", {}, lines),
    draw("g", { "aria-hidden": "true" }, labels),
    draw(
      "g",
      {},
      nodes.map((node) => box(node, graph, chosenId)),
    ),
  );
  listen(svg, graph, choose);
}

/** How large a node is, and in which column its hop puts it. */
function measure(node, graph, most, width, narrow) {
  node.shown = node.label.length > most ? `${node.label.slice(0, most - 1)}…` : node.label;
  node.hop = node.kind === "passage" ? graph.hops.get(node.id.slice(2)) : undefined;
  node.width = Math.min(textWidth(node) + (node.kind === "passage" ? CHIP + 20 : 18), width - 20);
  node.height = node.kind === "passage" ? 32 : 24;
  // A new width needs a new layout.
  if (node.laidOutFor !== width) {
    node.x = undefined;
    node.laidOutFor = width;
  }
  const last = Math.min(Math.max(2, ...graph.hops.values()), 3);
  node.column = node.hop ? 0.16 + (0.68 * (Math.min(node.hop, last) - 1)) / (last - 1) : undefined;
  if (narrow && node.column !== undefined) node.column = 0.1 + 0.8 * ((node.column - 0.16) / 0.68);
}

/** As wide as the label will be: fonts differ between systems. */
function textWidth(node) {
  pen.font = `${node.kind === "passage" ? 600 : 400} 13px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(node.shown).width;
}

function arrows() {
  const tip = (id) =>
    draw(
      "marker",
      { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
      draw("path", { d: "M0 0.8 7.5 4 0 7.2z", class: id }),
    );
  return draw("defs", {}, tip("tip"), tip("tip-strong"));
}

function line(edge, graph, labels) {
  const [from, to] = [graph.nodes.get(edge.source), graph.nodes.get(edge.target)];
  const [start, end] = [border(from, to), border(to, from)];
  const kind = edge.predicate ? `edge fact-edge ${edge.role}` : `edge mention ${edge.role}`;
  const tip = edge.predicate ? `url(#${edge.role === "evidence" ? "tip-strong" : "tip"})` : null;
  if (edge.predicate && ["evidence", "unquoted"].includes(edge.role)) {
    labels.push(
      draw("text", { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 + 4, class: "edge-label" }, edge.predicate),
    );
  }
  const drawn = draw("line", {
    x1: start.x,
    y1: start.y,
    x2: end.x,
    y2: end.y,
    class: kind,
    "marker-end": tip,
    "data-source": edge.source,
    "data-target": edge.target,
  });
  if (edge.predicate) drawn.append(draw("title", {}, factText([from.label, edge.predicate, to.label])));
  return drawn;
}

/** Where the line from a box's middle to another's leaves it. */
function border(box, other) {
  const [dx, dy] = [other.x - box.x, other.y - box.y];
  const scale = Math.min(
    (box.width / 2 + 2) / Math.max(Math.abs(dx), 0.01),
    (box.height / 2 + 2) / Math.max(Math.abs(dy), 0.01),
    1,
  );
  return { x: box.x + dx * scale, y: box.y + dy * scale };
}

function box(node, graph, chosenId) {
  const passage = node.kind === "passage";
  const hop = node.hop ? ` hop-${Math.min(node.hop, 3)}` : "";
  const [left, top] = [node.x - node.width / 2, node.y - node.height / 2];
  const spoken = `${passage ? "Passage" : "Entity"} ${node.label}${node.hop ? `, hop ${node.hop}` : ""}`;
  return draw(
    "g",
    {
      class: `node ${node.kind}${hop}`,
      role: "button",
      tabindex: "-1",
      "data-id": node.id,
      "aria-label": spoken,
      "aria-pressed": String(node.id === chosenId),
    },
    draw("title", {}, node.label),
    draw("rect", { x: left, y: top, width: node.width, height: node.height, rx: passage ? 7 : 12 }),
    passage && draw("circle", { cx: left + 17, cy: node.y, r: 9, class: "chip" }),
    passage && draw("text", { x: left + 17, y: node.y + 4, class: "chip-text" }, node.hop ? String(node.hop) : "·"),
    draw("text", { x: passage ? left + CHIP + 8 : node.x, y: node.y + 4.5, class: "label" }, node.shown),
  );
}

/** One node is in the tab order; the arrow keys, Home and End move on from it. */
function listen(svg, graph, choose) {
  const boxes = [...svg.querySelectorAll(".node")];
  const current = boxes.find((each) => each.getAttribute("aria-pressed") === "true") ?? boxes[0];
  current?.setAttribute("tabindex", "0");
  const focus = (to) => {
    for (const each of boxes) each.setAttribute("tabindex", each === to ? "0" : "-1");
    to.focus();
  };
  svg.onclick = (event) => {
    const hit = event.target.closest(".node");
    if (hit) {
      focus(hit);
      choose(graph.nodes.get(hit.dataset.id));
    }
  };
  svg.onkeydown = (event) => {
    const place = boxes.indexOf(event.target.closest(".node"));
    const next = {
      ArrowRight: place + 1,
      ArrowDown: place + 1,
      ArrowLeft: place - 1,
      ArrowUp: place - 1,
      Home: 0,
      End: boxes.length - 1,
    }[event.key];
    if (event.key === "Enter" || event.key === " ") choose(graph.nodes.get(boxes[place].dataset.id));
    else if (next === undefined) return;
    else focus(boxes[(next + boxes.length) % boxes.length]);
    event.preventDefault();
  };
}

/** Light up what a node is joined to. */
export function mark(svg, chosenId) {
  const near = new Set([chosenId]);
  for (const edge of svg.querySelectorAll(".edge")) {
    const { source, target } = edge.dataset;
    const touches = source === chosenId || target === chosenId;
    edge.classList.toggle("near", touches);
    if (touches) near.add(source).add(target);
  }
  svg.classList.toggle("choosing", Boolean(chosenId));
  for (const node of svg.querySelectorAll(".node")) {
    node.classList.toggle("near", near.has(node.dataset.id));
    node.setAttribute("aria-pressed", String(node.dataset.id === chosenId));
  }
}
