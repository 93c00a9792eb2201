"""Drawing for people: passages and chains, an agent's steps and its answer."""

from collections.abc import Collection as SizedCollection
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from triplebeam import assemble
from triplebeam.answer import Answer, Evidence, Run, Step
from triplebeam.explain.cross_references import describe_hop, is_made_by, telling_facts
from triplebeam.explain.passages import heading, headings, path_of
from triplebeam.explain.search_results import SearchResult
from triplebeam.explain.snippet import fill_paragraphs, highlights, snippet, split_blocks, wanted_words
from triplebeam.explain.verdict import describe_fact, remarks, verdict
from triplebeam.generate.language_model import Usage
from triplebeam.passage import Passages
from triplebeam.serve.cli.output import Output
from triplebeam.serve.shapes import own_triples
from triplebeam.text.names import entity_key
from triplebeam.text.phrases import format_count
from triplebeam.text.terms import ENGLISH
from triplebeam.triple import Chain, Triple

_MAX_BEGINNINGS, _MAX_ENDS = 2, 3
_MAX_COLUMNS, _MIN_COLUMNS = 96, 24
_MEMORY = "the model's own knowledge: no document says it"
_UNQUOTED = "no passage was found that says it"


def draw_text(console: Console, text: str, highlights: Iterable[tuple[int, int]] = (), *, spaced: bool = False) -> None:
    """Draw a text four columns in, what matches in bold: paragraphs are filled, lines of code and tables stay.

    ``spaced`` leaves an empty line between blocks.
    """
    marked = Text(fill_paragraphs(text))
    for start, end in highlights:
        marked.stylize("bold", start, end)
    for number, block in enumerate(split_blocks(text)):
        if spaced and number:
            console.print()
        own = marked[block.start : block.end]
        draw_indented(console, own, 4, keeps_lines=block.keeps_lines)


def draw_indented(console: Console, text: Text, columns: int, *, label: str = "", keeps_lines: bool = False) -> None:
    """Draw a paragraph some columns in, wrapped to the terminal and at most 96 columns wide; or lines as they are.

    A label is in front of the first line.
    """
    width = max(_MIN_COLUMNS, min(_MAX_COLUMNS, console.width - columns))
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
    """Draw a passage of a ranking: the part that matches best, or all with the words of the question ``full``; with
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


def draw_chains(console: Console, chains: Sequence[Chain], own: SizedCollection[Triple] = ()) -> None:
    """Draw the chains that lead to a passage, those with a common beginning together; ● marks its own triples."""
    in_longer = {triple for chain in chains if len(chain) > 1 for triple in chain}
    chains = [chain for chain in chains if len(chain) > 1 or chain[0] not in in_longer]  # no fact twice
    beginnings: dict[Chain, list[Chain]] = {}
    for chain in chains:
        beginnings.setdefault(chain[:-1], []).append(chain)
    for beginning, together in list(beginnings.items())[:_MAX_BEGINNINGS]:
        joints = set().union(*(_joints(chain) for chain in together))
        for triple in beginning:
            _draw_triple(console, triple, joints, triple in own, arrow=triple is not beginning[0])
        for chain in together[:_MAX_ENDS]:
            _draw_triple(console, chain[-1], joints, chain[-1] in own, arrow=bool(beginning))
    shown = sum(len(together[:_MAX_ENDS]) for together in list(beginnings.values())[:_MAX_BEGINNINGS])
    if shown < len(chains):
        console.print(f"      [dim]… and {len(chains) - shown} more[/dim]")


def _draw_triple(console: Console, triple: Triple, joints: set[str], mine: bool, arrow: bool) -> None:
    line = Text("      ")
    line.append("╰▶ " if arrow else "   ", style="dim")
    line.append("● " if mine else "○ ", style="green" if mine else "dim")
    console.print(line.append_text(draw_triple(triple, joints)))


def draw_triple(triple: Triple, joints: SizedCollection[str] = ()) -> Text:
    """Write a triple on one line; entities among ``joints`` stand out."""
    line = Text()
    line.append(triple.subject, style="bold yellow" if entity_key(triple.subject) in joints else "")
    line.append(f" ─ {triple.predicate} → ", style="dim")
    line.append(triple.object, style="bold yellow" if entity_key(triple.object) in joints else "")
    return line


def _joints(chain: Chain) -> set[str]:
    """Find the entities that a triple shares with the one before it."""
    ends = [{entity_key(triple.subject), entity_key(triple.object)} for triple in chain]
    return set().union(*(before & after for before, after in pairwise(ends)))


def take_steps(run: Run, console: Console | None, passages: Passages) -> Answer:
    """Take an agent's steps, showing each as it is done if there is a console."""
    while True:
        with Output().notes.status("thinking …"):
            step = next(run.steps, None)
        if step is None:
            return run.answer
        if console:
            draw_step(console, step, passages)


def draw_step(console: Console, step: Step, passages: Passages) -> None:
    """Draw what was asked for, found, read and thought."""
    console.print(f"[bold]Step {step.number}[/bold]  {escape(step.query)}")
    # A step that made no search did not find nothing.
    if step.ranking:
        titles = headings(passages[id_] for id_ in step.ranking.ids[:5])
        _draw_labelled(console, "found", [Text(" · ".join(titles))])
    _draw_labelled(console, "read", [_write_read_fact(fact, passages) for fact in step.facts])
    _draw_labelled(console, "thought", map(Text, step.thought.splitlines()))
    for problem in step.problems:
        _draw_labelled(console, "problem", [Text(problem, style="yellow")])
    console.print(f"    [dim]{usage_line(step.usage)}, {step.seconds:.1f} s[/dim]")


def _draw_labelled(console: Console, label: str, paragraphs: Iterable[Text]) -> None:
    for number, paragraph in enumerate(paragraphs):
        draw_indented(console, paragraph, 13, label=f"    {label}" if number == 0 else "")


def _write_read_fact(fact: Evidence, passages: Passages) -> Text:
    source = heading(passages[fact.span.passage_id]) if fact.span else _MEMORY if fact.from_memory else ""
    return _write_fact(fact).append(f"  ({source})" if source else "", style="dim")


def _write_fact(fact: Evidence) -> Text:
    """Write the sentence with its speaker and its date; where there is no sentence, the triple."""
    return Text(describe_fact(fact)) if fact.statement else draw_triple(fact.triple)


def draw_answer(
    console: Console,
    answer: Answer,
    passages: Passages,
    k: int,
    dollars: float | None = None,
    stemmers: Mapping[str, str] | None = None,
) -> None:
    """Draw the answer, the evidence for it, what is missing, the passages, and what it cost."""
    console.print()
    _draw_outcome(console, answer)
    if answer.evidence:
        console.print(
            "\n[bold]Because[/bold]"
            if answer.outcome in ("answered", "false_premise")
            else "\n[bold]What was found[/bold]"
        )
    ranks = {id_: rank for rank, id_ in enumerate(answer.ranking.ids, start=1)}
    for number, fact in enumerate(answer.evidence, start=1):
        _draw_evidence(console, number, fact, ranks, passages)
    if answer.missing:
        console.print("\n[bold]What is missing[/bold]")
    for sentence in answer.missing:
        draw_indented(console, Text(sentence), 2)
    _draw_passages(console, answer, passages, k, stemmers or {})
    price = "" if dollars is None else f", ${dollars:.4f}"
    console.print(f"\n[dim]{usage_line(answer.usage)}{price}[/dim]")


def _draw_outcome(console: Console, answer: Answer) -> None:
    """Draw the answer in short and in a sentence, and how far it can be relied on."""
    said = verdict(answer)
    if answer.outcome == "answered":
        console.print(f"[bold green]{escape(answer.text)}[/bold green]")
    elif answer.outcome == "false_premise":
        console.print(f"[bold]{said}[/bold]")
        draw_indented(console, Text(answer.premise), 0)
    elif answer.outcome == "guess":
        console.print(f"[bold yellow]A guess: {escape(answer.text)}[/bold yellow]")
    elif answer.outcome == "model_failed":  # why is for stderr
        console.print("[bold red]The model failed, so there is no answer.[/bold red]")
    else:
        console.print(f"[bold]{said}[/bold]")
    if answer.sentence and answer.sentence not in answer.missing:
        draw_indented(console, Text(answer.sentence), 0)
    if answer.others:
        draw_indented(console, Text(f"Other answers that fit: {'; '.join(answer.others)}"), 0)
    for remark in remarks(answer):
        draw_indented(console, Text(remark), 0)
    if answer.loop_text and answer.loop_text.casefold() != answer.text.casefold():
        console.print(f"[dim]The facts alone said: {escape(answer.loop_text)}[/dim]")
    if answer.text:
        console.print(f"[green]✔ {said}[/green]" if answer.supported else f"[yellow]{said}[/yellow]")
    if answer.ending and not answer.failure:
        console.print(f"[dim]Stopped because {escape(answer.ending.rstrip('.'))}.[/dim]")


def _draw_evidence(console: Console, number: int, fact: Evidence, ranks: Mapping[str, int], passages: Passages) -> None:
    """Draw a fact, then the words it rests on and where they are."""
    draw_indented(console, _write_fact(fact), 5, label=f"  {number}")
    if fact.span:
        if fact.span.text not in fact.statement:  # a fact may be a quotation itself
            draw_indented(console, Text(f"“{fact.span.text}”"), 5)
        rank, source = ranks.get(fact.span.passage_id), heading(passages[fact.span.passage_id])
        draw_indented(console, Text(f"[{rank}] {source}" if rank else source, style="dim"), 5)
    else:
        console.print(f"     [yellow]{_MEMORY if fact.from_memory else _UNQUOTED}[/yellow]")
    if fact.note:
        console.print(f"     [dim]for {escape(fact.note)}[/dim]")


def _draw_passages(console: Console, answer: Answer, passages: Passages, k: int, stemmers: Mapping[str, str]) -> None:
    console.print("\n[bold]Passages[/bold]")
    best = [passages[hit.passage_id] for hit in answer.ranking.top(k)]
    for rank, (passage, written) in enumerate(zip(best, headings(best), strict=True), start=1):
        console.print(f"  \\[{rank}] [bold]{escape(written)}[/bold]  [dim]{escape(passage.id)}[/dim]")
        facts = (fact.triple for fact in answer.evidence if fact.span and fact.span.passage_id == passage.id)
        draw_text(console, *snippet(passage, answer.question, facts, stemmers.get(passage.id, ENGLISH)))


def usage_line(usage: Usage) -> str:
    """Write calls and tokens on one line."""
    about = "about " if usage.estimated else ""
    cached = f", {usage.cached_calls} from the cache" if usage.cached_calls else ""
    return (
        f"{format_count(usage.calls, 'call')}, {about}{usage.tokens_in:,} tokens in, {usage.tokens_out:,} out{cached}"
    )
