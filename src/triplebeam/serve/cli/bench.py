"""`triplebeam bench`: methods side by side on your questions, and whether you need a graph."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.serve.cli.evaluation_display import Again, Limit, ResultsFile
from triplebeam.serve.cli.options import AsJson, EmbedderName, IndexFolder, Offline, WhereText

if TYPE_CHECKING:
    from triplebeam.evaluate.recommend import Recommendation
    from triplebeam.evaluate.run import Evaluation

_DEFAULT_METHODS = (
    "bm25",
    "dense",
    "hybrid",
    "scaled_hybrid",
    "hybrid+naive_ge[scorer=pooled]",
    "hybrid+naive_ge",
    "blend",
)


def bench(
    folder: IndexFolder,
    questions: Annotated[
        Path | None,
        typer.Argument(
            metavar="QUESTIONS",
            help="JSON lines (.jsonl or .jsonl.gz) of id, question, gold and optionally answers. Without a file, the"
            " model writes questions from the index's triples.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            help=f"A method; can be repeated. Default: {', '.join(_DEFAULT_METHODS)}.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--out", help="Also write reports, results and TREC runs into this folder.", show_default=False),
    ] = None,
    results: ResultsFile = None,
    seed: Annotated[
        list[int] | None,
        typer.Option("--seed", help="Seed of the model's samples; can be repeated.", show_default=False),
    ] = None,
    k: Annotated[
        int, typer.Option("-k", min=1, max=15, help="Compare recall at k, the number of passages you can use.")
    ] = 5,
    limit: Limit = None,
    where: WhereText = None,
    query_entities: Annotated[
        Path | None,
        typer.Option(help="JSON lines of question and entities, for hipporag\\[entities=given].", show_default=False),
    ] = None,
    again: Again = False,
    as_json: AsJson = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Do you need a graph? Measures recall, time, encodings and tokens of methods, and recommends one.

    Results are saved as they come: stopped and started again, it computes nothing twice. With --where only the
    questions are asked whose gold passages all match.

    Examples:

        triplebeam bench my.index questions.jsonl

        triplebeam bench my.index questions.jsonl -m hybrid -m "hybrid+naive_ge[scorer=exact]" --out report/

        triplebeam bench my.index questions.jsonl -m hybrid+naive_ge -m agent --seed 0
    """
    from triplebeam.assemble.evaluation import Evaluator
    from triplebeam.evaluate.experiment import Corpus, Experiment
    from triplebeam.evaluate.output import write_evaluation
    from triplebeam.evaluate.results_file import add_results
    from triplebeam.serve.cli.evaluation_display import draw_evaluation, draw_recommendation, tell_written
    from triplebeam.serve.cli.progress_display import shown_progress
    from triplebeam.serve.cli.questions import questions_for
    from triplebeam.settings import read_settings

    settings = read_settings(embedder=embedder, offline=offline or None)
    methods = tuple(dict.fromkeys(method or _DEFAULT_METHODS))
    # Paths are used as they are: there is nothing to fill in.
    corpus = Corpus(
        name="",
        index=folder,
        questions=questions or questions_for(folder, settings),
        methods=methods,
        query_entities=query_entities,
        where=where,
    )
    asked = Experiment(title=folder.name, index=str(folder), questions=str(corpus.questions), methods=methods)
    with shown_progress() as progress:
        evaluator = Evaluator(settings=settings, seeds=seed or (), limit=limit, again=again, progress=progress)
        evaluation = evaluator.evaluate(asked, corpus)
    advice = _advice(evaluation, k)
    evaluation = replace(evaluation, advice=f"Do I need a graph? {advice}" if advice else "")
    pages = write_evaluation(output, evaluation) if output else []
    if results:
        add_results(results, folder, "", evaluation)
    if as_json:
        typer.echo(json.dumps(_as_json(evaluation, advice), indent=2))
    else:
        draw_evaluation(evaluation)
        if advice:
            draw_recommendation(advice)
    tell_written(pages)


def _advice(evaluation: "Evaluation", k: int) -> "Recommendation | None":
    from triplebeam.assemble import DEFAULT_METHOD
    from triplebeam.evaluate.recommend import can_recommend, recommend
    from triplebeam.serve.cli.display import err

    if not can_recommend(evaluation):
        return None
    if not evaluation.triples_of_gold:
        err().print(
            "The index holds no triples, so there is no graph to judge: index again with --extractor local or llm.",
            style="yellow",
        )
        return None
    return recommend(evaluation, k, DEFAULT_METHOD)


def _as_json(evaluation: "Evaluation", advice: "Recommendation | None") -> dict[str, object]:
    from triplebeam.evaluate.output import summary

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
