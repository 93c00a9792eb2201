"""`triplebeam search`: passages out."""

from collections import Counter
from typing import Annotated

import typer

from triplebeam import assemble
from triplebeam.explain.passages import headings
from triplebeam.explain.search_results import SearchResults
from triplebeam.serve.cli.display import draw_hit
from triplebeam.serve.cli.options import (
    AsJson,
    EmbedderName,
    IndexPlace,
    Offline,
    Question,
    WhereText,
    complete_search_method,
)
from triplebeam.serve.cli.output import Output, shown_progress


def search(
    folder: IndexPlace,
    words: Question,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            help="bm25, dense, hybrid or another method of docs/methods/index.md; append +naive_ge to walk the graph of"
            " triples, +gnn_ret for that of passages. Default: blend, which fuses several walks.",
            autocompletion=complete_search_method,
        ),
    ] = None,
    rerank: Annotated[
        bool,
        typer.Option("--rerank", help="Rerank with a small model that reads each passage after the one leading to it."),
    ] = False,
    k: Annotated[int, typer.Option("-k", min=1, help="Number of passages.")] = 10,
    where: WhereText = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the hop and the chains of triples that lead to each passage.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the rank of each passage in every fused list.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Print whole passages, not only the best part.")] = False,
    as_json: AsJson = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Find passages, including those that only a chain of facts leads to.

    Examples:

        triplebeam search my.index "When did the director of Laughter in Hell die?" --explain

        triplebeam search my.index "…" -k 3 --full

        triplebeam search my.index "…" --method hybrid -k 5 --json

        triplebeam search my.index "…" --where 'type = "md" and modified >= "2026-01-01"'
    """
    settings = assemble.read_settings(embedder=embedder, offline=offline or None)
    with shown_progress() as progress:
        opened = assemble.open_index(folder, settings=settings, progress=progress)
        index = opened if where is None else opened.filter(where)
        chosen = (method or assemble.DEFAULT_METHOD) + ("+rerank" if rerank else "")
        results = index.search(" ".join(words), k=k, method=chosen)
        show_passages(index, results, explain=explain, verbose=verbose, full=full, as_json=as_json)


def show_passages(
    index: "assemble.IndexReader",
    results: SearchResults,
    *,
    explain: bool,
    as_json: bool,
    verbose: bool = False,
    full: bool = False,
) -> None:
    """Print what a search found."""
    if as_json:
        Output().json(results.to_dict())
    else:
        _draw(index, results, explain, full, verbose)


def _draw(index: "assemble.IndexReader", results: SearchResults, explain: bool, full: bool, verbose: bool) -> None:
    console, copies = Output().console, Counter(each.like for each in results)
    for result, heading in zip(results, headings(each.passage for each in results), strict=True):
        if result.like is None:
            whole = results.question if full else None
            draw_hit(console, index, result, heading, whole, explain=explain, verbose=verbose)
            if more := copies[result.passage.id]:
                console.print(f"    [dim]and {more} more like it[/dim]")
    if results.remark:
        Output().note(results.remark)
    if not results:
        Output().note("No passage matches: try other words, or --method dense, which needs no words in common.")
