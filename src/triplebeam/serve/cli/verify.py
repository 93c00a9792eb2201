"""`triplebeam verify`: does the index contain what an answer quotes, and do the quotes support it?"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.errors import BadInputError
from triplebeam.serve.cli.options import AsJson, IndexFolder

if TYPE_CHECKING:
    from triplebeam.answer import Evidence
    from triplebeam.index.passages import PassageTable


def verify(
    folder: IndexFolder,
    answer: Annotated[
        str,
        typer.Argument(metavar="ANSWER", help="A file that `ask --json` wrote; - reads stdin.", show_default=False),
    ],
    as_json: AsJson = False,
) -> None:
    """Check every fact of an answer against the index: is the quoted text there, and does it state the fact?

    The exit code is 0 if every hop holds, else 1.

    Examples:

        triplebeam ask my.index "When did the director of Laughter in Hell die?" --json > answer.json

        triplebeam verify my.index answer.json
    """
    from triplebeam.index.snapshot import Snapshot
    from triplebeam.serve.answer_shapes import evidence_from_json
    from triplebeam.settings import read_settings
    from triplebeam.support import prepare

    settings = read_settings()
    written = _read(answer)
    evidence = evidence_from_json(written)
    passages = Snapshot.open(folder).passages
    prepare(settings.home, offline=settings.offline)
    faults = [_fault(fact, passages) for fact in evidence]
    named = _is_named(written, evidence)
    if as_json:
        typer.echo(json.dumps({**_as_json(evidence, faults), "answer_named": named}, ensure_ascii=False, indent=2))
    else:
        _draw(evidence, faults)
        if evidence and not named:
            typer.echo("✘ None of these facts contains the answer itself.")
    if not evidence or any(faults) or not named:
        raise typer.Exit(1)


def _is_named(written: object, evidence: "list[Evidence]") -> bool:
    """Facts may hold and still have nothing to do with the answer."""
    from triplebeam.answer import named_in

    text = written.get("answer") if isinstance(written, dict) else None
    return named_in(text, evidence) if isinstance(text, str) and text.strip() else True


def _read(answer: str) -> object:
    try:
        content = sys.stdin.buffer.read() if answer == "-" else Path(answer).read_bytes()
        return json.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise BadInputError(f"{answer} cannot be read ({error.strerror}): name a file, or - for stdin.") from error
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or brackets without end
        name = "stdin" if answer == "-" else answer
        raise BadInputError(f"{name} is not JSON ({error}): write it with `triplebeam ask … --json`.") from error


def _fault(fact: "Evidence", passages: "PassageTable") -> str | None:
    from triplebeam.support import fault_of

    if fact.span is None:
        return "the answer quotes nothing that supports it"
    if fact.span.passage_id not in passages:
        return f"the index has no passage {fact.span.passage_id!r}"
    return fault_of(fact.triple, fact.span, passages[fact.span.passage_id])


def _as_json(evidence: "list[Evidence]", faults: list[str | None]) -> dict[str, object]:
    hops = [
        {
            "triple": list(fact.triple),
            "passage_id": fact.span.passage_id if fact.span else None,
            "holds": fault is None,
            "fault": fault,
        }
        for fact, fault in zip(evidence, faults, strict=True)
    ]
    return {"holds": bool(evidence) and not any(faults), "hops": hops}


def _draw(evidence: "list[Evidence]", faults: list[str | None]) -> None:
    from rich.markup import escape

    from triplebeam.serve.cli.display import out

    console = out()
    for number, (fact, fault) in enumerate(zip(evidence, faults, strict=True), start=1):
        mark = "[red]✘[/red]" if fault else "[green]✔[/green]"
        hop = escape(" | ".join(fact.triple))
        quoted = f"{fact.span.passage_id}: “{' '.join(fact.span.text.split())}”" if fact.span else ""
        console.print(f"{mark} {number}. {hop}  [dim]{escape(fault or quoted)}[/dim]")
    failed = sum(fault is not None for fault in faults)
    if not evidence:
        console.print("The answer has no evidence: nothing supports it.")
    elif failed:
        console.print(f"{failed} of {len(evidence)} hops without support: do not rely on this answer.")
    else:
        console.print(f"Every hop holds: {len(evidence)} of {len(evidence)}.")
