"""Showing an agent's steps and its answer to people."""

from rich.console import Console
from rich.markup import escape

from triplebeam.answer import Answer, Run, Step
from triplebeam.generate.language_model import Usage
from triplebeam.passage import Passages
from triplebeam.serve.cli.display import draw_text, draw_triple, err
from triplebeam.serve.found import headings
from triplebeam.serve.snippet import snippet


def take_steps(run: Run, console: Console | None, passages: Passages) -> Answer:
    """Take an agent's steps, showing each as it is done if there is a console."""
    while (step := _next_step(run)) is not None:
        if console:
            draw_step(console, step, passages)
    return run.answer


def _next_step(run: Run) -> Step | None:
    with err().status("thinking …"):
        return next(run.steps, None)


def draw_step(console: Console, step: Step, passages: Passages) -> None:
    """What was asked for, found, read and thought."""
    console.print(f"[bold]Step {step.number}[/bold]  {escape(step.query)}")
    # A step that made no search did not find nothing.
    if step.ranking:
        titles = headings(passages[id_] for id_ in step.ranking.ids[:5])
        console.print(f"    [dim]found[/dim]    {escape(' · '.join(titles))}")
    for number, fact in enumerate(step.facts):
        console.print("    [dim]read[/dim]     " if number == 0 else " " * 13, draw_triple(fact.triple), sep="")
    for number, line in enumerate(step.thought.splitlines()):
        console.print("    [dim]thought[/dim]  " if number == 0 else " " * 13, escape(line), sep="")
    for problem in step.problems:
        console.print(f"    [yellow]problem  {escape(problem)}[/yellow]")
    console.print(f"    [dim]{usage_line(step.usage)}, {step.seconds:.1f} s[/dim]")


def draw_answer(console: Console, answer: Answer, passages: Passages, k: int, dollars: float | None = None) -> None:
    """The answer, the evidence for it, the passages, and what it cost."""
    console.print()
    if answer.text:
        doubt = (
            "not every step of it was found in the passages" if answer.agreed else "the evidence is for another answer"
        )
        mark = "" if answer.supported else f"  [yellow]({doubt})[/yellow]"
        console.print(f"[bold green]{escape(answer.text)}[/bold green]{mark}")
    else:
        console.print("[bold]No answer was found.[/bold]")
    if answer.loop_text and answer.loop_text.casefold() != answer.text.casefold():
        console.print(f"[dim]The facts alone said: {escape(answer.loop_text)}[/dim]")
    if answer.sentence:
        console.print(escape(answer.sentence))
    console.print(f"[dim]Stopped because {escape(answer.ending.rstrip('.'))}.[/dim]")
    if answer.evidence:
        console.print("\n[bold]Evidence[/bold]")
    ranks = {id_: rank for rank, id_ in enumerate(answer.ranking.ids, start=1)}
    for fact in answer.evidence:
        mark = "[green]✔[/green]" if fact.span else "[yellow]✘[/yellow]"
        console.print(f"  {mark} ", draw_triple(fact.triple), sep="")
        if fact.span:
            console.print(f'      [dim]\\[{ranks[fact.span.passage_id]}] "{escape(fact.span.text)}"[/dim]')
        if fact.note:
            console.print(f"      [dim]for {escape(fact.note)}[/dim]")
    console.print("\n[bold]Passages[/bold]")
    best = [passages[hit.passage_id] for hit in answer.ranking.top(k)]
    for rank, (passage, heading) in enumerate(zip(best, headings(best), strict=True), start=1):
        console.print(f"  \\[{rank}] [bold]{escape(heading)}[/bold]  [dim]{escape(passage.id)}[/dim]")
        facts = (fact.triple for fact in answer.evidence if fact.span and fact.span.passage_id == passage.id)
        draw_text(console, *snippet(passage, answer.question, facts))
    price = "" if dollars is None else f", ${dollars:.4f}"
    console.print(f"\n[dim]{usage_line(answer.usage)}{price}[/dim]")


def usage_line(usage: Usage) -> str:
    """Calls and tokens on one line."""
    about = "about " if usage.estimated else ""
    cached = f", {usage.cached_calls} from the cache" if usage.cached_calls else ""
    return f"{usage.calls} calls, {about}{usage.tokens_in:,} tokens in, {usage.tokens_out:,} out{cached}"
