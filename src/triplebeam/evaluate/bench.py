"""Methods side by side on the same questions: recall, time and encodings."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder, Kind
from triplebeam.evaluate.questions import Question
from triplebeam.progress import Progress, silent
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever

CUTOFFS = (2, 5, 10, 15)


def recall(ranking: Ranking, gold: Sequence[str], k: int) -> float:
    """The share of the gold passages among the best k."""
    best = set(ranking.ids[:k])
    return sum(passage_id in best for passage_id in gold) / len(gold)


class CountingEmbedder:
    """Counts the texts another embedder encodes."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.encoded = 0

    @property
    def name(self) -> str:
        """The inner embedder's."""
        return self._inner.name

    @property
    def fingerprint(self) -> str:
        """The inner embedder's."""
        return self._inner.fingerprint

    @property
    def dimension(self) -> int:
        """The inner embedder's."""
        return self._inner.dimension

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """Encode and count."""
        self.encoded += len(texts)
        return self._inner.embed(texts, kind)


@dataclass(frozen=True, kw_only=True)
class MethodResult:
    """What a method reached, averaged over the questions."""

    method: str
    recall: dict[int, float]
    ms_per_question: float
    encodings_per_question: float
    questions: int
    rankings: list[Ranking] = field(repr=False)


def measure(
    method: str,
    retriever: Retriever,
    questions: Sequence[Question],
    encoded: Callable[[], int] = lambda: 0,
    progress: Progress = silent,
) -> MethodResult:
    """Ask every question once. ``encoded`` tells how many texts have been encoded so far."""
    # Warm: files are mapped, models loaded. The space keeps this query from being the first question's.
    retriever.retrieve(f"{questions[0].question} ", max(CUTOFFS))
    before, rankings, seconds = encoded(), [], 0.0
    for number, question in enumerate(questions, start=1):
        start = time.perf_counter()
        rankings.append(retriever.retrieve(question.question, max(CUTOFFS)))
        seconds += time.perf_counter() - start
        progress(method, number, len(questions))
    return MethodResult(
        method=method,
        recall={k: _mean_recall(rankings, questions, k) for k in CUTOFFS},
        ms_per_question=1000 * seconds / len(questions),
        encodings_per_question=(encoded() - before) / len(questions),
        questions=len(questions),
        rankings=rankings,
    )


def _mean_recall(rankings: Sequence[Ranking], questions: Sequence[Question], k: int) -> float:
    return float(
        np.mean([recall(found, question.gold, k) for found, question in zip(rankings, questions, strict=True)])
    )
