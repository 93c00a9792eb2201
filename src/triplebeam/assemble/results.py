"""What a search returns: a ranking whose hits carry their passages."""

from collections.abc import Iterator
from typing import overload

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


class Results(Ranking):
    """The hits of one search with their texts, best first."""

    __slots__ = ()

    @classmethod
    def over(cls, ranking: Ranking, passages: Passages) -> "Results":
        """A ranking with the passages looked up."""
        return cls(Result.of(hit, passages[hit.passage_id]) for hit in ranking)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Ranking: ...
    def __getitem__(self, index: int | slice) -> Result | Ranking:
        return super().__getitem__(index)  # type: ignore[return-value]

    def __iter__(self) -> Iterator[Result]:
        return super().__iter__()  # type: ignore[return-value]
