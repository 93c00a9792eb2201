"""Drawing for people: passages and chains."""

import sys
import textwrap
from collections.abc import Collection as SizedCollection
from collections.abc import Sequence
from itertools import pairwise

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from triplebeam.passage import Passage
from triplebeam.ranking import Hit
from triplebeam.triple import Chain, Triple, entity_key

_MOST_BEGINNINGS = 2
_MOST_ENDS = 3


def out() -> Console:
    """Where results go."""
    # Without a terminal, nothing is cut to its width.
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, soft_wrap=True, width=160)


def err() -> Console:
    """Where everything else goes."""
    return Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def snippet(text: str, width: int = 200) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    # Between words where there are any: Chinese has no spaces.
    return textwrap.wrap(line, width - 2)[0] + " …"


def draw_hit(
    console: Console, rank: int, hit: Hit, passage: Passage, own: SizedCollection[Triple], explain: bool
) -> None:
    """A passage of a ranking; with ``explain``, the chains that led to it. ``own`` are the passage's triples."""
    title = escape(passage.title or passage.id)
    console.print(f"[bold]{rank:>2}. {title}[/bold]  [dim]{escape(passage.id)}  score {hit.score:.4f}[/dim]")
    console.print(textwrap.indent(textwrap.fill(snippet(passage.text), 96), "    "), markup=False)
    if explain:
        if hit.found_by:
            ranks = ", ".join(f"{part} {rank}" for part, rank in hit.found_by)
            console.print(f"      [dim]found by {ranks}[/dim]")
        draw_chains(console, hit.chains, own)


def draw_chains(console: Console, chains: Sequence[Chain], own: SizedCollection[Triple] = ()) -> None:
    """The chains that lead to a passage, those with a common beginning together; ● marks the passage's own triples."""
    if not chains:
        console.print("      [dim]found without a chain of triples[/dim]")
    in_longer = {triple for chain in chains if len(chain) > 1 for triple in chain}
    chains = [chain for chain in chains if len(chain) > 1 or chain[0] not in in_longer]  # no fact twice
    beginnings: dict[Chain, list[Chain]] = {}
    for chain in chains:
        beginnings.setdefault(chain[:-1], []).append(chain)
    for beginning, together in list(beginnings.items())[:_MOST_BEGINNINGS]:
        joints = set().union(*(_joints(chain) for chain in together))
        for triple in beginning:
            _draw_triple(console, triple, joints, triple in own, arrow=triple is not beginning[0])
        for chain in together[:_MOST_ENDS]:
            _draw_triple(console, chain[-1], joints, chain[-1] in own, arrow=bool(beginning))
    shown = sum(len(together[:_MOST_ENDS]) for together in list(beginnings.values())[:_MOST_BEGINNINGS])
    if shown < len(chains):
        console.print(f"      [dim]… and {len(chains) - shown} more[/dim]")


def _draw_triple(console: Console, triple: Triple, joints: set[str], mine: bool, arrow: bool) -> None:
    line = Text("      ")
    line.append("╰▶ " if arrow else "   ", style="dim")
    line.append("● " if mine else "○ ", style="green" if mine else "dim")
    console.print(line.append_text(draw_triple(triple, joints)))


def draw_triple(triple: Triple, joints: SizedCollection[str] = ()) -> Text:
    """A triple on one line; entities among ``joints`` stand out."""
    line = Text()
    line.append(triple.subject, style="bold yellow" if entity_key(triple.subject) in joints else "")
    line.append(f" ─ {triple.predicate} → ", style="dim")
    line.append(triple.object, style="bold yellow" if entity_key(triple.object) in joints else "")
    return line


def _joints(chain: Chain) -> set[str]:
    """Entities that a triple shares with the one before it."""
    ends = [{entity_key(triple.subject), entity_key(triple.object)} for triple in chain]
    return set().union(*(before & after for before, after in pairwise(ends)))
