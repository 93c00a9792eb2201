"""A ranking with its passages as JSON: the same on the command line and over HTTP."""

from triplebeam.passage import Passages
from triplebeam.ranking import Hit, Ranking


def ranking_json(question: str, method: str, ranking: Ranking, passages: Passages) -> dict[str, object]:
    """The passages found, best first, with the chains of triples that led to each.

    ``found_by``, of a fusion that tells: its rank in the lists that hold it.
    """
    return {"question": question, "method": method, "passages": [_hit(hit, passages) for hit in ranking]}


def _hit(hit: Hit, passages: Passages) -> dict[str, object]:
    passage = passages[hit.passage_id]
    written: dict[str, object] = {
        "id": hit.passage_id,
        "title": passage.title,
        "score": hit.score,
        "text": passage.text,
        "chains": hit.chains,
    }
    return {**written, "found_by": dict(hit.found_by)} if hit.found_by else written
