// What the graph shows of a result: its best passages, the facts between them, and how many hops away each is.

import { get, within } from "./api.js";

const PASSAGES = 8;
const TRIPLES_PER_PASSAGE = 40;
const SHARED_ENTITIES = 8;

/** An entity's normal form, as the server writes it. */
export const entityKey = (name) =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim() || name.trim();

/** Nodes and edges of a result. `hops` also tells of passages; `reading` says in words what a hop is here. */
export async function evidenceGraph(result, signal) {
  const chosen = chosenPassages(result);
  const around = await Promise.all(
    chosen.map((passage) => neighbourhood(result, { passage: passage.id }, signal, TRIPLES_PER_PASSAGE)),
  );
  const graph = { nodes: new Map(), edges: new Map(), hops: new Map(), reading: "" };
  for (const passage of chosen)
    add(graph, { id: `p:${passage.id}`, kind: "passage", label: label(passage, chosen) });
  addFacts(graph, result, chosen);
  addShared(graph, around);
  addMentions(graph, around);
  countHops(graph, result, around);
  return graph;
}

/** The piece of the index's graph around `{entity}` or `{passage}`, within the result's filter. */
export function neighbourhood({ index, where }, centre, signal, limit = 60) {
  const words = new URLSearchParams({ ...centre, limit, ...(where ? { where } : {}) });
  return get(`${within(index, "graph")}?${words}`, signal);
}

/** Put a neighbourhood into a graph; how many nodes are new. */
export function join(graph, { nodes, edges }) {
  const before = graph.nodes.size;
  for (const node of nodes) add(graph, node);
  for (const { source, target, predicate } of edges) connect(graph, source, target, predicate ?? null, "");
  return graph.nodes.size - before;
}

function chosenPassages({ passages, evidence }) {
  const needed = new Set(evidence.map((each) => each.span?.passage_id));
  const first = passages.filter((passage) => needed.has(passage.id));
  return [...first, ...passages.filter((passage) => !needed.has(passage.id))].slice(
    0,
    Math.max(PASSAGES, first.length),
  );
}

/** From short to long; what tells passages apart comes first, since a long label is cut at its end. */
const LABELS = [
  ({ id, title }) => title || id,
  ({ id, title, section }) => section.split(" › ").at(-1) || title || id,
  ({ title, path }) => `${path.split("/").at(-1)}: ${title}`,
  ({ title, path }) => `${path}: ${title}`,
  ({ title, path, position }) => `${position + 1} in ${path}: ${title}`,
];

/** The first of them that no other passage has. */
function label(passage, chosen) {
  const alone = (name) => chosen.filter((each) => name(each) === name(passage)).length === 1;
  return (LABELS.find(alone) ?? LABELS.at(-1))(passage);
}

function add(graph, node) {
  if (!graph.nodes.has(node.id)) graph.nodes.set(node.id, { ...node });
  return node.id;
}

const entity = (graph, name) => add(graph, { id: `e:${entityKey(name)}`, kind: "entity", label: name });

function connect(graph, source, target, predicate, role) {
  if (source === target) return;
  const id = JSON.stringify([source, target, predicate]);
  if (!graph.edges.has(id) || role) graph.edges.set(id, { source, target, predicate, role });
}

/** The facts of the evidence and of the steps; of a search, the first chain of each passage. */
function addFacts(graph, { evidence, steps, mode }, chosen) {
  const told =
    mode === "ask"
      ? steps.flatMap((step) => step.facts.map(({ triple }) => triple))
      : chosen.flatMap((passage) => passage.chains[0] ?? []);
  for (const triple of told) addFact(graph, triple, mode === "ask" ? "" : "chain");
  for (const { triple, span } of evidence) {
    addFact(graph, triple, span ? "evidence" : "unquoted");
    if (span)
      for (const name of [triple[0], triple[2]])
        connect(graph, `p:${span.passage_id}`, entity(graph, name), null, "evidence");
  }
}

function addFact(graph, [subject, predicate, object], role) {
  connect(graph, entity(graph, subject), entity(graph, object), predicate, role);
}

/** Entities that several of these passages speak of: they are what joins them. */
function addShared(graph, around) {
  const passagesOf = new Map();
  for (const { nodes } of around) {
    for (const node of nodes)
      if (node.kind === "entity") passagesOf.set(node.id, [...(passagesOf.get(node.id) ?? []), node]);
  }
  const shared = [...passagesOf.values()].filter((same) => same.length > 1 && !graph.nodes.has(same[0].id));
  shared.sort((one, other) => other.length - one.length);
  for (const [node] of shared.slice(0, SHARED_ENTITIES)) add(graph, node);
}

/** Which of these entities stand in which passage. */
function addMentions(graph, around) {
  for (const { edges } of around) {
    for (const { source, target, predicate } of edges) {
      if (!predicate && graph.nodes.has(source) && graph.nodes.has(target)) connect(graph, source, target, null, "");
    }
  }
}

function countHops(graph, result, around) {
  if (result.steps.length > 1) {
    graph.reading = "A passage's hop is the step of the agent that first found it.";
    for (const step of result.steps)
      for (const id of step.passages) if (!graph.hops.has(id)) graph.hops.set(id, step.number);
    return;
  }
  graph.reading =
    "Hop 1 states a fact about something the question names; hop 2, about something in such a fact.";
  const facts = around.map(({ edges }) => edges.filter((edge) => edge.predicate));
  const asked = ` ${entityKey(result.question)} `;
  const all = facts.flat();
  let reached = new Set(
    all.flatMap((edge) => [edge.source, edge.target]).filter((id) => asked.includes(` ${id.slice(2)} `)),
  );
  for (let hop = 1; hop <= 3 && reached.size; hop += 1) {
    const next = new Set(reached);
    around.forEach(({ nodes }, place) => {
      const touching = facts[place].filter((edge) => reached.has(edge.source) || reached.has(edge.target));
      const passageId = nodes[0].id.slice(2);
      if (!touching.length || graph.hops.has(passageId)) return;
      graph.hops.set(passageId, hop);
      for (const edge of touching) next.add(edge.source).add(edge.target);
    });
    reached = next;
  }
}
