"""Do I need a graph? A recommendation from measured runs, which may be "no".

The best graph method is compared with the best method without a graph, question by question. It is worth its cost where
it finds significantly more; it is not where a gain of ``MIN_GAIN`` can be ruled out; between the two the questions
cannot say, and how many could is estimated. Of methods that are equally good the fastest is recommended.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.evaluate.compare import MAX_P_VALUE, Difference, compare_paired, holm
from triplebeam.evaluate.measures import values
from triplebeam.evaluate.questions import SYNTHETIC
from triplebeam.evaluate.run import Evaluation, Run
from triplebeam.text.phrases import format_count, join_names, milliseconds, points, probability

Need: TypeAlias = Literal["yes", "no", "cannot tell"]

#: A gain in recall below this is not worth a graph.
MIN_GAIN = 0.02
#: With fewer questions than this nothing is concluded.
MIN_QUESTIONS = 20
#: How much less a method may find, measured, and still count as equally good.
_MAX_LOSS = 0.005


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """Whether a graph is needed, what to use, and why."""

    need: Need
    use: str
    measure: str
    plain: str
    graph: str
    difference: Difference
    """The best graph method's gain over the best without one; its p-value is adjusted for how many were tried."""
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.sentences)


def can_recommend(evaluation: Evaluation) -> bool:
    """Return whether methods with and without a graph were measured, on questions with gold passages."""
    return {True, False} <= {run.graph for run in evaluation.runs} and any(each.gold for each in evaluation.questions)


def recommend(evaluation: Evaluation, k: int = 5, default: str = "") -> Recommendation:
    """Weigh the methods that only retrieve; agents answer another question, and cost calls.

    Where the ``default`` method was measured and finds less than the best plain one, it says so.
    """
    measure = f"R@{k}"
    plain = [run for run in evaluation.runs if run.graph is False]
    graph = [run for run in evaluation.runs if run.graph is True]
    if not plain or not graph:
        missing = "a graph" if plain else "no graph"
        raise BadInputError(f"cannot say whether a graph is needed: no method with {missing} was measured.")
    found = {run.method: values(measure, evaluation.questions, run.results) for run in [*plain, *graph]}
    best_plain, best_graph = _choose_best(plain, found), _choose_best(graph, found)
    difference = _adjust_gain(found, best_plain, best_graph, graph)
    need = _need(difference)
    use = _choose_fastest(best_graph if need == "yes" else best_plain, graph if need == "yes" else plain, found)
    return Recommendation(
        need=need,
        use=use.method,
        measure=measure,
        plain=best_plain.method,
        graph=best_graph.method,
        difference=difference,
        sentences=(
            _verdict(need, use, best_plain, best_graph),
            *_default_is_worse(measure, default, use, best_plain, found),
            _gain(measure, difference, best_plain, best_graph, len(graph)),
            _cost(best_plain, best_graph),
            *_synthetic(evaluation),
            *_suggest_questions(need, difference, found[best_graph.method] - found[best_plain.method]),
        ),
    )


def _choose_best(runs: Sequence[Run], found: dict[str, NDArray[np.float64]]) -> Run:
    return max(runs, key=lambda run: (float(np.nanmean(found[run.method])), -run.median_seconds))


def _adjust_gain(found: dict[str, NDArray[np.float64]], plain: Run, best: Run, graph: Sequence[Run]) -> Difference:
    """Return the best graph method's gain. Picking the best of many calls for a stricter p-value (Holm)."""
    differences = {run.method: compare_paired(found[plain.method], found[run.method]) for run in graph}
    p_values = dict(zip(differences, holm([each.p_value for each in differences.values()]), strict=True))
    return replace(differences[best.method], p_value=p_values[best.method])


def _need(gain: Difference) -> Need:
    if gain.questions < MIN_QUESTIONS:
        return "cannot tell"
    if gain.p_value < MAX_P_VALUE and gain.mean > 0:
        return "yes"
    return "no" if gain.high < MIN_GAIN else "cannot tell"


def _choose_fastest(best: Run, group: Sequence[Run], found: dict[str, NDArray[np.float64]]) -> Run:
    def is_as_good(run: Run) -> bool:
        loss = compare_paired(found[run.method], found[best.method])
        return loss.mean < _MAX_LOSS and loss.p_value >= MAX_P_VALUE

    return min((run for run in group if run is best or is_as_good(run)), key=lambda run: run.median_seconds)


def _default_is_worse(
    measure: str, default: str, use: Run, plain: Run, found: dict[str, NDArray[np.float64]]
) -> list[str]:
    """Report a loss that would matter. Advise another method only where chance does not explain the loss."""
    if default not in found:
        return []
    loss = compare_paired(found[plain.method], found[default])
    if loss.mean > -MIN_GAIN:
        return []
    advice = (
        f"use --method {use.method}"
        if loss.p_value < MAX_P_VALUE
        else "this can be chance, so keep the default or measure on more questions"
    )
    return [
        f"The default, {default}, is {-100 * loss.mean:.1f} points {measure} worse than {plain.method} on your"
        f" questions (95 % between {points(loss.low)} and {points(loss.high)}; {probability(loss.p_value)}): {advice}."
    ]


def _verdict(need: Need, use: Run, plain: Run, graph: Run) -> str:
    match need:
        case "yes":
            return f"Yes, a graph helps here: use {use.method}."
        case "no":
            return f"No, you do not need a graph here: use {use.method}."
        case _:
            return f"These questions cannot say whether a graph helps: {graph.method} or {plain.method} may be better."


def _gain(measure: str, gain: Difference, plain: Run, graph: Run, tried: int) -> str:
    adjusted = f", adjusted for the {tried} graph methods tried" if tried > 1 else ""
    return (
        f"Over {format_count(gain.questions, 'question')}, {graph.method} differs from {plain.method} by"
        f" {points(gain.mean)} points {measure} (95 % between {points(gain.low)} and {points(gain.high)};"
        f" {probability(gain.p_value)}{adjusted})."
    )


def _cost(plain: Run, graph: Run) -> str:
    before, after = plain.median_seconds, graph.median_seconds
    times = f", {after / before:.1f} times as long" if before > 0 else ""
    batched = [run.method for run in (graph, plain) if run.batched]
    how = f" ({join_names(batched)} in batches: a question alone takes longer)" if batched else ""
    return f"A question takes {milliseconds(after)} ms with it and {milliseconds(before)} ms without{times}{how}."


def _synthetic(evaluation: Evaluation) -> list[str]:
    made = sum(question.type == SYNTHETIC for question in evaluation.questions)
    if not made:
        return []
    return [
        f"{made} of the questions are synthetic: written from the index's own triples, they favour methods that walk"
        " them. Ask questions of your users before you decide."
    ]


def _suggest_questions(need: Need, gain: Difference, each: NDArray[np.float64]) -> list[str]:
    if need != "cannot tell":
        return []
    if gain.questions < MIN_QUESTIONS:
        return [f"From fewer than {MIN_QUESTIONS} questions nothing is concluded: ask more."]
    spread = float(np.nanstd(each))
    # The textbook size of a paired comparison: 5 % significance, 80 % power.
    enough = math.ceil(((1.96 + 0.84) * spread / MIN_GAIN) ** 2)
    if enough <= gain.questions:
        return []
    return [f"To detect a gain of {100 * MIN_GAIN:.1f} points, measure on about {enough:,} questions."]
