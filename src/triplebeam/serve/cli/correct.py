"""`triplebeam correct`: corrections of triples, kept with an index."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from triplebeam import assemble
from triplebeam.errors import BadInputError
from triplebeam.index.content.corrected import LineMatches
from triplebeam.index.location import Location
from triplebeam.index.store.tables import read_index_corrections
from triplebeam.serve.cli.options import AsJson, EmbedderName, IndexPlace, Offline
from triplebeam.serve.cli.output import Output, shown_progress
from triplebeam.text.phrases import format_count


def correct(
    folder: IndexPlace,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Corrections as JSON lines; they replace those of the index.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print how many triples each line matches, without changing anything.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove all corrections.")] = False,
    as_json: AsJson = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Correct the triples of an index: drop triples, add triples, merge the names of an entity.

    FILE has one correction per line; lines that begin with # are comments:

        {"drop": ["Uranus", "is", "*"]}

        {"add": ["Uranus", "is", "a planet"], "document": "notes/uranus.md"}

        {"merge": ["W. Herschel", "Sir William"], "into": "William Herschel"}

    Corrections are kept with the index and also apply to documents added or changed later. Without FILE, prints them.

    Examples:

        triplebeam correct my.index corrections.jsonl --dry-run

        triplebeam correct my.index corrections.jsonl

        triplebeam correct my.index > corrections.jsonl

        triplebeam correct my.index --remove
    """
    if file and remove:
        raise BadInputError("FILE brings corrections and --remove takes all back: give only one of them.")
    with shown_progress(quiet=as_json) as progress:
        settings = assemble.read_settings(embedder=embedder, offline=offline or None)
        index = assemble.Index(folder, settings=settings, progress=progress)
        if file is None and not remove:
            lines = assemble.correction_matches(folder.state)
            if not as_json:
                typer.echo(read_index_corrections(folder.state).text, nl=False)
        else:
            if file and not assemble.read_corrections(file).lines:
                raise BadInputError(
                    f"there are no corrections in {file}: to take all back, run `triplebeam correct {folder} --remove`."
                )
            lines = index.correct(file or [], dry_run=dry_run)
    if as_json:
        Output().json(_as_json(lines, dry_run), indent=None)
    else:
        _show(folder, lines, dry_run=dry_run, changed=bool(file or remove))


def _as_json(lines: Sequence[LineMatches], dry_run: bool) -> dict[str, object]:
    return {
        "lines": [
            {"line": each.line, "kind": each.kind, "triples": each.triples, "correction": json.loads(each.text)}
            for each in lines
        ],
        "unmatched": [each.line for each in lines if not each.matches],
        "dry_run": dry_run,
    }


def _show(folder: Location, lines: Sequence[LineMatches], *, dry_run: bool, changed: bool) -> None:
    output = Output()
    for each in lines:
        if not each.matches:
            output.warn(f"line {each.line}: {each.problem}: {each.text.strip()}")
        elif dry_run:
            output.note(f"line {each.line}: {format_count(each.triples, 'triple')}: {each.text.strip()}")
    if not lines:
        output.note(f"{folder} has no corrections{' any more' if changed and not dry_run else ''}.")
        return
    kinds = {kind: sum(each.triples for each in lines if each.kind == kind) for kind in ("drop", "add", "merge")}
    would = "would be " if dry_run else ""
    output.note(
        f"{folder}: {format_count(len(lines), 'correction')}; {format_count(kinds['drop'], 'triple')} {would}dropped,"
        f" {kinds['add']:,} {would}added, {kinds['merge']:,} {would}renamed."
    )
