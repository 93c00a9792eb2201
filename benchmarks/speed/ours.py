"""Our search, method by method: one question at a time with its parts, and many at once."""

from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from speed.clock import PARTS, Clock, RecordingEmbedder, clocked, seconds
from triplebeam import assemble
from triplebeam.embed.embedder import Embedder
from triplebeam.retrieve.retriever import BatchRetriever, retrieve_many

METHODS = (
    "bm25",
    "dense",
    "hybrid",
    "hybrid+naive_ge[scorer=pooled]",
    "hybrid+naive_ge",
    "hybrid+naive_ge[scorer=exact]",
    "dense+gnn_ret",
    "scaled_hybrid+gnn_ret",
    "hipporag[entities=verbatim]",
    "hipporag2",
    "title_link",
    "blend",
)
K = 10
#: Exact searches behind a method's questions.
_YARDSTICKS = 10
#: How often many questions at once are compared with one at a time, in turn.
_COMPARISONS = 5


@dataclass(frozen=True)
class Measured:
    """One method over all questions: seconds each."""

    walls: list[float]
    encoding: list[float]
    parts: dict[str, float]
    yardstick: float
    """One exact NumPy search over the triples' vectors, in the same minute."""
    encoded_at_once: float
    """Everything that was encoded, encoded again in one call."""

    @property
    def rest(self) -> float:
        """A question's median time without encoding."""
        return median(wall - spent for wall, spent in zip(self.walls, self.encoding, strict=True))

    def cells(self) -> list[float]:
        """Milliseconds: p50, p95, and the mean of each part and of what is left."""
        means = [self.parts.get(part, 0.0) / len(self.walls) for part in PARTS]
        other = sum(self.walls) / len(self.walls) - sum(means)
        p95 = sorted(self.walls)[int(0.95 * (len(self.walls) - 1))]
        return [1000 * cell for cell in (median(self.walls), p95, *means, other)]


def exact_search(collection: assemble.Index, question: str) -> float:
    """Seconds of one exact dense search over the triples' vectors, plainly in NumPy."""
    everything = np.arange(len(assemble.context_of(collection).triples))
    vectors, (query,) = (
        assemble.context_of(collection).triples.vectors(everything),
        assemble.context_of(collection).embedder.embed([question], kind="query"),
    )
    runs = [seconds(lambda: np.argpartition(-(vectors @ query), K)[:K]) for _ in range(_YARDSTICKS)]
    return median(runs)


def measure(index: Path, embedder: Embedder, method: str, questions: list[str]) -> Measured:
    """Ask the questions one at a time, the last of them first, to map files and make matrices."""
    recording = RecordingEmbedder(embedder)
    with clocked() as clock:
        # A collection of its own, so that no method finds a question already encoded by another.
        collection = assemble.open_index(index, embedder=recording)
        _ask(collection, method, questions[-1], clock)
        recording.texts.clear()
        clock.seconds.clear()
        asked = [_ask(collection, method, question, clock) for question in questions[:-1]]
        parts, texts = dict(clock.seconds), list(recording.texts)
    return Measured(
        walls=[wall for wall, _ in asked],
        encoding=[encoding for _, encoding in asked],
        parts=parts,
        yardstick=exact_search(collection, questions[0]),
        encoded_at_once=seconds(lambda: embedder.embed(texts)),
    )


def _ask(collection: assemble.Index, method: str, question: str, clock: Clock) -> tuple[float, float]:
    retriever, before = collection.retriever(method), clock.seconds["encoding"]

    def search() -> None:
        for hit in retriever.retrieve(question, K):
            collection.passages[hit.passage_id]

    return seconds(search), clock.seconds["encoding"] - before


def speed_up_of_many(collection: assemble.Index, method: str, questions: list[str]) -> float | None:
    """How many times faster `retrieve_many` is than one at a time, questions encoded already; None: it has no way."""
    retriever = collection.retriever(method)
    if not isinstance(retriever, BatchRetriever):
        return None
    retrieve_many(retriever, questions, K)  # questions and clauses are in the embedder's cache from now on
    return median(
        seconds(lambda: [retriever.retrieve(question, K) for question in questions])
        / seconds(lambda: retrieve_many(retriever, questions, K))
        for _ in range(_COMPARISONS)
    )
