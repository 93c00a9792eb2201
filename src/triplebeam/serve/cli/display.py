"""Drawing for people: passages and chains."""

from collections.abc import Collection as SizedCollection
from collections.abc import Iterable, Sequence
from itertools import pairwise

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from triplebeam import assemble
from triplebeam.explain.cross_references import describe_hop, is_made_by, telling_facts
from triplebeam.explain.layout import blocks, filled
from triplebeam.explain.passages import path_of
from triplebeam.explain.search_results import SearchResult
from triplebeam.explain.snippet import highlights, wanted_words
from triplebeam.text.names import entity_key
from triplebeam.triple import Chain, Triple

_MOST_BEGINNINGS = 2
_MOST_ENDS = 3
_WIDTH = 96
_NARROWEST = 24


def draw_text(console: Console, text: str, highlights: Iterable[tuple[int, int]] = (), *, spaced: bool = False) -> None:
    """A text four columns in, what matches in bold: paragraphs are filled, lines of code and tables stay as they are.

    ``spaced`` leaves an empty line between blocks.
    """
    marked = Text(filled(text))
    for start, end in highlights:
        marked.stylize("bold", start, end)
    for number, block in enumerate(blocks(text)):
        if spaced and number:
            console.print()
        own = marked[block.start : block.end]
        draw_indented(console, own, 4, keeps_lines=block.keeps_lines)


def draw_indented(console: Console, text: Text, columns: int, *, label: str = "", keeps_lines: bool = False) -> None:
    """A paragraph some columns in, wrapped to the terminal and at most 96 columns wide; or lines as they are.

    A label is in front of the first line.
    """
    width = max(_NARROWEST, min(_WIDTH, console.width - columns))
    for line in text.split("\n") if keeps_lines else text.wrap(console, width):
        line.rstrip()
        console.print(Text.assemble((label.ljust(columns), "dim"), line), soft_wrap=True)
        label = ""


def draw_hit(
    console: Console,
    index: "assemble.IndexReader",
    result: SearchResult,
    heading: str,
    full: str | None = None,
    *,
    explain: bool = False,
    verbose: bool = False,
) -> None:
    """A passage of a ranking, the part that matches best, or the whole with the words of the question ``full``; with
    ``explain``, the hop that leads to it and the chains that explain it; with ``verbose``, its ranks in fused lists.
    """
    passage = result.passage
    path = path_of(passage)
    place = passage.id if passage.id.startswith(path) else f"{passage.id}  {path}"
    score = f"[dim]{escape(place)}  score {result.score:.4f}[/dim]"
    console.print(f"[bold]{result.rank:>2}. {escape(heading)}[/bold]  {score}")
    if full is None:
        draw_text(console, *result.snippet)
    else:
        wanted = wanted_words(full, telling_facts(result.chains), result.stemmer)
        draw_text(console, passage.text, highlights(passage.text, wanted, result.stemmer), spaced=True)
    if verbose and result.ranks:
        ranks = ", ".join(f"{part} {rank}" for part, rank in result.ranks.items())
        console.print(f"      [dim]found by {ranks}[/dim]")
    if explain:
        referred = [fact for chain in result.chains for fact in chain if is_made_by(passage, fact)]
        own = [*own_triples(index, passage.id), *referred]
        if result.rank > 1 and (hop := describe_hop(passage, result.chains, own)):
            console.print(f"      [dim]{escape(hop)}[/dim]")
        draw_chains(console, result.chains, own)


def own_triples(index: "assemble.IndexReader", passage_id: str) -> list[Triple]:
    """The triples of a passage."""
    triples = assemble.context_of(index).triples
    return [triples.triple(id_) for id_ in triples.triples_of([passage_id]).tolist()]


def draw_chains(console: Console, chains: Sequence[Chain], own: SizedCollection[Triple] = ()) -> None:
    """The chains that lead to a passage, those with a common beginning together; ● marks the passage's own triples."""
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
