"""`triplebeam demo`: see it work, in a minute and without a key."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from triplebeam import assemble
from triplebeam.demo import GRAPH, SHOWN, Comparison, K, asked_through_agent, build, compare
from triplebeam.explain.passages import heading
from triplebeam.explain.search_results import SearchResults
from triplebeam.ranking import Ranking
from triplebeam.serve.cli.display import draw_answer, draw_hit, take_steps
from triplebeam.serve.cli.options import Offline
from triplebeam.serve.cli.output import Output, shown_progress


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="INDEX", help="Folder for the demo's index, which you can keep using.")
    ] = Path("demo.index"),
    offline: Offline = False,
) -> None:
    """Index a small corpus and compare plain search with the graph on a question that needs two passages.

    Example:

        triplebeam demo
    """
    with shown_progress() as progress:
        index = build(folder, assemble.read_settings(offline=offline or None), progress)
        comparisons = compare(index)
    console = Output().console
    counts = index.status.counts
    console.print(
        f"Indexed {counts['passages']} passages: {counts['triples']} triples between {counts['entities']} entities,"
        " extracted by rules on this machine.\n"
    )
    (shown,) = (each for each in comparisons if each.question.id == SHOWN)
    _draw_side_by_side(console, index, shown)
    source = assemble.context_of(index).source
    for result in SearchResults(source, shown.question.question, GRAPH, shown.graph):
        if result.passage.id in shown.only_graph:
            console.print("\nOnly the graph found this passage, by this chain:")
            draw_hit(console, index, result, heading(result.passage), explain=True)
    plain = sum(each.recall(each.plain) for each in comparisons) / len(comparisons)
    graph = sum(each.recall(each.graph) for each in comparisons) / len(comparisons)
    console.print(
        f"\nOver all {len(comparisons)} questions of the demo, plain search finds {plain:.0%} of the needed passages"
        f" among the first {K}, the graph {graph:.0%}. The demo was written to show a hop: docs/benchmarks.md has the"
        " figures on real data."
    )
    whose, run = asked_through_agent(index)
    console.print(f"\nThe same question through the agent, with {whose}:\n", markup=False)
    answer = take_steps(run, console, index.passages)
    draw_answer(console, answer, index.passages, k=2)
    console.print("\nTry it yourself:")
    console.print(f'  triplebeam search {folder} "{comparisons[2].question.question}" --explain', markup=False)
    console.print("  triplebeam index my.index path/to/your/documents", markup=False)


def _draw_side_by_side(console: Console, index: "assemble.IndexReader", shown: Comparison) -> None:
    console.print(f"[bold]{shown.question.question}[/bold]")
    console.print(f"It needs {len(shown.question.gold)} passages; ✔ marks them among the first {K}.\n")
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("", justify="right", style="dim")
    table.add_column("plain search (BM25 + vectors)")
    table.add_column("through the graph of triples")
    titles = [_titles(index, shown, ranking) for ranking in (shown.plain, shown.graph)]
    for rank, row in enumerate(zip(*titles, strict=True), start=1):
        table.add_row(str(rank), *row)
    console.print(table)


def _titles(index: "assemble.IndexReader", shown: Comparison, ranking: Ranking) -> list[str]:
    gold = set(shown.question.gold)
    return [
        f"[bold green]✔ {index.passages[id_].title}[/bold green]" if id_ in gold else f"  {index.passages[id_].title}"
        for id_ in ranking.ids
    ]
