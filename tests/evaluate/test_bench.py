"""Measuring: recall by hand, and encodings counted as they are."""

import pytest

from triplebeam.assemble import Collection
from triplebeam.embed.embedder import Embedder
from triplebeam.evaluate.bench import CountingEmbedder, measure, recall
from triplebeam.evaluate.questions import Question
from triplebeam.index.opened import Index
from triplebeam.ranking import Hit, Ranking
from triplebeam.settings import Settings

RANKING = Ranking(Hit(id_, 1 / rank) for rank, id_ in enumerate("abcdef", start=1))
QUESTIONS = [
    Question(id="1", question="Laughter in Hell", gold=("film", "director")),
    Question(id="2", question="Great Lakes", gold=("lake",)),
]


class Fixed:
    def retrieve(self, query: str, k: int = 10) -> Ranking:
        return RANKING.top(k)


@pytest.mark.parametrize(
    ("gold", "k", "expected"), [("a", 1, 1), ("ab", 1, 0.5), ("bz", 6, 0.5), ("z", 6, 0), ("abc", 2, 2 / 3)]
)
def test_recall_is_the_share_of_gold_among_the_best(gold: str, k: int, expected: float) -> None:
    assert recall(RANKING, tuple(gold), k) == pytest.approx(expected)


def test_averages_over_questions() -> None:
    questions = [Question(id="1", question="?", gold=("a", "f")), Question(id="2", question="?", gold=("c",))]
    seen: list[tuple[str, int, int]] = []
    result = measure("fixed", Fixed(), questions, progress=lambda *each: seen.append(each))
    assert result.recall == pytest.approx({2: 0.25, 5: 0.75, 10: 1.0, 15: 1.0})
    assert (result.questions, result.encodings_per_question) == (2, 0)
    assert result.rankings == [RANKING, RANKING]
    assert seen == [("fixed", 1, 2), ("fixed", 2, 2)]


@pytest.mark.parametrize(("method", "encodings"), [("bm25", 0), ("dense", 1), ("hybrid+naive_ge[scorer=pooled]", 1)])
def test_a_question_is_encoded_once_and_counted(world: Index, words: Embedder, method: str, encodings: int) -> None:
    """Also the first, though the method was warmed, and though several of its parts ask for the same vector."""
    counting = CountingEmbedder(words)
    retriever = Collection(world, Settings(), counting).retriever(method)
    assert measure(method, retriever, QUESTIONS, lambda: counting.encoded).encodings_per_question == encodings


def test_chains_are_counted_too(world: Index, words: Embedder) -> None:
    counting = CountingEmbedder(words)
    retriever = Collection(world, Settings(), counting).retriever("hybrid+naive_ge[scorer=exact,width=3]")
    assert measure("exact", retriever, QUESTIONS, lambda: counting.encoded).encodings_per_question > 1
