"""Rankings fixed in advance, by question: the gold passages of a dataset, or the results of another system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from triplebeam.errors import BadInputError
from triplebeam.ranking import Hit, Ranking


@dataclass(frozen=True)
class FixedRanking:
    """Returns the passages that are listed for a question, in that order.

    It knows only its questions, word for word; white space around them does not matter. Any other query is an error,
    since an empty list would count as a search that found nothing.
    """

    passage_ids: Mapping[str, Sequence[str]] = field(repr=False)
    """A question's text to its passages, best first, no passage twice."""

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return the first k passages listed for the question."""
        listed = self.passage_ids.get(query) or self.passage_ids.get(query.strip())
        if not listed:
            raise BadInputError(
                f"No passages are listed for the question {query!r}: ask one that has a list, in the same words."
            )
        return Ranking(Hit(passage_id, 1 / rank) for rank, passage_id in enumerate(listed, start=1)).top(k)
