"""Drawing for people: progress on stderr, passages and chains on stdout."""

import sys
import textwrap
from collections.abc import Collection as SizedCollection
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from triplebeam.passage import Passage
from triplebeam.progress import Progress as ProgressCallback
from triplebeam.ranking import Hit
from triplebeam.triple import Chain, Triple, entity_key

_STAGES = {
    "read": "reading documents",
    "extract": "extracting triples",
    "embed": "encoding texts",
    "publish": "writing the index",
}


def out() -> Console:
    """Where results go."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def err() -> Console:
    """Where everything else goes."""
    return Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


@contextmanager
def progress_bars() -> Iterator[ProgressCallback]:
    """One bar a stage, with the time left; gone when the work is done, and none where nobody watches."""
    console = err()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    # The estimate looks back a minute: a stage's first batches say little about its last.
    with Progress(
        *columns, console=console, transient=True, speed_estimate_period=60, disable=not console.is_terminal
    ) as bars:
        tasks = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(_STAGES.get(stage, stage), total=total or None)
            bars.update(tasks[stage], completed=done, total=total or None)

        yield show


def snippet(text: str, width: int = 200) -> str:
    """The beginning of a text, on one line."""
    return textwrap.shorten(text, width, placeholder=" …")


def draw_hit(
    console: Console, rank: int, hit: Hit, passage: Passage, own: SizedCollection[Triple], explain: bool
) -> None:
    """A passage of a ranking; with ``explain``, the chains that led to it. ``own`` are the passage's triples."""
    title = escape(passage.title or passage.id)
    console.print(f"[bold]{rank:>2}. {title}[/bold]  [dim]{escape(passage.id)}  score {hit.score:.4f}[/dim]")
    console.print(textwrap.indent(textwrap.fill(snippet(passage.text), 96), "    "), markup=False)
    if explain:
        for chain in hit.chains[:3]:
            draw_chain(console, chain, own)
        if len(hit.chains) > 3:
            console.print(f"      [dim]… and {len(hit.chains) - 3} more chains[/dim]")
        if not hit.chains:
            console.print("      [dim]found by the base search[/dim]")


def draw_chain(console: Console, chain: Chain, own: SizedCollection[Triple] = ()) -> None:
    """A chain, a triple a line; entities that join two of its triples stand out, ● marks this passage's own triples."""
    joints = _joints(chain)
    for place, triple in enumerate(chain):
        line = Text("      ")
        line.append("╰▶ " if place else "   ", style="dim")
        line.append("● " if triple in own else "○ ", style="green" if triple in own else "dim")
        line.append(triple.subject, style="bold yellow" if entity_key(triple.subject) in joints else "")
        line.append(f" ─ {triple.predicate} → ", style="dim")
        line.append(triple.object, style="bold yellow" if entity_key(triple.object) in joints else "")
        console.print(line)


def _joints(chain: Chain) -> set[str]:
    """Entities that a triple shares with the one before it."""
    ends = [{entity_key(triple.subject), entity_key(triple.object)} for triple in chain]
    return set().union(*(before & after for before, after in pairwise(ends)))
