"""Every method against the baseline and against the best: in words, and as a figure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from triplebeam.evaluate import compare
from triplebeam.evaluate.compare import Difference
from triplebeam.evaluate.report.document import Cell, Column, Figure, Missing, Table
from triplebeam.evaluate.report.numbers import plural, points, points_on_axis, probability
from triplebeam.evaluate.report.plots.intervals import IntervalRow, interval_plot
from triplebeam.evaluate.report.scores import Scores

_SIGNIFICANT = 0.05


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
        if self.adjusted >= _SIGNIFICANT or self.difference.mean == 0:
            return "not told apart"
        return "better" if self.difference.mean > 0 else "worse"

    @property
    def words(self) -> str:
        """``+4.1 points R@5, between +2.2 and +6.0, p < 0.001: significant``."""
        low, high = points(self.difference.low), points(self.difference.high)
        significant = "not significant" if self.verdict == "not told apart" else "significant"
        return (
            f"{points(self.difference.mean)} points {self.measure}, between {low} and {high},"
            f" {probability(self.adjusted)}: {significant}"
        )


def comparisons(scores: Scores, measure: str, other: int) -> list[Comparison]:
    """Every run that has the measure against the one at ``other``, in the runs' order, adjusted together."""
    all_values = scores.values[measure]
    reference = all_values[other]
    if reference is None:
        return []
    found = []
    for place, values in enumerate(all_values):
        if place != other and values is not None:
            both = ~(np.isnan(values) | np.isnan(reference))
            if np.count_nonzero(both) > 1:
                found.append((place, compare.paired_difference(reference[both], values[both])))
    adjusted = compare.holm([difference.p_value for _, difference in found])
    return [
        Comparison(place=place, measure=measure, difference=difference, adjusted=p_value)
        for (place, difference), p_value in zip(found, adjusted, strict=True)
    ]


def difference_tables(scores: Scores) -> list[Table | Missing]:
    """Against the baseline and against the best of each measure: the leading one, and F1 where answers were given."""
    if len(scores.labels) < 2:
        return [Missing("Differences", "only one method was run.")]
    tables: list[Table | Missing] = []
    for measure in dict.fromkeys(name for name in (scores.leading, "F1") if name in scores.values):
        best = int(np.nanargmax(scores.means(measure)))
        for role, other in {"baseline": 0, "best": best}.items():
            found = comparisons(scores, measure, other)
            if found and (role, other) != ("best", 0):
                tables.append(_table(scores, measure, role, scores.labels[other], found))
    return tables or [Missing("Differences", "no two methods have a measure in common on at least two questions.")]


def _table(scores: Scores, measure: str, role: str, name: str, found: Sequence[Comparison]) -> Table:
    return Table(
        caption=f"{measure} against the {role}, {name}",
        reading=f"Each line compares a method with {name} on the same"
        f" {plural(found[0].difference.questions, 'question')}, in percentage points; where the interval holds 0,"
        f" chance could explain the difference. p is adjusted by Holm's method for the"
        f" {plural(len(found), 'comparison')} of this table; below {_SIGNIFICANT} is called significant."
        + (" The best was picked by these same numbers, which flatters it a little." if role == "best" else ""),
        columns=(
            Column("Method", kind="words"),
            Column("Verdict", kind="words"),
            Column("Difference, 95 % interval and adjusted p-value", kind="sentences"),
        ),
        rows=tuple(
            (
                Cell(scores.labels[line.place]),
                Cell(line.verdict, best=line.verdict != "not told apart"),
                Cell(line.words),
            )
            for line in found
        ),
    )


def difference_figure(scores: Scores) -> list[Figure]:
    """Every method against the baseline, as intervals; nothing where the tables of differences are missing too."""
    found = comparisons(scores, scores.leading, 0) if scores.leading else []
    if not found:
        return []
    caption = f"Gains and losses in {scores.leading} over the baseline, {scores.labels[0]}"
    rows = [
        IntervalRow(
            place=line.place,
            label=scores.labels[line.place],
            low=line.difference.low,
            mean=line.difference.mean,
            high=line.difference.high,
            words=line.words,
        )
        for line in found
    ]
    return [
        Figure(
            caption=caption,
            reading="The mark is the mean difference over the same questions, the bar its 95 % interval; right of the"
            " line at 0 is better than the baseline, and a bar that crosses it could be chance.",
            drawing=interval_plot(rows, title=caption, value_name="Difference (points)", written=points_on_axis),
        )
    ]
