"""A ranking with its passages as JSON: the same on the command line and over HTTP."""

from collections.abc import Mapping

from triplebeam.passage import Passages
from triplebeam.ranking import Hit, Ranking


def ranking_json(
    question: str,
    method: str,
    ranking: Ranking,
    passages: Passages,
    parts: Mapping[str, Ranking] | None = None,
) -> dict[str, object]:
    """The passages found, best first, with the chains of triples that led to each.

    ``parts`` are the lists a fusion was made of: each passage then tells its rank in those that hold it.
    """
    ranks = {name: {id_: rank for rank, id_ in enumerate(part.ids, start=1)} for name, part in (parts or {}).items()}
    return {
        "question": question,
        "method": method,
        "passages": [_hit(hit, passages, ranks) for hit in ranking],
    }


def _hit(hit: Hit, passages: Passages, ranks: Mapping[str, Mapping[str, int]]) -> dict[str, object]:
    passage = passages[hit.passage_id]
    written: dict[str, object] = {
        "id": hit.passage_id,
        "title": passage.title,
        "score": hit.score,
        "text": passage.text,
        "chains": hit.chains,
    }
    if not ranks:
        return written
    return {**written, "parts": {name: held[hit.passage_id] for name, held in ranks.items() if hit.passage_id in held}}
