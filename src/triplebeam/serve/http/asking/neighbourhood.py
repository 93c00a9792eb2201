"""A piece of an index's graph, small enough to draw: triples with their entities and the passages they stand in."""

import difflib
from collections.abc import Sequence

from pydantic import BaseModel, Field

from triplebeam.assemble import Index
from triplebeam.triple import entity_key

_NAMES_SHOWN = 3
_NAMES_COMPARED = 20_000
"""How many names are held against a misspelt one: enough to help, and never long to wait for."""


class Node(BaseModel):
    """An entity or a passage."""

    id: str = Field(description="`e:` and the entity's normal form, or `p:` and the passage's id.")
    kind: str = Field(description="`entity` or `passage`.")
    label: str


class Edge(BaseModel):
    """A triple between two entities; without a predicate, an entity that stands in a passage."""

    source: str
    target: str
    predicate: str | None = None
    passage_id: str | None = None


class Neighbourhood(BaseModel):
    """What can be drawn, in the order of the index."""

    nodes: list[Node]
    edges: list[Edge]
    truncated: bool = Field(description="There are more triples than `limit`.")


def around_entity(collection: Index, entity: str, limit: int) -> Neighbourhood | None:
    """The triples an entity is subject or object of; None where there is no such entity."""
    graph = collection.snapshot.entities
    number = graph.numbers.get(entity_key(entity))
    if number is None:
        return None
    triples = collection.triples.of_entity(number).tolist()
    return _drawn(collection, triples, _entity(graph.names[number]), limit)


def around_passage(collection: Index, passage_id: str, limit: int) -> Neighbourhood:
    """The triples drawn from a passage."""
    triples = collection.triples.triples_of([passage_id]).tolist()
    return _drawn(collection, triples, _passage(collection, passage_id), limit)


def _drawn(collection: Index, triples: Sequence[int], first: Node, limit: int) -> Neighbourhood:
    """The first so many of these triples, with what they join; ``first`` is the node they are all around."""
    nodes = {first.id: first}
    edges: dict[tuple[str | None, ...], Edge] = {}
    shown = list(triples[:limit])
    for number, passage_id in zip(shown, collection.triples.passage_of(shown), strict=True):
        triple = collection.triples.triple(number)
        subject, object_ = _entity(triple.subject), _entity(triple.object)
        passage = _passage(collection, passage_id)
        for node in (subject, object_, passage):
            nodes.setdefault(node.id, node)
        joined = Edge(source=subject.id, target=object_.id, predicate=triple.predicate, passage_id=passage_id)
        mentions = [Edge(source=passage.id, target=entity.id) for entity in (subject, object_)]
        for edge in (joined, *mentions):
            edges.setdefault((edge.source, edge.target, edge.predicate, edge.passage_id), edge)
    return Neighbourhood(nodes=list(nodes.values()), edges=list(edges.values()), truncated=len(triples) > limit)


def _entity(name: str) -> Node:
    """An entity, by one of its names."""
    return Node(id=f"e:{entity_key(name)}", kind="entity", label=name)


def _passage(collection: Index, passage_id: str) -> Node:
    """A passage, by its title where it has one."""
    return Node(id=f"p:{passage_id}", kind="passage", label=collection.passages[passage_id].title or passage_id)


def nearest_entities(collection: Index, entity: str) -> list[str]:
    """Names that were perhaps meant: those that hold the words, else those spelt nearly so, with the same initial."""
    key, names = entity_key(entity), collection.snapshot.entities.numbers
    holding = sorted((name for name in names if key in name), key=lambda name: (len(name), name))
    if not holding:
        candidates = [name for name in names if name[:1] == key[:1]][:_NAMES_COMPARED]
        holding = difflib.get_close_matches(key, candidates, n=_NAMES_SHOWN)
    return [collection.snapshot.entities.names[names[name]] for name in holding[:_NAMES_SHOWN]]
