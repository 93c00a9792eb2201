"""The questions on which the best method and the baseline disagree most, for a person to look at."""

import numpy as np

from triplebeam.evaluate.report.document import Cell, Column, Missing, Table
from triplebeam.evaluate.report.numbers import percent, points
from triplebeam.evaluate.report.scores import Scores

_MOST = 5


def disagreement_table(scores: Scores) -> Table | Missing:
    """The questions on which the best method and the baseline are furthest apart, some for each side."""
    title = "Questions to look at"
    if scores.leading is None or not scores.best:
        return Missing(title, "there is no method that is better than the baseline.")
    first, second = scores.values[scores.leading][0], scores.values[scores.leading][scores.best]
    if first is None or second is None:
        return Missing(title, f"the baseline has no {scores.leading}.")
    difference = np.nan_to_num(second - first)
    order = np.argsort(-np.abs(difference), kind="stable")
    gained = [int(place) for place in order if difference[place] > 0][:_MOST]
    lost = [int(place) for place in order if difference[place] < 0][:_MOST]
    if not gained and not lost:
        return Missing(title, "the best method and the baseline agree on every question.")
    baseline, best, questions = scores.labels[0], scores.labels[scores.best], scores.evaluation.questions
    return Table(
        caption=f"Where {best} and {baseline} disagree most",
        reading=f"{scores.leading} in per cent: first questions that {best} does better on, then those it does worse"
        " on. Looking at a few shows why a method gains or loses.",
        columns=(
            Column("Question id", kind="words"),
            Column(baseline),
            Column(best),
            Column("Difference"),
            Column("Question", kind="sentences"),
        ),
        rows=tuple(
            (
                Cell(questions[place].id),
                *(Cell(percent(value)) for value in (first[place], second[place])),
                Cell(points(difference[place])),
                Cell(questions[place].question),
            )
            for place in [*gained, *lost]
        ),
    )
