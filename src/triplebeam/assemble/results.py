"""The result of a search: a ranking whose hits carry their passages."""

from triplebeam.passage import Passage, Passages
from triplebeam.ranking import Hit, Ranking


class Result(Hit):
    """A hit with its passage: ``score``, ``title``, ``text``, ``passage_id``, ``chains``. It equals the hit alone."""

    passage: Passage

    @classmethod
    def of(cls, hit: Hit, passage: Passage) -> "Result":
        """The hit, with its passage looked up."""
        result = cls(*hit)
        result.passage = passage
        return result

    @property
    def text(self) -> str:
        """The text of the passage."""
        return self.passage.text

    @property
    def title(self) -> str:
        """The title of the passage's document."""
        return self.passage.title

    def __repr__(self) -> str:
        """One line."""
        return f"Result(score={self.score:.4f}, title={self.title!r}, passage_id={self.passage_id!r})"


def with_passages(ranking: Ranking, passages: Passages) -> Ranking[Result]:
    """A ranking with its passages, each looked up once."""
    return Ranking(Result.of(hit, passages[hit.passage_id]) for hit in ranking)
