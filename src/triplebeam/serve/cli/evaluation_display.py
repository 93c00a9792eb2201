"""An evaluation on a terminal, and the options that `bench` shares with experiments."""

from typing import Annotated, TypeAlias

import typer

from triplebeam.evaluate.measures import summary
from triplebeam.evaluate.recommend import Recommendation
from triplebeam.evaluate.run import Evaluation
from triplebeam.serve.cli.output import Output
from triplebeam.text.phrases import format_count

Limit: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Only the first N questions.")]
Again: TypeAlias = Annotated[bool, typer.Option("--again", help="Measure again instead of reusing saved results.")]
_SHOWN = ("R@2", "R@5", "R@10", "R@15", "All@5", "MRR", "EM", "F1", "Accuracy", "Judged", "Graph")
_COSTS = {"ms_p50": "ms p50", "ms_p95": "p95", "encodings": "encodings", "tokens": "tokens", "dollars": "$"}


def draw_evaluation(evaluation: Evaluation) -> None:
    """A row per method: what it found, best in bold, and what a question cost."""
    rows = {run.method: summary(evaluation, run) for run in evaluation.runs}
    measures = [name for name in _SHOWN if any(name in row for row in rows.values())]
    best = {name: max(row[name] or 0 for row in rows.values() if name in row) for name in measures}
    costs = [name for name in _COSTS if any(row[name] for row in rows.values())]
    title = _escaped(f"{evaluation.title}: {format_count(len(evaluation.questions), 'question')}")
    cells = (
        [
            _escaped(method),
            *(_measure(row.get(name), best[name]) for name in measures),
            *(_cost(name, row[name]) for name in costs),
        ]
        for method, row in rows.items()
    )
    output = Output()
    output.table(title, ["method", *measures, *(_COSTS[cost] for cost in costs)], cells)
    if any(run.batched for run in evaluation.runs):
        note = "Times are averages over batches of questions, except for methods that take one at a time."
        output.console.print(note, style="dim")
    if not measures:
        output.warn(
            "Nothing could be measured: the questions have no gold passages, and these methods do not answer. Add gold"
            " passages to the questions, or a method that answers, such as read:hybrid."
        )


def draw_recommendation(recommendation: Recommendation) -> None:
    """The verdict first, then why."""
    verdict, *reasons = recommendation.sentences
    console = Output().console
    console.print(f"\n[bold]Do I need a graph?[/bold] {_escaped(verdict)}")
    for reason in reasons:
        console.print(f"  {_escaped(reason)}")


def _escaped(text: str) -> str:
    return text.replace("[", "\\[")


def _measure(value: float | None, best: float) -> str:
    if value is None:
        return "–"
    return f"[bold]{100 * value:.1f}[/bold]" if value == best else f"{100 * value:.1f}"


def _cost(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.5f}" if name == "dollars" else f"{value:,.1f}"
