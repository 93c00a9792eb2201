"""Every method against the baseline and against the best: in words, as a figure, and question by question."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from triplebeam.evaluate import compare
from triplebeam.evaluate.compare import MAX_P_VALUE, Difference
from triplebeam.text.phrases import format_count, percent, points, probability
from triplebeam_research.report.plots import difference_plot
from triplebeam_research.report.tables import Best, Block, Missing, Scores

_NEITHER = "no clear difference"
_MAX_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A run against another, its p-value adjusted for all comparisons beside it."""

    place: int
    measure: str
    difference: Difference
    adjusted: float

    @property
    def verdict(self) -> str:
        """``better``, ``worse``, or neither."""
        if self.adjusted >= MAX_P_VALUE or self.difference.mean == 0:
            return _NEITHER
        return "better" if self.difference.mean > 0 else "worse"

    @property
    def words(self) -> str:
        """``+4.1 points R@5, between +2.2 and +6.0, p < 0.001: significant``."""
        low, high = points(self.difference.low), points(self.difference.high)
        significant = "not significant" if self.verdict == _NEITHER else "significant"
        return (
            f"{points(self.difference.mean)} points {self.measure}, between {low} and {high},"
            f" {probability(self.adjusted)}: {significant}"
        )


def comparisons(scores: Scores, measure: str, other: int) -> list[Comparison]:
    """Compare every run that has the measure with the one at ``other``, in the runs' order, adjusted together."""
    all_values = scores.values[measure]
    reference = all_values[other]
    if reference is None:
        return []
    found = []
    for place, values in enumerate(all_values):
        if place != other and values is not None:
            both = ~(np.isnan(values) | np.isnan(reference))
            if np.count_nonzero(both) > 1:
                found.append((place, compare.compare_paired(reference[both], values[both])))
    adjusted = compare.holm([difference.p_value for _, difference in found])
    return [
        Comparison(place=place, measure=measure, difference=difference, adjusted=p_value)
        for (place, difference), p_value in zip(found, adjusted, strict=True)
    ]


def difference_tables(scores: Scores) -> list[Block | Missing]:
    """Compare with the baseline and with the best of each measure: the leading one, and F1 where answers were given."""
    if len(scores.labels) < 2:
        return [Missing("Differences", "only one method was run.")]
    tables: list[Block | Missing] = []
    for measure in dict.fromkeys(name for name in (scores.leading, "F1") if name in scores.values):
        best = int(np.nanargmax(scores.means(measure)))
        for role, other in {"baseline": 0, "best": best}.items():
            found = comparisons(scores, measure, other)
            if found and (role, other) != ("best", 0):
                tables.append(_table(scores, measure, role, scores.labels[other], found))
    return tables or [Missing("Differences", "no two methods have a measure in common on at least two questions.")]


def _table(scores: Scores, measure: str, role: str, name: str, found: Sequence[Comparison]) -> Block:
    return Block(
        caption=f"{measure} against the {role}, {name}",
        reading=f"Each row compares a method with {name} on the same"
        f" {format_count(found[0].difference.questions, 'question')}, in percentage points; where the interval contains"
        f" 0, chance could explain the difference. p is adjusted by Holm's method for the"
        f" {format_count(len(found), 'comparison')} of this table; below {MAX_P_VALUE} is called significant."
        + (" The best was picked by these same numbers, which flatters it a little." if role == "best" else ""),
        columns=("Method", "Verdict", "Difference, 95 % interval and adjusted p-value"),
        rows=[
            (scores.labels[line.place], line.verdict if line.verdict == _NEITHER else Best(line.verdict), line.words)
            for line in found
        ],
    )


def difference_figure(scores: Scores) -> list[Block]:
    """Plot every method against the baseline, as intervals; nothing where the tables of differences are missing too."""
    found = comparisons(scores, scores.leading, 0) if scores.leading else []
    if not found:
        return []
    return [
        Block(
            caption=f"Gains and losses in {scores.leading} over the baseline, {scores.labels[0]}",
            reading="The mark is the mean difference over the same questions, the bar its 95 % interval. Right of the"
            " line at 0 is better than the baseline; a bar that crosses it could be chance.",
            draw=partial(
                difference_plot,
                rows=[(line.place, scores.labels[line.place], line.difference) for line in found],
                value_name="Difference (points)",
            ),
        )
    ]


def disagreement_table(scores: Scores) -> Block | Missing:
    """List the questions on which the best method and the baseline are furthest apart, some for each side."""
    title = "Questions to look at"
    if scores.leading is None or not scores.best:
        return Missing(title, "no method is better than the baseline.")
    first, second = scores.values[scores.leading][0], scores.values[scores.leading][scores.best]
    if first is None or second is None:
        return Missing(title, f"the baseline has no {scores.leading}.")
    difference = np.nan_to_num(second - first)
    order = np.argsort(-np.abs(difference), kind="stable")
    gained = [int(place) for place in order if difference[place] > 0][:_MAX_SHOWN]
    lost = [int(place) for place in order if difference[place] < 0][:_MAX_SHOWN]
    if not gained and not lost:
        return Missing(title, "the best method and the baseline agree on every question.")
    baseline, best, questions = scores.labels[0], scores.labels[scores.best], scores.evaluation.questions
    return Block(
        caption=f"Where {best} and {baseline} disagree most",
        reading=f"{scores.leading} in per cent: first questions on which {best} does better, then those on which it"
        " does worse. Looking at a few shows why a method gains or loses.",
        columns=("Question id", baseline, best, "Difference", "Question"),
        rows=[
            (
                questions[place].id,
                percent(first[place]),
                percent(second[place]),
                points(difference[place]),
                questions[place].question,
            )
            for place in [*gained, *lost]
        ],
    )
