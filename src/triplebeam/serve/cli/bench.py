"""`triplebeam bench`: methods side by side on your questions, and whether you need a graph."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from triplebeam import assemble
from triplebeam.evaluate.measures import measure_run, summary
from triplebeam.evaluate.recommend import Recommendation, can_recommend, recommend
from triplebeam.evaluate.run import Evaluation
from triplebeam.serve.cli.options import Again, AsJson, EmbedderName, IndexPlace, Limit, Offline, WhereText
from triplebeam.serve.cli.output import Output, shown_progress
from triplebeam.text.phrases import format_count

_DEFAULT_METHODS = (
    "bm25",
    "dense",
    "hybrid",
    "scaled_hybrid",
    "hybrid+naive_ge[scorer=pooled]",
    "hybrid+naive_ge",
    "blend",
)

_MEASURES = ("R@2", "R@5", "R@10", "R@15", "All@5", "MRR", "EM", "F1", "Accuracy", "Judged", "Graph")
_COSTS = {"ms_p50": "ms p50", "ms_p95": "p95", "encodings": "encodings", "tokens": "tokens", "dollars": "$"}


def bench(
    folder: IndexPlace,
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS", help="JSON lines (.jsonl or .jsonl.gz) of id, question, gold and optionally answers."
        ),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", help=f"A method; can be repeated. Default: {', '.join(_DEFAULT_METHODS)}."),
    ] = None,
    seed: Annotated[
        list[int] | None, typer.Option("--seed", help="Seed of the model's samples; can be repeated.")
    ] = None,
    k: Annotated[
        int, typer.Option("-k", min=1, max=15, help="Compare recall at k, the number of passages you can use.")
    ] = 5,
    min_recall: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="For CI: exit with 1 if a method's recall at k is lower. Measures blend unless methods are named.",
        ),
    ] = None,
    limit: Limit = None,
    where: WhereText = None,
    query_entities: Annotated[
        Path | None, typer.Option(help="JSON lines of question and entities, for hipporag[entities=given].")
    ] = None,
    again: Again = False,
    as_json: AsJson = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Do you need a graph? Compare recall, time, encodings and tokens of methods, and recommend one.

    Results are saved as they come, so an interrupted run continues. With --where, only questions whose gold passages
    all match are asked. Reports, TREC runs and generated questions come with the package triplebeam-research:
    `triplebeam research experiment` and `triplebeam research questions`.

    Examples:

        triplebeam bench my.index questions.jsonl

        triplebeam bench my.index questions.jsonl -m hybrid -m "hybrid+naive_ge[scorer=exact]"

        triplebeam bench my.index questions.jsonl -m hybrid+naive_ge -m agent --seed 0

        triplebeam bench my.index questions.jsonl --min-recall 0.8 -k 10
    """
    corpus = assemble.Corpus(
        name=folder.state.name,
        index=folder,
        questions=questions,
        methods=tuple(
            dict.fromkeys(method or (_DEFAULT_METHODS if min_recall is None else (assemble.DEFAULT_METHOD,)))
        ),
        query_entities=query_entities,
        where=where,
    )
    settings = assemble.read_settings(embedder=embedder, offline=offline or None)
    with shown_progress() as progress:
        evaluator = assemble.Evaluator(settings=settings, seeds=seed or (), limit=limit, again=again, progress=progress)
        evaluation = evaluator.evaluate(corpus)
    advice = _advice(evaluation, k)
    if as_json:
        Output().json(_as_json(evaluation, advice))
    else:
        draw_evaluation(evaluation)
        if advice:
            verdict, *reasons = advice.sentences
            console = Output().console
            console.print(f"\n[bold]Do I need a graph?[/bold] {_escape(verdict)}")
            for reason in reasons:
                console.print(f"  {_escape(reason)}")
    if min_recall is not None:
        _check_recall(evaluation, k, min_recall)


def _check_recall(evaluation: Evaluation, k: int, min_recall: float) -> None:
    """Exit with 1 if a method's recall at k is below the bound, or was not measured."""
    for run in evaluation.runs:
        values = measure_run(f"R@{k}", evaluation, run)
        recall = 0.0 if values is None else float(np.nanmean(values))
        if recall < min_recall:
            Output().warn(
                f"R@{k} of {run.method} must be at least {min_recall:g}, got {recall:.3f}: compare the results above."
            )
            raise typer.Exit(1)


def _advice(evaluation: Evaluation, k: int) -> Recommendation | None:
    if not can_recommend(evaluation):
        return None
    if not evaluation.triples_of_gold:
        Output().warn(
            "The index holds no triples, so there is no graph to judge: index again with --extractor local or llm."
        )
        return None
    return recommend(evaluation, k, assemble.DEFAULT_METHOD)


def _as_json(evaluation: Evaluation, advice: Recommendation | None) -> dict[str, object]:
    found: dict[str, object] = {"methods": {run.method: summary(evaluation, run) for run in evaluation.runs}}
    if advice:
        found["recommendation"] = {
            "need_a_graph": advice.need,
            "use": advice.use,
            "measure": advice.measure,
            "gain": round(advice.difference.mean, 4),
            "interval": [round(advice.difference.low, 4), round(advice.difference.high, 4)],
            "p_value": round(advice.difference.p_value, 4),
            "why": str(advice),
        }
    return found


def draw_evaluation(evaluation: Evaluation) -> None:
    """Draw a row per method: what it found, best in bold, and what a question cost."""
    rows = {run.method: summary(evaluation, run) for run in evaluation.runs}
    measures = [name for name in _MEASURES if any(name in row for row in rows.values())]
    best = {name: max(row[name] or 0 for row in rows.values() if name in row) for name in measures}
    costs = [name for name in _COSTS if any(row[name] for row in rows.values())]
    title = _escape(f"{evaluation.title}: {format_count(len(evaluation.questions), 'question')}")
    cells = (
        [
            _escape(method),
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


def _measure(value: float | None, best: float) -> str:
    if value is None:
        return "–"
    return f"[bold]{100 * value:.1f}[/bold]" if value == best else f"{100 * value:.1f}"


def _cost(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.5f}" if name == "dollars" else f"{value:,.1f}"


def _escape(text: str) -> str:
    return text.replace("[", "\\[")
