"""What a ranking or an answer is worth, one value a question.

Of rankings, each over the gold passages of a question: ``R@k`` is the share of them among the best k, ``All@k`` is 1
when they are all there, ``nDCG@k`` counts a gold passage less the lower it stands (gain 1, discount log2 of rank + 1)
against the best order possible, ``MRR`` and ``MRR@k`` are 1 / the rank of the first.

Of answers: ``EM`` and ``F1`` as in `answer_measures`, which also says why there is an ``F1-partial``: it gives partial
credit for yes and no, as the scripts of MuSiQue and SQuAD do. ``Accuracy`` is for multiple choice: 1 when the answer
names the right choice, by its text and not by a letter. ``Judged`` is what a model said of the answer (`judge`).
"""

import difflib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.evaluate.answer_measures import exact_match, f1
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult

_Measure: TypeAlias = Callable[[Question, QuestionResult], float]

_NAME = re.compile(r"(?P<kind>[A-Za-z]+)(?:@(?P<k>[1-9][0-9]*))?")


def values(name: str, questions: Sequence[Question], results: Sequence[QuestionResult]) -> NDArray[np.float64]:
    """One value a question, in order; NaN where the measure does not apply to it.

    A measure of rankings applies to a question with gold passages; one of answers to a question with accepted answers
    that the method was asked to answer; Accuracy, besides, to one with choices.
    """
    measure = _measure(name)
    return np.array([measure(question, result) for question, result in paired(questions, results)], dtype=np.float64)


def paired(
    questions: Sequence[Question], results: Sequence[QuestionResult]
) -> Iterator[tuple[Question, QuestionResult]]:
    """Each question with its result; results of other questions, or in another order, are an error."""
    if len(questions) != len(results):
        raise BadInputError(
            f"There are {len(results)} results for {len(questions)} questions: measure a run on the questions it was"
            " made with."
        )
    for number, (question, result) in enumerate(zip(questions, results, strict=True), start=1):
        if question.id != result.question_id:
            raise BadInputError(
                f"Result {number} is for question {result.question_id!r}, where {question.id!r} is expected: measure a"
                " run on the questions it was made with, in their order."
            )
        yield question, result


def _measure(name: str) -> _Measure:
    if name in _OF_ANSWERS:
        return _OF_ANSWERS[name]
    match = _NAME.fullmatch(name)
    if match is None or match["kind"] not in _OF_RANKINGS or (match["k"] is None and match["kind"] != "MRR"):
        raise BadInputError(
            f"There is no measure {name!r} (did you mean {_nearest(name)!r}?): there are R@k, All@k, nDCG@k and MRR@k"
            f" with a whole number from 1 on for k, MRR, {', '.join(_OF_ANSWERS)}."
        )
    return partial(_of_ranking, _OF_RANKINGS[match["kind"]], math.inf if match["k"] is None else int(match["k"]))


def _nearest(name: str) -> str:
    said, _, cutoff = name.lower().partition("@")
    meant = _SPOKEN[difflib.get_close_matches(said, _SPOKEN, n=1, cutoff=0.0)[0]]
    if meant not in _OF_RANKINGS or (meant == "MRR" and not cutoff):
        return meant
    return f"{meant}@{int(cutoff) if cutoff.isdecimal() and int(cutoff) else 5}"


def _of_ranking(
    measure: Callable[[list[int], int, float], float], k: float, question: Question, result: QuestionResult
) -> float:
    gold = dict.fromkeys(question.gold)
    if not gold:
        return math.nan
    ranks = {passage_id: rank for rank, passage_id in enumerate(dict.fromkeys(result.passage_ids), start=1)}
    found = [ranks[passage_id] for passage_id in gold if passage_id in ranks]
    return measure(sorted(rank for rank in found if rank <= k), len(gold), k)


# Each of the following sees the ranks of the gold passages among the best k, in order, and how many gold there are.


def _recall(ranks: list[int], gold: int, k: float) -> float:
    return len(ranks) / gold


def _all_found(ranks: list[int], gold: int, k: float) -> float:
    return float(len(ranks) == gold)


def _ndcg(ranks: list[int], gold: int, k: float) -> float:
    best = range(1, int(min(k, gold)) + 1)
    return _discounted(ranks) / _discounted(best)


def _discounted(ranks: Sequence[int]) -> float:
    return math.fsum(1 / math.log2(rank + 1) for rank in ranks)


def _reciprocal_rank(ranks: list[int], gold: int, k: float) -> float:
    return 1 / ranks[0] if ranks else 0.0


def _of_answer(measure: Callable[[str, Sequence[str]], float], question: Question, result: QuestionResult) -> float:
    if not question.answers or result.answer is None:
        return math.nan
    return measure(result.answer, question.answers)


def _accuracy(question: Question, result: QuestionResult) -> float:
    if not question.choices or not question.answers or result.answer is None:
        return math.nan
    right = {number for answer in question.answers for number in _named(answer, question.choices)}
    if not right:
        raise BadInputError(
            f"None of the answers {question.answers!r} of question {question.id!r} is among its choices"
            f" {question.choices!r}: correct the question."
        )
    chosen = _named(result.answer, question.choices)
    return float(bool(chosen) and right.issuperset(chosen))


def _judged(question: Question, result: QuestionResult) -> float:
    return math.nan if result.judged is None else result.judged


def _named(text: str, choices: Sequence[str]) -> list[int]:
    """The choices a text names: to the letter, or else in normal form, in which two choices may be the same."""
    to_the_letter = [number for number, choice in enumerate(choices) if choice == text]
    return to_the_letter or [number for number, choice in enumerate(choices) if exact_match(text, [choice])]


_OF_RANKINGS: dict[str, Callable[[list[int], int, float], float]] = {
    "R": _recall,
    "All": _all_found,
    "nDCG": _ndcg,
    "MRR": _reciprocal_rank,
}
_OF_ANSWERS: dict[str, _Measure] = {
    "EM": partial(_of_answer, exact_match),
    "F1": partial(_of_answer, f1),
    "F1-partial": partial(_of_answer, partial(f1, partial_yes_no=True)),
    "Accuracy": _accuracy,
    "Judged": _judged,
}
#: What people type for them, in lower case.
_SPOKEN = {name.lower(): name for name in (*_OF_RANKINGS, *_OF_ANSWERS)} | {
    "recall": "R",
    "rr": "MRR",
    "reciprocal_rank": "MRR",
    "exact_match": "EM",
    "acc": "Accuracy",
}
