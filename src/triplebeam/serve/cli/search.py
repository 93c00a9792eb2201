"""`triplebeam search`: passages out."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.serve.cli.options import AsJson, EmbedderName, IndexFolder, Offline

if TYPE_CHECKING:
    from triplebeam.assemble import Collection
    from triplebeam.ranking import Ranking


def search(
    folder: IndexFolder,
    question: Annotated[str, typer.Argument(metavar="QUESTION", show_default=False)],
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            help="bm25, dense, hybrid or another of docs/evaluating.md; +naive_ge behind one walks the graph of"
            " triples, +gnn_ret that of passages. Default: blend, which fuses several walks.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages.")] = 10,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the chains of triples that brought each passage in.")
    ] = False,
    as_json: AsJson = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Find passages, also those that only a chain of facts leads to.

    Examples:

        triplebeam search my.index "When did the director of Laughter in Hell die?" --explain

        triplebeam search my.index "…" --method hybrid -k 5 --json
    """
    from triplebeam.assemble import DEFAULT_METHOD, open_collection
    from triplebeam.serve.cli.display import progress_bars
    from triplebeam.serve.shapes import ranking_json
    from triplebeam.settings import read_settings

    method = method or DEFAULT_METHOD
    with progress_bars() as progress:
        collection = open_collection(
            folder, settings=read_settings(embedder=embedder, offline=offline or None), progress=progress
        )
        ranking = collection.search(question, method, k)
    if as_json:
        found = ranking_json(question, method, ranking, collection.passages)
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        _draw(collection, ranking, explain)


def _draw(collection: "Collection", ranking: "Ranking", explain: bool) -> None:
    from triplebeam.serve.cli.display import draw_hit, err, out

    console = out()
    for rank, hit in enumerate(ranking, start=1):
        own = {collection.triples.triple(id_) for id_ in collection.triples.triples_of([hit.passage_id]).tolist()}
        draw_hit(console, rank, hit, collection.passages[hit.passage_id], own, explain)
    if not len(ranking):
        err().print("No passage matches: try other words, or --method dense, which needs none in common.")
