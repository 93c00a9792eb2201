"""What a ranking or an answer is worth, one value per question.

Of rankings, each over the gold passages of a question: ``R@k`` is the share of them among the best k, ``All@k`` is 1
when they are all there, ``nDCG@k`` counts a gold passage less the lower it ranks (gain 1, discount log2 of rank + 1)
against the best order possible, ``MRR`` and ``MRR@k`` are 1 / the rank of the first. Where any of several passages is
enough for a part of the answer, the part counts once, where the first of them ranks.

Of answers: ``EM`` and ``F1`` of a short answer as SQuAD, HotpotQA, 2WikiMultiHopQA and MuSiQue count them. Both compare
normal forms: lower case, ASCII punctuation deleted (a hyphen joins its words, ``1,000`` is ``1000``), the words a, an
and the left out, white space folded. Nothing else is folded, as in the official scripts: a typographic dash or
quotation mark stays, accents stay, and ``2`` is not ``two``. Of several accepted answers the best one counts.

The official scripts differ twice. HotpotQA's and 2WikiMultiHopQA's give no partial credit where either side is yes, no
or noanswer; SQuAD's and MuSiQue's do, hence ``F1-partial``. Where both sides are empty, F1 is 1 in SQuAD 2.0's and
MuSiQue's and 0 in the others; here it is 1, so that F1 is never below Exact Match.

``Accuracy`` is for multiple choice: 1 when the answer names the right choice, by its text or by its letter.
``Judged`` is what a model said of the answer, and ``Graph`` is 1 when the question graph of an agent is that of the
dataset's evidences: both are put beside a result by the research package.

A run in a few numbers is its `summary`.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run
from triplebeam.text.names import strip_articles

_Measure: TypeAlias = Callable[[Question, QuestionResult], float]

_DELETED = str.maketrans("", "", string.punctuation)
_LETTER = re.compile(r"(?:option )?\(?([a-z])[).:]*", re.IGNORECASE)
_LETTER_AND_WORDS = re.compile(r"(?:option )?\(?([a-z])[).:]+\s.*", re.IGNORECASE | re.DOTALL)
_MIN_PREFIX_WORDS = 3
_ALL_OR_NOTHING = ("yes", "no", "noanswer")
_NAME = re.compile(r"(?P<kind>[A-Za-z]+)(?:@(?P<k>[1-9][0-9]*))?")


def values(name: str, questions: Sequence[Question], results: Sequence[QuestionResult]) -> NDArray[np.float64]:
    """Return one value per question, in order; NaN where the measure does not apply to it.

    A measure of rankings applies to a question with gold passages; one of answers to a question with accepted answers
    that the method was asked to answer; Accuracy also needs choices.
    """
    measure = _measure(name)
    return np.array(
        [measure(question, result) for question, result in pair_results(questions, results)], dtype=np.float64
    )


def pair_results(
    questions: Sequence[Question], results: Sequence[QuestionResult]
) -> Iterator[tuple[Question, QuestionResult]]:
    """Pair each question with its result; results of other questions, or in another order, are an error."""
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


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """Return 1 where the prediction is one of the accepted answers in normal form, else 0."""
    found = normalize_answer(prediction)
    return max(float(found == normalize_answer(answer)) for answer in _require_answers(answers))


def f1(prediction: str, answers: Sequence[str], *, partial_yes_no: bool = False) -> float:
    """Compute the harmonic mean of precision and recall over words, best over the accepted answers.

    ``partial_yes_no`` is off for HotpotQA and 2WikiMultiHopQA, and on to follow MuSiQue's and SQuAD's scripts.
    """
    found = normalize_answer(prediction)
    return max(_f1(found, normalize_answer(answer), partial_yes_no) for answer in _require_answers(answers))


def normalize_answer(text: str) -> str:
    """Normalize a text to compare it. Punctuation goes first: ``the.`` is an article, and ``A.`` too."""
    return strip_articles(text.lower().translate(_DELETED))


def _measure(name: str) -> _Measure:
    if name in _OF_ANSWERS:
        return _OF_ANSWERS[name]
    match = _NAME.fullmatch(name)
    if match is None or match["kind"] not in _OF_RANKINGS or (match["k"] is None and match["kind"] != "MRR"):
        raise BadInputError(
            f"There is no measure {name!r}: there are R@k, All@k, nDCG@k and MRR@k with a whole number from 1 on for k,"
            f" MRR, {', '.join(_OF_ANSWERS)}."
        )
    return partial(_of_ranking, _OF_RANKINGS[match["kind"]], math.inf if match["k"] is None else int(match["k"]))


def _of_ranking(
    measure: Callable[[list[int], int, float], float], k: float, question: Question, result: QuestionResult
) -> float:
    parts = question.groups or [(passage_id,) for passage_id in dict.fromkeys(question.gold)]
    if not parts:
        return math.nan
    ranks = {passage_id: rank for rank, passage_id in enumerate(dict.fromkeys(result.passage_ids), start=1)}
    best = [min(found) for part in parts if (found := [ranks[each] for each in part if each in ranks])]
    return measure(sorted(rank for rank in best if rank <= k), len(parts), k)


def _ndcg(ranks: list[int], gold: int, k: float) -> float:
    best = range(1, int(min(k, gold)) + 1)
    return min(1.0, _discount_ranks(ranks) / _discount_ranks(best))  # above 1 where one passage is enough for two parts


def _discount_ranks(ranks: Sequence[int]) -> float:
    return math.fsum(1 / math.log2(rank + 1) for rank in ranks)


def _of_answer(measure: Callable[[str, Sequence[str]], float], question: Question, result: QuestionResult) -> float:
    if not question.answers or result.answer is None:
        return math.nan
    return measure(result.answer, question.answers)


def _f1(found: str, answer: str, partial_yes_no: bool) -> float:
    if found == answer:
        return 1.0
    if not partial_yes_no and (found in _ALL_OR_NOTHING or answer in _ALL_OR_NOTHING):
        return 0.0
    found_words, answer_words = found.split(), answer.split()
    shared = (Counter(found_words) & Counter(answer_words)).total()
    return 2 * shared / (len(found_words) + len(answer_words))  # 2PR / (P + R), with P and R over the same count


def _require_answers(answers: Sequence[str]) -> Sequence[str]:
    if isinstance(answers, str) or not answers:
        raise BadInputError(f"A prediction is measured against a list of one or more answers, not {answers!r}.")
    return answers


def _accuracy(question: Question, result: QuestionResult) -> float:
    if not question.choices or not question.answers or result.answer is None:
        return math.nan
    right = {number for answer in question.answers for number in _find_named_choices(answer, question.choices)}
    if not right:
        raise BadInputError(
            f"None of the answers {question.answers!r} of question {question.id!r} is among its choices"
            f" {question.choices!r}: correct the question."
        )
    chosen = _find_named_choices(result.answer, question.choices)
    return float(bool(chosen) and right.issuperset(chosen))


def _find_named_choices(text: str, choices: Sequence[str]) -> list[int]:
    """Find the choices a text names: word for word, by letter (``B``, ``(b)``), in normal form, in which two choices
    may be the same, by letter and words (``B. By train``), or by the first words.
    """
    word_for_word = [number for number, choice in enumerate(choices) if choice == text]
    alike = [number for number, choice in enumerate(choices) if exact_match(text, [choice])]
    by_letter, by_letter_and_words = (_match_letter(form, text, len(choices)) for form in (_LETTER, _LETTER_AND_WORDS))
    return word_for_word or by_letter or alike or by_letter_and_words or _match_prefix(text, choices)


def _match_letter(form: re.Pattern[str], text: str, choices: int) -> list[int]:
    match = form.fullmatch(text.strip())
    number = string.ascii_lowercase.index(match[1].lower()) if match else choices
    return [number] if number < choices else []


def _match_prefix(text: str, choices: Sequence[str]) -> list[int]:
    """Match a choice by its beginning: some models keep to the six words of a short answer."""
    begun = [
        number for number, choice in enumerate(choices) if normalize_answer(choice).startswith(normalize_answer(text))
    ]
    return begun if len(begun) == 1 and len(text.split()) >= _MIN_PREFIX_WORDS else []


#: Each sees the ranks of the parts found among the best k, in order, and how many parts there are.
_OF_RANKINGS: dict[str, Callable[[list[int], int, float], float]] = {
    "R": lambda ranks, gold, _: len(ranks) / gold,
    "All": lambda ranks, gold, _: float(len(ranks) == gold),
    "nDCG": _ndcg,
    "MRR": lambda ranks, *_: 1 / ranks[0] if ranks else 0.0,
}
_OF_ANSWERS: dict[str, _Measure] = {
    "EM": partial(_of_answer, exact_match),
    "F1": partial(_of_answer, f1),
    "F1-partial": partial(_of_answer, partial(f1, partial_yes_no=True)),
    "Accuracy": _accuracy,
    "Judged": lambda _, result: math.nan if result.judged is None else result.judged,
    "Graph": lambda _, result: math.nan if result.graph_is_right is None else result.graph_is_right,
}


#: Measured where they apply, in the order they are shown.
MEASURES = ("R@2", "R@5", "R@10", "R@15", "All@5", "nDCG@10", "MRR", "EM", "F1", "Accuracy", "Judged", "Graph")
OF_ANSWERS = ("EM", "F1", "Accuracy", "Judged", "Graph")
Values = NDArray[np.float64]


def summary(evaluation: Evaluation, run: Run) -> dict[str, float | int | None]:
    """Summarize a run in a few numbers; measures as shares, time in milliseconds."""
    seconds = [result.seconds for result in run.results]
    return {
        **{name: round(float(np.nanmean(found)), 4) for name, found in measure_all(evaluation, run).items()},
        "ms_p50": _percentile(seconds, 50),
        "ms_mean": round(1000 * float(np.mean(seconds)), 2) if any(seconds) else None,
        "ms_p95": _percentile(seconds, 95),
        "encodings": round(float(np.mean([result.encodings for result in run.results])), 1),
        "calls": round(float(np.mean([result.usage.all_calls for result in run.results])), 2),
        "tokens": round(float(np.mean([result.usage.all_tokens for result in run.results])), 1),
        "dollars": None if run.dollars is None else round(run.dollars / len(run.results), 6),
        "questions": len(run.results),
    }


def measure_all(evaluation: Evaluation, run: Run) -> dict[str, Values]:
    """Return each measure that applies, question by question."""
    found = {name: measure_run(name, evaluation, run) for name in MEASURES}
    return {name: each for name, each in found.items() if each is not None}


def _percentile(seconds: Sequence[float], share: int) -> float | None:
    """Return a percentile in milliseconds; None where nothing was timed, as in another system's run."""
    return round(1000 * float(np.percentile(seconds, share)), 2) if any(seconds) else None


def measure_run(measure: str, evaluation: Evaluation, run: Run) -> Values | None:
    """Return one value per question; None where the measure does not apply to the run."""
    # A method that only answers has no recall: 0 would be unfair.
    has_answers = any(result.answer is not None for result in run.results)
    if measure not in OF_ANSWERS and has_answers and not any(result.passage_ids for result in run.results):
        return None
    found = values(measure, evaluation.questions, run.results)
    return None if np.isnan(found).all() else found
