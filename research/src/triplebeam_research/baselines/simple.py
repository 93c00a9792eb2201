"""Baselines of a few lines: the lower and the upper bound of an evaluation, and title links alone.

The lower bound is that of GeAR's Table 3, "No Passages". Followed to the letter: the question alone, at most six words.
Ours: the model may say that it does not know, which counts as no answer, unless an experiment demands one. Title links
alone are ours, no paper's.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triplebeam.answer import Agent, Answer, Step
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import LanguageModel
from triplebeam.methods.shared.loop import Loop
from triplebeam.methods.shared.question_answering import Answerer, ClosedBookAnswerer
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.blend.links import TitleLinks
from triplebeam.retrieve.retriever import Retriever, retrieve_many

_NO_PASSAGES = "no passages were asked for"


@dataclass(frozen=True, kw_only=True)
class ClosedBook(Agent):
    """The model's answer to the question alone. Nothing is retrieved, so there are no steps and no ranking."""

    model: LanguageModel
    answerer: Answerer | None = None
    """By default the model may say that it does not know."""

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Take no steps, then answer."""
        yield from ()
        answerer = self.answerer or ClosedBookAnswerer(model=self.model)
        return Loop(question, ending=_NO_PASSAGES).conclude(lambda: answerer.answer(question, []))


@dataclass(frozen=True)
class FixedRanking:
    """Returns the passages that are listed for a question, in that order: the gold ones, or another system's results.

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


@dataclass(frozen=True, kw_only=True)
class TitleLink:
    """What the facts of another retriever's passages name, and nothing else."""

    base: Retriever
    links: TitleLinks
    embedder: Embedder = field(repr=False)

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return the k passages whose titles the best passages' triples name."""
        return self.retrieve_many([query], k)[0]

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        """Return the k passages for each query."""
        found = retrieve_many(self.base, queries, self.links.followed)
        vectors = self.embedder.embed(queries, kind="query")
        return [self._rank_named(*pair).top(k) for pair in zip(vectors, found, strict=True)]

    def _rank_named(self, vector: NDArray[np.float32], found: Ranking) -> Ranking:
        passages = self.links.passages
        rows = np.array([passages.row(passage_id) for passage_id in found.ids], np.int64)
        linked = self.links.follow(vector, rows, np.array([hit.score for hit in found]))
        ids = passages.ids([each.row for each in linked])
        return Ranking.of(
            Hit(id_, each.worth, self.links.chains(each), hops=(self.links.hop(each),))
            for id_, each in zip(ids, linked, strict=True)
        )
