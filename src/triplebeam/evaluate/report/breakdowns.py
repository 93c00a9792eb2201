"""Recall by kind of question: by hops, by type, and by how many triples its gold passages have."""

from collections.abc import Mapping, Sequence

import numpy as np

from triplebeam.evaluate import breakdown
from triplebeam.evaluate.report.document import Cell, Column, Figure, Missing, Table
from triplebeam.evaluate.report.numbers import percent
from triplebeam.evaluate.report.plots.boxes import BoxRow, box_plot, spread_of
from triplebeam.evaluate.report.scores import Scores, without_nan
from triplebeam.evaluate.report.summary import best_in_bold, method_labels

_SHOWN = ("R@5", "R@15")


def breakdown_tables(scores: Scores) -> list[Table | Missing]:
    """One table a way of grouping that parts the questions."""
    if _SHOWN[0] not in scores.values:
        return [Missing("Breakdowns of recall", "no question names gold passages, or no method ranks passages.")]
    questions = scores.evaluation.questions
    return [
        _table(
            scores,
            "by hops",
            breakdown.by_hops(questions),
            "Questions with more hops need more passages, so recall usually falls from left to right.",
        ),
        _table(
            scores,
            "by type of question",
            breakdown.by_type(questions),
            "The types are the dataset's own.",
        ),
        _table(
            scores,
            "by triple density",
            breakdown.by_triple_density(questions, scores.evaluation.triples_of_gold),
            "Density is the mean number of triples of a question's gold passages: a method that lives on triples and is"
            " robust keeps its recall from the sparsest to the densest.",
        ),
    ]


def _table(scores: Scores, name: str, groups: Mapping[str, Sequence[int]], reading: str) -> Table | Missing:
    if len(groups) < 2:
        return Missing(f"Recall {name}", _why(groups))
    columns, cells = [Column("Method", kind="words")], [[Cell(label)] for label in method_labels(scores)]
    for label, places in groups.items():
        for measure in _SHOWN:
            columns.append(Column(measure, group=f"{label} (n = {len(places):,})"))
            for row, cell in zip(cells, best_in_bold(scores.means(measure, places)), strict=True):
                row.append(cell)
    return Table(
        caption=f"Recall {name}, in per cent",
        reading=f"{reading} n is the number of questions; the best of a column is bold.",
        columns=tuple(columns),
        rows=tuple(map(tuple, cells)),
    )


def _why(groups: Mapping[str, Sequence[int]]) -> str:
    kind = next(iter(groups))
    return (
        "it is not known of any question." if kind == breakdown.NOT_KNOWN else f"all questions are of one kind: {kind}."
    )


def hop_figure(scores: Scores) -> list[Figure]:
    """The spread of recall over questions of as many hops; nothing where the table by hops is missing too."""
    measure = _SHOWN[-1]
    groups = breakdown.by_hops(scores.evaluation.questions)
    if measure not in scores.values or len(groups) < 2:
        return []
    rows: dict[str, list[BoxRow]] = {}
    for label, places in groups.items():
        for place, values in enumerate(scores.values[measure]):
            known = without_nan(values[list(places)]) if values is not None else np.empty(0)
            if known.size:
                row = BoxRow(place=place, label=scores.labels[place], spread=spread_of(known))
                rows.setdefault(f"{label} (n = {len(places)})", []).append(row)
    caption = f"{measure} by hops"
    figure = Figure(
        caption=caption,
        reading="Half of the questions lie inside a box, the thick line is their median, the ring their mean; the"
        " whiskers reach the furthest values within 1.5 boxes' length, small dots are values beyond.",
        drawing=box_plot(rows, title=caption, value_name=f"{measure} (%)"),
        numbers=_spread_table(caption, rows),
    )
    return [figure]


def _spread_table(caption: str, groups: dict[str, list[BoxRow]]) -> Table:
    return Table(
        caption=f"{caption}: the numbers",
        reading="In per cent.",
        columns=(
            Column("Questions", kind="words"),
            Column("Method", kind="words"),
            *map(Column, ("Lower quartile", "Median", "Upper quartile", "Mean")),
        ),
        rows=tuple(
            (
                Cell(name),
                Cell(row.label),
                *(
                    Cell(percent(value))
                    for value in (
                        row.spread.first_quartile,
                        row.spread.median,
                        row.spread.third_quartile,
                        row.spread.mean,
                    )
                ),
            )
            for name, rows in groups.items()
            for row in rows
        ),
    )
