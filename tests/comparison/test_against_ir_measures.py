"""Measures of rankings against those behind ir-measures, on random runs.

ir-measures collects other people's implementations: MS MARCO's script for the reciprocal rank, and, where pytrec_eval
is installed, trec_eval for all measures.

Scores handed over fall with the rank, so that no tie is broken by anyone's rule.
"""

import numpy as np
import pytest

from triplebeam.evaluate.measures import values
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult

ir_measures = pytest.importorskip(
    "ir_measures", reason="ir-measures is not installed: pip install --no-deps ir-measures"
)

CUTOFFS = (1, 2, 5, 10, 15, 100)
CORPUS = np.array([f"p{number}" for number in range(40)])


def random_run(seed: int) -> tuple[list[Question], list[QuestionResult]]:
    """Rankings of none to 30 of 40 passages, with one to twelve of them gold."""
    generator = np.random.default_rng(seed)
    gold = [tuple(generator.permutation(CORPUS)[: generator.integers(1, 13)].tolist()) for _ in range(100)]
    found = [tuple(generator.permutation(CORPUS)[: generator.integers(0, 31)].tolist()) for _ in range(100)]
    return (
        [Question(id=str(number), question="?", gold=each) for number, each in enumerate(gold)],
        [QuestionResult(question_id=str(number), passage_ids=each) for number, each in enumerate(found)],
    )


QUESTIONS, RESULTS = random_run(17)
GOLD = np.array([len(question.gold) for question in QUESTIONS])


def theirs(provider: str, measure: object) -> np.ndarray:
    """One value a question."""
    evaluator = getattr(ir_measures, provider)
    if not evaluator.is_available():
        pytest.skip(f"what ir-measures needs for {provider} is not installed")
    judged = [
        ir_measures.Qrel(question.id, passage_id, int(passage_id in question.gold))
        for question in QUESTIONS
        for passage_id in CORPUS.tolist()
    ]
    scored = [
        ir_measures.ScoredDoc(result.question_id, passage_id, -float(rank))
        for result in RESULTS
        for rank, passage_id in enumerate(result.passage_ids)
    ]
    found = {each.query_id: float(each.value) for each in evaluator.iter_calc([measure], judged, scored)}
    return np.array([found[question.id] for question in QUESTIONS])


def ours(name: str) -> np.ndarray:
    return values(name, QUESTIONS, RESULTS)


@pytest.mark.parametrize("k", CUTOFFS)
class TestAtEveryCutoff:
    def test_reciprocal_rank_of_ms_marco(self, k: int) -> None:
        assert ours(f"MRR@{k}") == pytest.approx(theirs("msmarco", ir_measures.RR @ k))

    def test_trec_eval(self, k: int) -> None:
        recall = theirs("pytrec_eval", ir_measures.R @ k)
        assert ours(f"R@{k}") == pytest.approx(recall)
        assert ours(f"All@{k}").tolist() == (recall == 1).tolist()
        assert ours(f"nDCG@{k}") == pytest.approx(theirs("pytrec_eval", ir_measures.nDCG @ k))


@pytest.mark.parametrize("provider", ["msmarco", "pytrec_eval"])
def test_reciprocal_rank_without_a_cutoff(provider: str) -> None:
    assert ours("MRR") == pytest.approx(theirs(provider, ir_measures.RR))


def test_the_runs_hold_every_case() -> None:
    """Nothing found, some found, all found, more gold than k, no ranking: or the comparison would show little."""
    assert {0.0, 1.0} < set(ours("R@15").tolist())
    assert ours("All@15").any()
    assert GOLD.max() > 10
    assert not all(result.passage_ids for result in RESULTS)
