"""The results of a search, the same for every interface.

What explains a result (its chains, its snippet) takes about a quarter of the time of a search: it is computed for all
results together, when it is first read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

from triplebeam.index.source import Source
from triplebeam.passage import Passage
from triplebeam.ranking import Hit
from triplebeam.text.terms import query_stems, query_words, text_words
from triplebeam.triple import Chain

if TYPE_CHECKING:
    from triplebeam.explain.explanation import Explained
    from triplebeam.explain.snippet import Snippet


class Explanations:
    """What explains the hits of a question, once it is asked for; results share it, and so keep the source open."""

    def __init__(self, source: Source, question: str, hits: Sequence[Hit], passages: Sequence[Passage]) -> None:
        self._hits: tuple[Source, str, Sequence[Hit], Sequence[Passage]] | None = (source, question, hits, passages)
        self._explained: list[Explained] = []

    def compute(self) -> "list[Explained]":
        """Return one per hit."""
        from triplebeam.explain.explanation import explain_hits  # imported when it is needed

        if hits := self._hits:
            self._explained = explain_hits(*hits)
            self._hits = None
        return self._explained

    def __getstate__(self) -> dict[str, object]:
        """Leave out the index, so that results can be copied and pickled."""
        return {"_explained": self.compute(), "_hits": None}


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """A passage that a search returned, and why."""

    rank: int
    """From 1."""
    score: float
    """Comparable within one search."""
    passage: Passage
    ranks: Mapping[str, int] = field(hash=False)
    """Its rank in each list that `blend` fuses; empty for other methods."""
    _explanations: Explanations = field(compare=False)

    @property
    def chains(self) -> tuple[Chain, ...]:
        """The chains of triples that explain why the passage was returned; empty if none does."""
        return self._explained.chains

    @property
    def snippet(self) -> "Snippet":
        """The part of the passage that matches best, and where in it the matches are."""
        return self._explained.snippet

    @property
    def stemmer(self) -> str:
        """The stemmer of the passage's language."""
        return self._explained.stemmer

    @property
    def like(self) -> str | None:
        """The id of the first passage above it with nearly the same text."""
        return self._explained.like

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON values, as ``triplebeam search --json`` prints them."""
        from triplebeam.explain.passages import place_dict  # imported when it is needed

        return {
            **place_dict(self.passage),
            "score": self.score,
            "snippet": {"text": self.snippet.text, "highlights": list(self.snippet.highlights)},
            "chains": [list(chain) for chain in self.chains],
            **({"found_by": dict(self.ranks)} if self.ranks else {}),
            **({"like": self.like} if self.like is not None else {}),
        }

    @property
    def _explained(self) -> "Explained":
        return self._explanations.compute()[self.rank - 1]

    def __repr__(self) -> str:
        """One line."""
        return (
            f"SearchResult(rank={self.rank}, score={self.score:.4f}, title={self.passage.title!r},"
            f" passage_id={self.passage.id!r})"
        )


class SearchResults(Sequence[SearchResult]):
    """The passages that a search returned, best first."""

    def __init__(self, source: Source, question: str, method: str, hits: Iterable[Hit]) -> None:
        """Look up the passages of a ranking."""
        self.question, self.method = question, method
        hits = list(hits)
        passages = [source.passages[hit.passage_id] for hit in hits]
        self._explanations = Explanations(source, question, hits, passages)
        self._results = tuple(
            SearchResult(
                rank=rank,
                score=hit.score,
                passage=passage,
                ranks=dict(hit.found_by),
                _explanations=self._explanations,
            )
            for rank, (hit, passage) in enumerate(zip(hits, passages, strict=True), 1)
        )

    @property
    def ids(self) -> list[str]:
        """The ids of the passages, best first."""
        return [result.passage.id for result in self]

    @property
    def remark(self) -> str:
        """What to know if passages were found by no word of the question; empty if some were, and for dense search,
        which needs no words.
        """
        if not self or self.method.startswith("dense"):
            return ""
        if len(query_words(f"{self.question} 0")) == 1:  # function words are left out only where there is another word
            return 'The question has no words other than such as "who" and "is"; these passages may be irrelevant.'
        if any(_has_word(self.question, each.passage, each.stemmer) for each in self):
            return ""
        return "No word of the question occurs in these passages; they may be irrelevant."

    def to_dict(self) -> dict[str, object]:
        """Return them as JSON values, as ``triplebeam search --json`` prints them."""
        passages = [result.to_dict() for result in self]
        written: dict[str, object] = {"question": self.question, "method": self.method, "passages": passages}
        return {**written, "remark": self.remark} if self.remark else written

    def explain(self) -> None:
        """Compute what explains the results now, not when it is first read."""
        self._explanations.compute()

    @overload
    def __getitem__(self, index: int) -> SearchResult: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SearchResult, ...]: ...
    def __getitem__(self, index: int | slice) -> SearchResult | tuple[SearchResult, ...]:
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SearchResults) and self._results == other._results

    def __hash__(self) -> int:
        return hash(self._results)

    def __repr__(self) -> str:
        return f"SearchResults({list(self._results)!r})"


def _has_word(question: str, passage: Passage, stemmer: str) -> bool:
    """Return whether they share a word, as the term index compares them?"""
    wanted = {stem for stems in query_stems(question, [stemmer]) for stem in stems.values()}
    return not wanted.isdisjoint(text_words(passage.term_text, stemmer))
