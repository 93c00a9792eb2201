"""The summary: what every method reached."""

from collections.abc import Sequence

import numpy as np

from triplebeam.evaluate import compare
from triplebeam.evaluate.report.document import Cell, Column, Missing, Table
from triplebeam.evaluate.report.numbers import NOTHING, percent
from triplebeam.evaluate.report.scores import OF_ANSWERS, Scores, Values, without_nan

_MEANING = {
    "R@": "R@k is the share of the gold passages among the first k",
    "All@": "All@5 the share of questions with all of them among the first five",
    "nDCG": "nDCG@10 and MRR reward gold passages that stand early",
    "EM": "EM and F1 compare the answer with the accepted ones, exactly and word by word",
    "Accuracy": "Accuracy is the share of right choices",
    "Judged": "Judged is the share of answers that a model called right",
}


def best_in_bold(means: Sequence[float]) -> list[Cell]:
    """Means in per cent, the highest in bold; where two are written alike, both are."""
    texts = [percent(mean) for mean in means]
    known = [mean for mean in means if not np.isnan(mean)]
    highest = percent(max(known)) if len(known) > 1 else None
    return [Cell(text, best=text == highest) for text in texts]


def summary_table(scores: Scores) -> Table | Missing:
    """A row a method, a column a measure, with the interval of the leading one."""
    if not scores.values:
        return Missing("Summary", "no method gave a ranking or an answer that the questions could be checked against.")
    columns, cells = [Column("Method", kind="words")], [[Cell(label)] for label in method_labels(scores)]
    for measure in scores.values:
        columns.append(Column(measure, group=_group(measure)))
        for row, cell in zip(cells, best_in_bold(scores.means(measure)), strict=True):
            row.append(cell)
        if measure == scores.leading:
            columns.append(Column("95 % interval", group=_group(measure)))
            for row, values in zip(cells, scores.values[measure], strict=True):
                row.append(Cell(_interval(values)))
    meaning = "; ".join(words for name, words in _MEANING.items() if any(m.startswith(name) for m in scores.values))
    return Table(
        caption="What each method reached, in per cent",
        reading=f"Higher is better, the best of a column is bold. {meaning}. The interval says how far"
        " off the mean may be because these questions were asked and not others of their kind.",
        columns=tuple(columns),
        rows=tuple(map(tuple, cells)),
    )


def method_labels(scores: Scores) -> list[str]:
    """The labels of the runs, the baseline named as such."""
    several = len(scores.labels) > 1
    return [f"{label} (baseline)" if several and place == 0 else label for place, label in enumerate(scores.labels)]


def _group(measure: str) -> str:
    if measure.startswith("R@"):
        return "Recall"
    return "Answers" if measure in OF_ANSWERS else "Ranking"


def _interval(values: Values | None) -> str:
    known = without_nan(values) if values is not None else np.empty(0)
    if known.size < 2:
        return NOTHING
    interval = compare.interval(known)
    return f"{percent(interval.low)} to {percent(interval.high)}"
