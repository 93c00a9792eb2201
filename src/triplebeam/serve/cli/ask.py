"""`triplebeam ask`: an answer, with its steps and its evidence."""

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.serve.cli.options import AsJson, EmbedderName, IndexFolder, Offline

if TYPE_CHECKING:
    from rich.console import Console

    from triplebeam.answer import Answer, Step
    from triplebeam.assemble import Collection
    from triplebeam.generate.language_model import Usage


class Effort(StrEnum):
    """The dial."""

    none = "none"
    low = "low"
    high = "high"
    auto = "auto"


_METHODS = {Effort.low: "single_step", Effort.high: "gear", Effort.auto: "auto"}


def ask(
    folder: IndexFolder,
    question: Annotated[str, typer.Argument(metavar="QUESTION", show_default=False)],
    effort: Annotated[
        Effort,
        typer.Option(
            help="none: passages and chains, no call. low: one reading, two calls. high: the agent, step by step."
            " auto: low first, high only when that does not answer it.",
        ),
    ] = Effort.auto,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", "-m", help="An agent by name instead: gear, gear[max_steps=2]:hybrid.", show_default=False
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages to show.")] = 5,
    as_json: AsJson = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Answer a question, showing each step as it happens, then the evidence.

    The model is any OpenAI-compatible endpoint: TRIPLEBEAM_MODEL, TRIPLEBEAM_BASE_URL, TRIPLEBEAM_API_KEY.

    Examples:

        triplebeam ask my.index "When did the director of Laughter in Hell die?"

        triplebeam ask my.index "…" --effort none

        triplebeam ask my.index "…" --json > answer.json && triplebeam verify my.index answer.json
    """
    from triplebeam.assemble import DEFAULT_METHOD, HOW_TO_CONFIGURE, check_question, open_collection
    from triplebeam.serve.cli.display import err, out
    from triplebeam.serve.cli.search import search
    from triplebeam.settings import read_settings

    check_question(question)
    settings = read_settings(embedder=embedder, offline=offline or None)
    if effort is Effort.none or not (settings.model or method):
        if effort is not Effort.none:
            err().print(
                f"No language model is configured, so here are the passages and the chains that lead to them. For an"
                f" answer, {HOW_TO_CONFIGURE}; then ask again.",
                style="yellow",
            )
        search(folder, question, DEFAULT_METHOD, k, explain=True, as_json=as_json, embedder=embedder, offline=offline)
        return
    collection = open_collection(folder, settings=settings)
    answer = _run(collection, method or _METHODS[effort], question, None if as_json else out())
    if as_json:
        _print_json(collection, answer)
    else:
        _draw_answer(out(), collection, answer, k)


def _run(collection: "Collection", method: str, question: str, console: "Console | None") -> "Answer":
    """Take the agent's steps, drawing each as it is done."""
    from triplebeam.serve.cli.display import err

    running = collection.agent(method).steps(question)
    while True:
        try:
            with err().status("thinking …"):
                step = next(running)
        except StopIteration as done:
            answer: Answer = done.value
            return answer
        if console:
            _draw_step(console, collection, step)


def _draw_step(console: "Console", collection: "Collection", step: "Step") -> None:
    from rich.markup import escape

    from triplebeam.serve.cli.display import draw_triple

    console.print(f"[bold]Step {step.number}[/bold]  {escape(step.query)}")
    titles = [collection.passages[id_].title or id_ for id_ in step.ranking.ids[:5]]
    console.print(f"    [dim]found[/dim]    {escape(' · '.join(titles)) or 'nothing'}")
    for number, fact in enumerate(step.facts):
        console.print("    [dim]read[/dim]     " if number == 0 else " " * 13, draw_triple(fact), sep="")
    if step.thought:
        console.print(f"    [dim]thought[/dim]  {escape(step.thought)}")
    for problem in step.problems:
        console.print(f"    [yellow]problem  {escape(problem)}[/yellow]")
    console.print(f"    [dim]{_usage_line(step.usage)}, {step.seconds:.1f} s[/dim]")


def _draw_answer(console: "Console", collection: "Collection", answer: "Answer", k: int) -> None:
    from rich.markup import escape

    from triplebeam.serve.cli.display import draw_triple, snippet

    console.print()
    if answer.text:
        mark = "" if answer.supported else "  [yellow](not every step of it was found in the passages)[/yellow]"
        console.print(f"[bold green]{escape(answer.text)}[/bold green]{mark}")
    else:
        console.print("[bold]No answer was found.[/bold]")
    if answer.loop_text and answer.loop_text.casefold() != answer.text.casefold():
        console.print(f"[dim]The facts alone said: {escape(answer.loop_text)}[/dim]")
    if answer.sentence:
        console.print(escape(answer.sentence))
    console.print(f"[dim]{escape(answer.ending)}.[/dim]")
    if answer.evidence:
        console.print("\n[bold]Evidence[/bold]")
    ranks = {id_: rank for rank, id_ in enumerate(answer.ranking.ids, start=1)}
    for fact in answer.evidence:
        mark = "[green]✔[/green]" if fact.span else "[yellow]✘[/yellow]"
        console.print(f"  {mark} ", draw_triple(fact.triple), sep="")
        if fact.span:
            console.print(f'      [dim]\\[{ranks[fact.span.passage_id]}] "{escape(fact.span.text)}"[/dim]')
    console.print("\n[bold]Passages[/bold]")
    for rank, hit in enumerate(answer.ranking.top(k), start=1):
        passage = collection.passages[hit.passage_id]
        console.print(
            f"  \\[{rank}] [bold]{escape(passage.title or passage.id)}[/bold]  [dim]{escape(passage.id)}[/dim]"
        )
        console.print(f"      {escape(snippet(passage.text, 160))}")
    console.print(f"\n[dim]{_usage_line(answer.usage)}{_price(collection, answer.usage)}[/dim]")


def _usage_line(usage: "Usage") -> str:
    about = "about " if usage.estimated else ""
    cached = f", {usage.cached_calls} from the cache" if usage.cached_calls else ""
    return f"{usage.calls} calls, {about}{usage.tokens_in:,} tokens in, {usage.tokens_out:,} out{cached}"


def _price(collection: "Collection", usage: "Usage") -> str:
    from triplebeam.generate.prices import price

    dollars = price(usage, collection.model.name, collection.settings.prices)
    return "" if dollars is None else f", ${dollars:.4f}"


def _print_json(collection: "Collection", answer: "Answer") -> None:
    from triplebeam.generate.prices import price
    from triplebeam.serve.answer_json import to_json

    dollars = price(answer.usage, collection.model.name, collection.settings.prices)
    typer.echo(json.dumps(to_json(answer, collection.passages, price=dollars), ensure_ascii=False, indent=2))
