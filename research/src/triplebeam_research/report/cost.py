"""What a question cost: time, encodings, calls, tokens and dollars, and what is reached for it."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from triplebeam.evaluate.numbers import NOTHING, count, dollars, milliseconds
from triplebeam.evaluate.run import QuestionResult, Run
from triplebeam.text.phrases import join_names
from triplebeam_research.report.document import Column, Figure, Missing, Table
from triplebeam_research.report.plots import cost_plot
from triplebeam_research.report.scores import Scores


def _average(run: Run, quantity: Callable[[QuestionResult], float]) -> float:
    """Average a quantity over the questions."""
    return float(np.mean([quantity(result) for result in run.results]))


def cost_table(scores: Scores) -> Table | Missing:
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
    return Table(
        caption="What a question cost",
        reading=_cost_reading(scores, "Time p50 (ms)" in quantities),
        columns=(Column("Method", kind="words"), *(Column(name) for name in quantities)),
        rows=list(zip(scores.row_labels, *quantities.values(), strict=True)),
    )


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


def cost_figures(scores: Scores) -> list[Figure | Missing]:
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
) -> Figure | Missing:
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
    return Figure(
        caption=f"{measure} against {name}",
        reading="Best is top left: much found for little. The lower scale is logarithmic: each step to the right"
        " multiplies the cost.",
        draw=partial(cost_plot, points=points, cost_name=f"{cost_name} (log scale)", value_name=f"{measure} (%)"),
    )
