// Places for the nodes of a small graph: a force layout without chance, so that the same evidence looks the same twice.

const ROUNDS = 320;
const MARGIN = 14;
const GAP = 16;

/**
 * Give every node `x` and `y` within a width and height. A node has `width`, `height` and may have a `column` from 0 to
 * 1, where along the longer side it belongs. Nodes that have a place already start from there.
 */
export function arrange(nodes, edges, width, height) {
  const wide = width >= height;
  nodes.forEach((node, order) => start(node, order, nodes.length, width, height, wide));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const springs = edges.map((edge) => [byId.get(edge.source), byId.get(edge.target), edge.predicate ? 1.7 : 1]);
  const reach = Math.sqrt((width * height) / Math.max(nodes.length, 1)) * 0.62;
  for (let round = 0; round < ROUNDS; round += 1) {
    const heat = (1 - round / ROUNDS) * 14;
    const pushes = new Map(nodes.map((node) => [node, [0, 0]]));
    repel(nodes, pushes, reach);
    attract(springs, pushes, reach);
    for (const node of nodes) move(node, pushes.get(node), heat, width, height, wide);
    if (round > ROUNDS / 2) separate(nodes, width, height);
  }
  for (let round = 0; round < 60; round += 1) separate(nodes, width, height);
}

/** On a spiral whose turns never line up. */
function start(node, order, count, width, height, wide) {
  if (Number.isFinite(node.x)) return;
  const angle = order * 2.399963;
  const radius = Math.sqrt((order + 0.5) / count) * 0.45;
  node.x = width * (0.5 + radius * Math.cos(angle));
  node.y = height * (0.5 + radius * Math.sin(angle));
  if (node.column === undefined) return;
  if (wide) node.x = width * node.column;
  else node.y = height * node.column;
}

function repel(nodes, pushes, reach) {
  for (let one = 0; one < nodes.length; one += 1) {
    for (let other = one + 1; other < nodes.length; other += 1) {
      const [a, b] = [nodes[one], nodes[other]];
      const [dx, dy] = [a.x - b.x || 0.01 * (one + 1), a.y - b.y || 0.01];
      const force = (reach * reach) / Math.max(dx * dx + dy * dy, 25);
      pull(pushes.get(a), dx, dy, force);
      pull(pushes.get(b), dx, dy, -force);
    }
  }
}

function attract(springs, pushes, reach) {
  for (const [a, b, length] of springs) {
    const [dx, dy] = [a.x - b.x, a.y - b.y];
    const force = (Math.hypot(dx, dy) / (reach * length)) * 0.55;
    pull(pushes.get(a), dx, dy, -force);
    pull(pushes.get(b), dx, dy, force);
  }
}

function pull(push, dx, dy, force) {
  push[0] += dx * force;
  push[1] += dy * force;
}

function move(node, [dx, dy], heat, width, height, wide) {
  let [x, y] = [dx + (width / 2 - node.x) * 0.06, dy + (height / 2 - node.y) * 0.09];
  if (node.column !== undefined) {
    if (wide) x += (width * node.column - node.x) * 0.25;
    else y += (height * node.column - node.y) * 0.25;
  }
  const length = Math.hypot(x, y) || 1;
  const step = Math.min(length, heat) / length;
  node.x += x * step;
  node.y += y * step;
  keepInside(node, width, height);
}

/** Boxes that overlap are pushed apart along the shorter way. */
function separate(nodes, width, height) {
  for (let one = 0; one < nodes.length; one += 1) {
    for (let other = one + 1; other < nodes.length; other += 1) {
      const [a, b] = [nodes[one], nodes[other]];
      const x = (a.width + b.width) / 2 + GAP - Math.abs(a.x - b.x);
      const y = (a.height + b.height) / 2 + GAP - Math.abs(a.y - b.y);
      if (x <= 0 || y <= 0) continue;
      const along = x < y * 1.5 ? "x" : "y";
      const shift = (Math.min(along === "x" ? x : y, 12) / 2) * (a[along] < b[along] ? -1 : 1);
      a[along] += shift;
      b[along] -= shift;
      keepInside(a, width, height);
      keepInside(b, width, height);
    }
  }
}

function keepInside(node, width, height) {
  const [w, h] = [node.width / 2 + MARGIN, node.height / 2 + MARGIN];
  node.x = Math.min(Math.max(node.x, w), width - w);
  node.y = Math.min(Math.max(node.y, h), height - h);
}
