"""`triplebeam bench`: methods side by side on your questions."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.serve.cli.options import AsJson, EmbedderName, IndexFolder, Offline

if TYPE_CHECKING:
    from triplebeam.evaluate.bench import MethodResult

_DEFAULT_METHODS = ("bm25", "dense", "hybrid", "hybrid+naive_ge")


def bench(
    folder: IndexFolder,
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS", help="JSON lines (.jsonl or .jsonl.gz) of id, question and gold.", show_default=False
        ),
    ],
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            help=f"A method; give it several times. Default: {', '.join(_DEFAULT_METHODS)}.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Measure recall, time and encodings of methods on questions whose gold passages are known.

    Example:

        triplebeam bench my.index questions.jsonl -m hybrid -m hybrid+naive_ge -m "hybrid+naive_ge[scorer=exact]"
    """
    from triplebeam.assemble import make_embedder, open_collection
    from triplebeam.evaluate.bench import CountingEmbedder, measure
    from triplebeam.evaluate.questions import check_gold, read_questions
    from triplebeam.serve.cli.display import progress_bars
    from triplebeam.settings import read_settings

    settings = read_settings(embedder=embedder, offline=offline or None)
    asked = read_questions(questions)
    with progress_bars() as progress:
        plain = open_collection(folder, settings=settings)
        check_gold(asked, plain.passages)
        name = settings.embedder or plain.index.manifest.embedder.name
        counting = CountingEmbedder(make_embedder(name, settings, progress))
        # Every name is read before the first question is asked: a typo costs nothing. Each method remembers queries for
        # itself, so that none is spared an encoding by the one before it.
        retrievers = {
            name: replace(plain, given_embedder=counting).retriever(name) for name in method or _DEFAULT_METHODS
        }
        results = [measure(name, each, asked, lambda: counting.encoded, progress) for name, each in retrievers.items()]
    if as_json:
        typer.echo(json.dumps({"methods": {result.method: _as_json(result) for result in results}}, indent=2))
    else:
        _draw(results)


def _as_json(result: "MethodResult") -> dict[str, float | int]:
    return {
        **{f"R@{k}": round(value, 4) for k, value in result.recall.items()},
        "ms_per_question": round(result.ms_per_question, 2),
        "encodings_per_question": round(result.encodings_per_question, 1),
        "questions": result.questions,
    }


def _draw(results: "list[MethodResult]") -> None:
    from rich.table import Table

    from triplebeam.serve.cli.display import out

    table = Table(box=None, title=f"{results[0].questions} questions", title_justify="left", title_style="dim")
    table.add_column("method", no_wrap=True)
    for k in results[0].recall:
        table.add_column(f"R@{k}", justify="right")
    table.add_column("ms/question", justify="right")
    table.add_column("encodings/question", justify="right")
    best = {k: max(result.recall[k] for result in results) for k in results[0].recall}
    for result in results:
        cells = [f"[bold]{v:.1%}[/bold]" if v == best[k] else f"{v:.1%}" for k, v in result.recall.items()]
        figures = [f"{result.ms_per_question:.1f}", f"{result.encodings_per_question:.1f}"]
        table.add_row(result.method.replace("[", "\\["), *(cell.replace("%", "") for cell in cells), *figures)
    out().print(table)
