"""Rankings that someone else made, by question: the gold passages of a dataset, or another system's results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from triplebeam.errors import BadInputError
from triplebeam.ranking import Hit, Ranking


@dataclass(frozen=True)
class GivenRanking:
    """Hands out the passages that are given for a question, in the order given.

    It knows its questions alone, word by word; white space around them does not matter. Any other query is an error: an
    empty list would count as a search that found nothing.
    """

    passage_ids: Mapping[str, Sequence[str]] = field(repr=False)
    """A question's text to its passages, best first, no passage twice."""

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The first k passages given for the question."""
        given = self.passage_ids.get(query) or self.passage_ids.get(query.strip())
        if not given:
            raise BadInputError(
                f"No passages are given for the question {query!r}: ask one that they are given for, in the same words."
            )
        return Ranking(Hit(passage_id, 1 / rank) for rank, passage_id in enumerate(given, start=1)).top(k)
