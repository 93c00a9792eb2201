"""Showing an agent's steps and its answer to people."""

from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from triplebeam.answer import Answer, Evidence, Run, Step
from triplebeam.explain.passages import heading, headings
from triplebeam.explain.snippet import snippet
from triplebeam.explain.verdict import describe_fact, remarks, verdict
from triplebeam.generate.language_model import Usage
from triplebeam.passage import Passages
from triplebeam.serve.cli.display import draw_indented, draw_text, draw_triple
from triplebeam.serve.cli.output import Output
from triplebeam.text.terms import ENGLISH

_MEMORY = "the model's own knowledge: no document says it"
_UNQUOTED = "no passage was found that says it"


def take_steps(run: Run, console: Console | None, passages: Passages) -> Answer:
    """Take an agent's steps, showing each as it is done if there is a console."""
    while (step := _next_step(run)) is not None:
        if console:
            draw_step(console, step, passages)
    return run.answer


def _next_step(run: Run) -> Step | None:
    with Output().notes.status("thinking …"):
        return next(run.steps, None)


def draw_step(console: Console, step: Step, passages: Passages) -> None:
    """What was asked for, found, read and thought."""
    console.print(f"[bold]Step {step.number}[/bold]  {escape(step.query)}")
    # A step that made no search did not find nothing.
    if step.ranking:
        titles = headings(passages[id_] for id_ in step.ranking.ids[:5])
        _draw_labelled(console, "found", [Text(" · ".join(titles))])
    _draw_labelled(console, "read", [_read_fact(fact, passages) for fact in step.facts])
    _draw_labelled(console, "thought", map(Text, step.thought.splitlines()))
    for problem in step.problems:
        _draw_labelled(console, "problem", [Text(problem, style="yellow")])
    console.print(f"    [dim]{usage_line(step.usage)}, {step.seconds:.1f} s[/dim]")


def _draw_labelled(console: Console, label: str, paragraphs: Iterable[Text]) -> None:
    for number, paragraph in enumerate(paragraphs):
        draw_indented(console, paragraph, 13, label=f"    {label}" if number == 0 else "")


def _read_fact(fact: Evidence, passages: Passages) -> Text:
    source = heading(passages[fact.span.passage_id]) if fact.span else _MEMORY if fact.from_memory else ""
    return _draw_fact(fact).append(f"  ({source})" if source else "", style="dim")


def _draw_fact(fact: Evidence) -> Text:
    """The sentence with its speaker and its date; where there is no sentence, the triple."""
    return Text(describe_fact(fact)) if fact.statement else draw_triple(fact.triple)


def draw_answer(
    console: Console,
    answer: Answer,
    passages: Passages,
    k: int,
    dollars: float | None = None,
    stemmers: Mapping[str, str] | None = None,
) -> None:
    """The answer, the evidence for it, what is missing, the passages, and what it cost."""
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
    """The answer in short and in a sentence, and how far it can be relied on."""
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
    """A fact, then the words it rests on and where they are."""
    draw_indented(console, _draw_fact(fact), 5, label=f"  {number}")
    if fact.span:
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
    """Calls and tokens on one line."""
    about = "about " if usage.estimated else ""
    cached = f", {usage.cached_calls} from the cache" if usage.cached_calls else ""
    return f"{usage.calls} calls, {about}{usage.tokens_in:,} tokens in, {usage.tokens_out:,} out{cached}"
