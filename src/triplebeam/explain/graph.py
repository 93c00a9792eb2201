"""Around an entity or a passage in the graph of triples: what to draw, and chains of facts to follow."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, check_text
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.source import Source
from triplebeam.methods.gear import Cascade
from triplebeam.methods.gear.beam_search import DiverseTripleBeamSearch
from triplebeam.text.names import entity_key
from triplebeam.triple import Chain

_SUGGESTED = 3


class UnknownEntityError(BadInputError):
    """The graph has no entity of that name."""


class Node(BaseModel):
    """An entity or a passage."""

    id: str = Field(description="`e:` and the entity's normal form, or `p:` and the passage's id.")
    kind: str = Field(description="`entity` or `passage`.")
    label: str


class Edge(BaseModel):
    """A triple between two entities; without a predicate, an entity mentioned in a passage."""

    source: str
    target: str
    predicate: str | None = None
    passage_id: str | None = None


class Neighbourhood(BaseModel):
    """Nodes and edges to draw, in the order of the index."""

    nodes: list[Node]
    edges: list[Edge]
    truncated: bool = Field(description="There are more triples than `limit`.")


def around_entity(source: Source, embedder: Embedder, entity: str, limit: int) -> Neighbourhood:
    """Draw the triples an entity is subject or object of; of a defined term without any, the passages that name it."""
    graph = source.graph(entities=[entity])
    number = find_entity(graph, embedder, entity)
    node = _entity(graph.entities.names[number])
    if triples := graph.triples.of_entity(number).tolist():
        return _neighbourhood(graph, triples, node, limit)
    mentions = graph.entities.mentions
    rows = mentions[mentions[:, 1] == number, 0]
    passages = [_passage(graph, passage_id) for passage_id in graph.passages.ids(rows[:limit])]
    edges = [Edge(source=passage.id, target=node.id) for passage in passages]
    return Neighbourhood(nodes=[node, *passages], edges=edges, truncated=len(rows) > limit)


def around_passage(source: Source, passage_id: str, limit: int) -> Neighbourhood:
    """Draw the triples extracted from a passage."""
    graph = source.graph(passages=[passage_id])
    return _neighbourhood(graph, graph.triples.triples_of([passage_id]).tolist(), _passage(graph, passage_id), limit)


def follow(
    graph: Snapshot, embedder: Embedder, entity: int, question: str, length: int, limit: int
) -> list[tuple[Chain, list[str], float]]:
    """Find chains that begin at an entity by GeAR's beam search, most similar to the question first.

    Each comes with the passages of its triples and its score.
    """
    check_text("question", question)
    triples = graph.triples
    search = DiverseTripleBeamSearch(
        triples=triples,
        scorer=Cascade(triples=triples, embedder=embedder),
        width=limit,
        length=length,
    )
    (query,) = embedder.embed([question], kind="query")
    beams = search.search(query, triples.of_entity(entity))
    return [
        (tuple(map(triples.triple, chain)), list(triples.passage_of(chain)), score)
        for chain, score in zip(beams.chains.tolist(), beams.scores.tolist(), strict=True)
    ]


def find_entity(graph: Snapshot, embedder: Embedder, name: str) -> int:
    """Find the number of an entity by its name; the error for an unknown one suggests those nearest in meaning."""
    if not name.strip():
        raise BadInputError("the entity is empty: name one, such as a person or a place.")
    check_text("entity", name)
    entities = graph.entities
    number = entities.numbers.get(entity_key(name))
    if number is None:
        near, _ = entities.vectors.nearest(embedder.embed([name])[0], _SUGGESTED)
        known = " or ".join(repr(entities.names[row]) for row in near.tolist())
        raise UnknownEntityError(
            f"there is no entity {name[:80]!r} in the graph (did you mean {known}?): entities are the subjects and"
            " objects of its triples, and the terms that documents define."
            if known
            else f"there is no entity {name[:80]!r}: this index has no triples; index it with an extractor."
        )
    return number


def _neighbourhood(graph: Snapshot, triples: Sequence[int], first: Node, limit: int) -> Neighbourhood:
    """Draw the first triples up to the limit, with their entities and passages; ``first`` is the node in the middle."""
    nodes = {first.id: first}
    edges: dict[tuple[str | None, ...], Edge] = {}
    shown = list(triples[:limit])
    for number, passage_id in zip(shown, graph.triples.passage_of(shown), strict=True):
        triple = graph.triples.triple(number)
        subject, object_ = _entity(triple.subject), _entity(triple.object)
        passage = _passage(graph, passage_id)
        for node in (subject, object_, passage):
            nodes.setdefault(node.id, node)
        joined = Edge(source=subject.id, target=object_.id, predicate=triple.predicate, passage_id=passage_id)
        mentions = [Edge(source=passage.id, target=entity.id) for entity in (subject, object_)]
        for edge in (joined, *mentions):
            edges.setdefault((edge.source, edge.target, edge.predicate, edge.passage_id), edge)
    return Neighbourhood(nodes=list(nodes.values()), edges=list(edges.values()), truncated=len(triples) > limit)


def _entity(name: str) -> Node:
    return Node(id=f"e:{entity_key(name)}", kind="entity", label=name)


def _passage(graph: Snapshot, passage_id: str) -> Node:
    return Node(id=f"p:{passage_id}", kind="passage", label=graph.passages[passage_id].title or passage_id)
