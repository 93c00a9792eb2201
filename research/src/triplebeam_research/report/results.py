"""What every method reached, over all questions and by kind of question, and what a question cost.

Kinds are hops, type and triples of the gold passages; costs are time, encodings, calls, tokens and dollars.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from triplebeam.evaluate import compare
from triplebeam.evaluate.ask_all import DEPTH
from triplebeam.evaluate.measures import Values
from triplebeam.evaluate.run import QuestionResult, Run
from triplebeam.text.phrases import NOTHING, count, dollars, join_names, milliseconds, percent
from triplebeam_research.report import breakdown
from triplebeam_research.report.plots import box_plot, cost_plot
from triplebeam_research.report.tables import Best, Block, Missing, Scores, drop_nan

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


def summary_table(scores: Scores) -> Block | Missing:
    """Tabulate a row per method, a column per measure, with the interval of the leading one."""
    if not scores.values:
        return Missing("Summary", "no method returned a ranking or an answer that can be checked against the gold.")
    columns: dict[str, Sequence[str]] = {}
    for measure in scores.values:
        columns[measure] = _mark_best(scores.means(measure))
        if measure == scores.leading:
            columns["95 % interval"] = [_interval(values) for values in scores.values[measure]]
    meaning = "; ".join(words for name, words in _MEANING.items() if any(m.startswith(name) for m in scores.values))
    return scores.tabulate(
        "What each method reached, in per cent",
        f"Higher is better; the best of a column is bold. {meaning}. The interval says how far"
        " the mean could be off because these questions were asked and not others of their kind.",
        columns,
    )


def breakdown_tables(scores: Scores) -> list[Block | Missing]:
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


def _breakdown(scores: Scores, name: str, groups: Mapping[str, Sequence[int]], reading: str) -> Block | Missing:
    if len(groups) < 2:
        kind = next(iter(groups))
        known = kind != breakdown.NOT_KNOWN
        why = f"all questions are of one kind: {kind}." if known else "it is not known of any question."
        return Missing(f"Recall {name}", why)
    return scores.tabulate(
        f"Recall {name}, in per cent",
        f"{reading} n is the number of questions; the best of a column is bold.",
        {
            f"{label} (n = {len(places):,}): {measure}": _mark_best(scores.means(measure, places))
            for label, places in groups.items()
            for measure in _BY_KIND
        },
    )


def _make_all_found_tables(scores: Scores) -> list[Block]:
    """Tabulate how often everything was retrieved, where whole lists were read (GNN-Ret's Figure 5)."""
    runs, questions = scores.evaluation.runs, scores.evaluation.questions
    if not any(result.further_ids for run in runs for result in run.results):
        return []
    columns = {}
    for label, places in breakdown.group_by_gold_passages(questions).items():
        found = [sum(breakdown.is_all_found(questions[each], run.results[each]) for each in places) for run in runs]
        columns[f"{label} (n = {len(places):,})"] = [f"{number:,}" for number in found]
    return [
        scores.tabulate(
            "Questions with all gold passages retrieved, by their number",
            "Numbers of questions. A list that was read as a whole counts as a whole, others up to the"
            f" {DEPTH}th passage.",
            columns,
        )
    ]


def hop_figure(scores: Scores) -> list[Block]:
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
    return [
        Block(
            caption=f"{measure} by hops",
            reading="Half of the questions lie inside a box; the thick line is their median, the ring their mean. The"
            " whiskers reach the furthest values within 1.5 box lengths; small dots are values beyond them."
            " The numbers are in per cent.",
            columns=("Questions", "Method", "Lower quartile", "Median", "Upper quartile", "Mean"),
            rows=[
                (group, label, *map(percent, [*np.percentile(known, [25, 50, 75]), known.mean()]))
                for group, methods in rows.items()
                for _, label, known in methods
            ],
            draw=partial(box_plot, groups=rows, name=f"{measure} (%)"),
        )
    ]


def _mark_best(means: Sequence[float]) -> list[str]:
    """Format means in per cent, the highest in bold; where two read the same, both are."""
    texts = [percent(mean) for mean in means]
    known = [mean for mean in means if not np.isnan(mean)]
    highest = percent(max(known)) if len(known) > 1 else None
    return [Best(text) if text == highest else text for text in texts]


def _interval(values: Values | None) -> str:
    known = drop_nan(values) if values is not None else np.empty(0)
    if known.size < 2:
        return NOTHING
    interval = compare.interval(known)
    return f"{percent(interval.low)} to {percent(interval.high)}"


def _average(run: Run, quantity: Callable[[QuestionResult], float]) -> float:
    """Average a quantity over the questions."""
    return float(np.mean([quantity(result) for result in run.results]))


def cost_table(scores: Scores) -> Block | Missing:
    """Tabulate time, encodings, calls, tokens and dollars per question: those that any method has."""
    runs = scores.evaluation.runs
    quantities: dict[str, list[str]] = {}
    if any(result.seconds for run in runs for result in run.results):
        quantities["Time p50 (ms)"] = [milliseconds(run.median_seconds) for run in runs]
        quantities["Time mean (ms)"] = [milliseconds(_average(run, lambda result: result.seconds)) for run in runs]
        quantities["Time p95 (ms)"] = [
            milliseconds(float(np.percentile([result.seconds for result in run.results], 95))) for run in runs
        ]
    for name, quantity in _COUNTED.items():
        means = [_average(run, quantity) for run in runs]
        if any(means):
            quantities[name] = [count(mean) for mean in means]
    if any(run.dollars is not None for run in runs):
        quantities["Dollars"] = [
            NOTHING if run.dollars is None else dollars(run.dollars / len(run.results)) for run in runs
        ]
    if not quantities:
        return Missing("Cost", "the results carry neither times nor counts of calls.")
    return scores.tabulate("What a question cost", _cost_reading(scores, "Time p50 (ms)" in quantities), quantities)


_COUNTED: dict[str, Callable[[QuestionResult], float]] = {
    "Encodings": lambda result: result.encodings,
    "Calls": lambda result: result.usage.all_calls,
    "Tokens": lambda result: result.usage.all_tokens,
}


def _cost_reading(scores: Scores, timed: bool) -> str:
    """Explain the table, with a warning where a cache or a guess is behind its numbers."""
    sentences = ["Lower is cheaper; counts are means over the questions."]
    if timed:
        sentences.append("Half of the questions took no longer than p50, 95 in 100 no longer than p95.")
    named = list(zip(scores.labels, scores.evaluation.runs, strict=True))
    batched = [label for label, run in named if timed and run.batched]
    if batched:
        sentences.append(
            f"Questions were asked in batches, so that times are averages over a batch, for {join_names(batched)}."
        )
    cached = [label for label, run in named if any(result.usage.cached_calls for result in run.results)]
    guessed = [label for label, run in named if any(result.usage.estimated for result in run.results)]
    if cached:
        sentences.append(
            f"Calls answered from a cache are counted, but their time is not the model's: {join_names(cached)}."
        )
    if guessed:
        sentences.append(f"Tokens are estimated from the length of the texts for {join_names(guessed)}.")
    return " ".join(sentences)


def cost_figures(scores: Scores) -> list[Block | Missing]:
    """Plot the leading measure against the median time and tokens; right answers against calls (GNN-Ret's Figure 2)."""
    runs = scores.evaluation.runs
    tokens = [_average(run, lambda result: result.usage.all_tokens) for run in runs]
    calls = [_average(run, lambda result: result.usage.all_calls) for run in runs]
    right = next((name for name in ("Judged", "Accuracy", "F1") if name in scores.values), None)
    return [
        _cost_figure(scores, scores.leading, "time", [run.median_seconds for run in runs], "Median time per question"),
        _cost_figure(scores, scores.leading, "tokens", tokens, "Mean tokens per question"),
        _cost_figure(scores, right, "calls", calls, "Mean calls per question"),
    ]


def _cost_figure(
    scores: Scores, measure: str | None, name: str, costs: Sequence[float], cost_name: str
) -> Block | Missing:
    what = f"Figure of what is reached against {name}"
    if measure is None:
        return Missing(what, "nothing was measured.")
    points = [
        (place, label, cost, value)
        for place, (label, cost, value) in enumerate(zip(scores.labels, costs, scores.means(measure), strict=True))
        if not np.isnan(value)
    ]
    if not any(cost for *_, cost, _ in points):
        return Missing(what, f"the results carry no {name}.")
    return Block(
        caption=f"{measure} against {name}",
        reading="Best is top left: much found for little. The lower scale is logarithmic: each step to the right"
        " multiplies the cost.",
        draw=partial(cost_plot, points=points, cost_name=f"{cost_name} (log scale)", value_name=f"{measure} (%)"),
    )
