"""`triplebeam research questions`: test questions written from an index's own triples."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.serve.cli.options import AsJson, IndexPlace
from triplebeam.serve.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triplebeam.generate.language_model import Usage
    from triplebeam.settings import Settings
    from triplebeam_research.synthesize.synthesize import SyntheticQuestions

_DEFAULT_COUNT = 40
_MAX_EXAMPLES = 3


def questions(
    folder: IndexPlace,
    destination: Annotated[
        Path, typer.Argument(metavar="OUT.jsonl", help="The file to write; it must not exist.", show_default=False)
    ],
    count: Annotated[int, typer.Option(min=1, help="How many questions to write.")] = _DEFAULT_COUNT,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives other chains.")] = 0,
    hops: Annotated[
        list[int] | None,
        typer.Option(min=2, max=4, help="Hops per question; can be repeated. Default: 2 and 3.", show_default=False),
    ] = None,
    check_shortcuts: Annotated[
        bool,
        typer.Option(
            "--check-shortcuts",
            help="Drop questions that the model can answer from one passage: one more call per question.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write two- and three-hop questions with gold passages for an index that has none, for `triplebeam bench`.

    The model words chains of the index's triples; at most three chains are tried for each question. Review the file:
    each line is a question, with the chain it was made from. Correct it or delete it, and set "reviewed" to true.

    Examples:

        triplebeam research questions my.index questions.jsonl

        triplebeam research questions my.index more.jsonl --count 20 --seed 1 --hops 2 --check-shortcuts
    """
    from triplebeam.settings import read_settings

    made = _make(
        folder.state,
        destination,
        read_settings(),
        count=count,
        seed=seed,
        hops=hops or (2, 3),
        check_shortcuts=check_shortcuts,
    )
    if as_json:
        Output().json(_make_json(destination, *made))
    else:
        _draw(destination, count, *made)


def _make(
    folder: Path,
    destination: Path,
    settings: "Settings",
    *,
    count: int,
    seed: int = 0,
    hops: "Sequence[int]" = (2, 3),
    check_shortcuts: bool = False,
) -> "tuple[SyntheticQuestions, Usage, float | None]":
    """Write the file; what is in it, what was used, and its price where that is known."""
    from triplebeam.assemble.models import make_model
    from triplebeam.generate.accounting import account, compute_cost
    from triplebeam.index.folder.snapshot import Snapshot
    from triplebeam.serve.cli.output import shown_progress
    from triplebeam_research.synthesize.synthesize import check_destination, synthesize, write_questions

    index = Snapshot.open(folder)
    model = make_model(settings)
    check_destination(destination)
    with shown_progress() as progress, account() as spent:
        written = synthesize(
            index, model, count=count, seed=seed, hops=hops, check_shortcuts=check_shortcuts, progress=progress
        )
    write_questions(destination, written.questions)
    return written, spent.usage, compute_cost(spent.usage, model.name, settings.prices)


def _make_json(
    destination: Path, written: "SyntheticQuestions", usage: "Usage", dollars: float | None
) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "file": str(destination),
        "questions": len(written.questions),
        "rejected": dict(written.rejected.most_common()),
        "usage": asdict(usage),
        "price_usd": dollars,
    }


def _draw(
    destination: Path,
    count: int,
    written: "SyntheticQuestions",
    usage: "Usage",
    dollars: float | None,
) -> None:
    from rich.markup import escape

    from triplebeam.serve.cli.display import draw_triple, usage_line

    console = Output().console
    for each in written.questions[:_MAX_EXAMPLES]:
        console.print(f"[bold]{escape(each.question.question)}[/bold]  {escape(each.question.answers[0])}")
        for triple, passage_id in zip(each.chain, each.question.gold, strict=True):
            console.print("    ", draw_triple(triple), f"  [dim]{escape(passage_id)}[/dim]", sep="")
    chains = len(written.questions) + written.rejected.total()
    console.print(f"\n{len(written.questions)} questions from {chains} chains are in {destination}.", markup=False)
    for reason, number in written.rejected.most_common():
        console.print(f"[dim]{number:>5} rejected: {escape(reason)}[/dim]")
    if len(written.questions) < count:
        Output().note(
            f"{count} were requested: the index has no more chains, or three were tried for each. Try another --seed.",
            style="yellow",
        )
    cost = "" if dollars is None else f", ${dollars:.4f}"
    console.print(f"[dim]{usage_line(usage)}{cost}[/dim]")
    console.print(
        'Review them before you trust them: correct or delete lines, set "reviewed" to true; then `triplebeam bench`'
        " with this file.",
        markup=False,
    )
