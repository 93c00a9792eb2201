"""`triplebeam search`: passages out."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.serve.cli.options import AsJson, EmbedderName, IndexFolder, Offline

if TYPE_CHECKING:
    from triplebeam.assemble import Index
    from triplebeam.ranking import Ranking, Result


def search(
    folder: IndexFolder,
    question: Annotated[str, typer.Argument(metavar="QUESTION", show_default=False)],
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            help="bm25, dense, hybrid or another one of docs/methods/index.md; append +naive_ge to walk the graph of"
            " triples, +gnn_ret for that of passages. Default: blend, which fuses several walks.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages.")] = 10,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the chains of triples that led to each passage.")
    ] = False,
    as_json: AsJson = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Find passages, including those that only a chain of facts leads to.

    Examples:

        triplebeam search my.index "When did the director of Laughter in Hell die?" --explain

        triplebeam search my.index "…" --method hybrid -k 5 --json
    """
    from triplebeam.assemble import DEFAULT_METHOD, open_index
    from triplebeam.serve.cli.display import progress_bars
    from triplebeam.settings import read_settings

    settings = read_settings(embedder=embedder, offline=offline or None)
    with progress_bars() as progress:
        index = open_index(folder, settings=settings, progress=progress)
        show_passages(index, question, method or DEFAULT_METHOD, k, explain, as_json)


def show_passages(index: "Index", question: str, method: str, k: int, explain: bool, as_json: bool) -> None:
    """Search, and print what was found."""
    from triplebeam.serve.shapes import ranking_json

    results = index.search(question, method, k)
    if as_json:
        found = ranking_json(question, method, results)
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        _draw(index, results, explain)


def _draw(index: "Index", results: "Ranking[Result]", explain: bool) -> None:
    from triplebeam.serve.cli.display import draw_hit, err, out

    console = out()
    for rank, hit in enumerate(results, start=1):
        own = {index.triples.triple(id_) for id_ in index.triples.triples_of([hit.passage_id]).tolist()}
        draw_hit(console, rank, hit, hit.passage, own, explain)
    if not len(results):
        err().print("No passage matches: try other words, or --method dense, which needs no words in common.")
