"""What every method reached: over all questions, and by kind of question (hops, type, triples of the gold passages)."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from triplebeam.evaluate import compare
from triplebeam.evaluate.ask_all import DEPTH
from triplebeam.evaluate.measures import OF_ANSWERS, Values
from triplebeam.evaluate.numbers import NOTHING, percent
from triplebeam_research.report import breakdown
from triplebeam_research.report.document import Best, Column, Figure, Missing, Table
from triplebeam_research.report.plots import box_plot
from triplebeam_research.report.scores import Scores, drop_nan

_MEANING = {
    "R@": "R@k is the share of the gold passages among the first k",
    "All@": "All@5 the share of questions with all of them among the first five",
    "nDCG": "nDCG@10 and MRR reward gold passages that rank high",
    "EM": "EM and F1 compare the answer with the accepted ones, exactly and word by word",
    "Accuracy": "Accuracy is the share of right choices",
    "Judged": "Judged is the share of answers that a model called right",
    "Graph": "Graph is the share of question graphs that are those of the dataset's evidences",
}
_BY_KIND = ("R@5", "R@15")


def summary_table(scores: Scores) -> Table | Missing:
    """Tabulate a row per method, a column per measure, with the interval of the leading one."""
    if not scores.values:
        return Missing("Summary", "no method returned a ranking or an answer that can be checked against the gold.")
    columns, cells = _methods(scores)
    for measure in scores.values:
        columns.append(Column(measure, group=_group(measure)))
        _append(cells, _mark_best(scores.means(measure)))
        if measure == scores.leading:
            columns.append(Column("95 % interval", group=_group(measure)))
            _append(cells, [_interval(values) for values in scores.values[measure]])
    meaning = "; ".join(words for name, words in _MEANING.items() if any(m.startswith(name) for m in scores.values))
    return Table(
        caption="What each method reached, in per cent",
        reading=f"Higher is better; the best of a column is bold. {meaning}. The interval says how far"
        " the mean could be off because these questions were asked and not others of their kind.",
        columns=columns,
        rows=cells,
    )


def breakdown_tables(scores: Scores) -> list[Table | Missing]:
    """Tabulate each grouping that divides the questions."""
    if _BY_KIND[0] not in scores.values:
        return [Missing("Breakdowns of recall", "no question names gold passages, or no method ranks passages.")]
    questions = scores.evaluation.questions
    return [
        _breakdown(
            scores,
            "by hops",
            breakdown.group_by_hops(questions),
            "Questions with more hops need more passages, so recall usually falls from left to right.",
        ),
        _breakdown(
            scores, "by type of question", breakdown.group_by_type(questions), "The types are those of the dataset."
        ),
        _breakdown(
            scores,
            "by triple density",
            breakdown.group_by_triple_density(questions, scores.evaluation.triples_of_gold),
            "Density is the mean number of triples of a question's gold passages: a robust method that relies on"
            " triples keeps its recall from the sparsest to the densest.",
        ),
        *_make_all_found_tables(scores),
    ]


def _make_all_found_tables(scores: Scores) -> list[Table]:
    """Tabulate how often everything was retrieved, where whole lists were read (GNN-Ret's Figure 5)."""
    runs, questions = scores.evaluation.runs, scores.evaluation.questions
    if not any(result.further_ids for run in runs for result in run.results):
        return []
    columns, cells = _methods(scores)
    for label, places in breakdown.group_by_gold_passages(questions).items():
        columns.append(Column(f"{label} (n = {len(places):,})"))
        found = [sum(breakdown.is_all_found(questions[each], run.results[each]) for each in places) for run in runs]
        _append(cells, [f"{number:,}" for number in found])
    return [
        Table(
            caption="Questions with all gold passages retrieved, by their number",
            reading="Numbers of questions. A list that was read as a whole counts as a whole, others up to the"
            f" {DEPTH}th passage.",
            columns=columns,
            rows=cells,
        )
    ]


def hop_figure(scores: Scores) -> list[Figure]:
    """Plot the spread of recall by the number of hops, or by MuSiQue's kinds of hops (GeAR's Figure 3).

    Nothing where the table by hops is missing too.
    """
    measure = _BY_KIND[-1]
    groups = breakdown.group_by_kind_of_hops(scores.evaluation.questions)
    if measure not in scores.values or len(groups) < 2:
        return []
    rows = {
        f"{label} (n = {len(places)})": [
            (place, scores.labels[place], known)
            for place, values in enumerate(scores.values[measure])
            if values is not None and (known := drop_nan(values[list(places)])).size
        ]
        for label, places in groups.items()
    }
    rows = {group: methods for group, methods in rows.items() if methods}
    caption = f"{measure} by hops"
    numbers = Table(
        caption=f"{caption}: the numbers",
        reading="In per cent.",
        columns=(
            Column("Questions", kind="words"),
            Column("Method", kind="words"),
            *map(Column, ("Lower quartile", "Median", "Upper quartile", "Mean")),
        ),
        rows=[
            (group, label, *map(percent, [*np.percentile(known, [25, 50, 75]), known.mean()]))
            for group, methods in rows.items()
            for _, label, known in methods
        ],
    )
    return [
        Figure(
            caption=caption,
            reading="Half of the questions lie inside a box; the thick line is their median, the ring their mean. The"
            " whiskers reach the furthest values within 1.5 box lengths; small dots are values beyond them.",
            draw=partial(box_plot, groups=rows, name=f"{measure} (%)"),
            numbers=numbers,
        )
    ]


def _breakdown(scores: Scores, name: str, groups: Mapping[str, Sequence[int]], reading: str) -> Table | Missing:
    if len(groups) < 2:
        kind = next(iter(groups))
        known = kind != breakdown.NOT_KNOWN
        why = f"all questions are of one kind: {kind}." if known else "it is not known of any question."
        return Missing(f"Recall {name}", why)
    columns, cells = _methods(scores)
    for label, places in groups.items():
        for measure in _BY_KIND:
            columns.append(Column(measure, group=f"{label} (n = {len(places):,})"))
            _append(cells, _mark_best(scores.means(measure, places)))
    return Table(
        caption=f"Recall {name}, in per cent",
        reading=f"{reading} n is the number of questions; the best of a column is bold.",
        columns=columns,
        rows=cells,
    )


def _methods(scores: Scores) -> tuple[list[Column], list[list[str]]]:
    """Return the first column of a table, and the rows it begins."""
    return [Column("Method", kind="words")], [[label] for label in scores.row_labels]


def _append(rows: Sequence[list[str]], column: Sequence[str]) -> None:
    for row, cell in zip(rows, column, strict=True):
        row.append(cell)


def _mark_best(means: Sequence[float]) -> list[str]:
    """Format means in per cent, the highest in bold; where two read the same, both are."""
    texts = [percent(mean) for mean in means]
    known = [mean for mean in means if not np.isnan(mean)]
    highest = percent(max(known)) if len(known) > 1 else None
    return [Best(text) if text == highest else text for text in texts]


def _group(measure: str) -> str:
    if measure.startswith("R@"):
        return "Recall"
    return "Answers" if measure in OF_ANSWERS else "Ranking"


def _interval(values: Values | None) -> str:
    known = drop_nan(values) if values is not None else np.empty(0)
    if known.size < 2:
        return NOTHING
    interval = compare.interval(known)
    return f"{percent(interval.low)} to {percent(interval.high)}"
