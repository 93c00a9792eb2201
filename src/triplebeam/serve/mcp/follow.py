"""From an entity into the graph: chains of facts that begin there, ranked by their likeness to a question."""

from triplebeam.assemble import Index
from triplebeam.errors import BadInputError
from triplebeam.methods.gear import Cascade
from triplebeam.methods.gear.beam_search import DiverseTripleBeamSearch
from triplebeam.serve.mcp.results import ExpandResult, Fact, FollowedChain
from triplebeam.triple import entity_key

_SUGGESTED = 5


def follow(collection: Index, entity: str, question: str | None, length: int, limit: int) -> ExpandResult:
    """GeAR's beam search from the entity's triples. Without a question, its own name says what is near."""
    number = _entity(collection, entity)
    triples = collection.triples
    search = DiverseTripleBeamSearch(
        triples=triples,
        scorer=Cascade(triples=triples, embedder=collection.embedder),
        width=limit,
        length=length,
    )
    (query,) = collection.embedder.embed([question or entity], kind="query")
    beams = search.search(query, triples.of_entity(number))
    chains = [
        FollowedChain(
            facts=[Fact.of(triples.triple(triple_id)) for triple_id in chain],
            passage_ids=triples.passage_of(chain),
            score=score,
        )
        for chain, score in zip(beams.chains.tolist(), beams.scores.tolist(), strict=True)
    ]
    return ExpandResult(entity=collection.snapshot.entities.names[number], chains=chains)


def _entity(collection: Index, name: str) -> int:
    if not name.strip():
        raise BadInputError("the entity is empty: name one, such as a person or a place.")
    entities = collection.snapshot.entities
    number = entities.numbers.get(entity_key(name))
    if number is None:
        near, _ = entities.vectors.nearest(collection.embedder.embed([name])[0], _SUGGESTED)
        known = ", ".join(repr(entities.names[row]) for row in near.tolist())
        raise BadInputError(
            f"there is no entity {name!r} in the graph: the nearest are {known}; use one of them, or search for it."
            if known
            else f"there is no entity {name!r}: this collection has no triples; index it with an extractor."
        )
    return number
