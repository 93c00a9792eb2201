"""`triplebeam triples`: the facts of an index, to be looked at and exported."""

import json
from collections.abc import Iterator
from itertools import groupby, islice
from typing import Annotated

import typer

from triplebeam import assemble
from triplebeam.errors import BadInputError
from triplebeam.serve.cli.options import AsJson, IndexPlace
from triplebeam.text.characters import showable

#: So many go into one request where an index is on a cluster.
_PASSAGES_AT_A_TIME = 100


def triples(
    folder: IndexPlace,
    of: Annotated[
        str | None,
        typer.Option(
            "--of", metavar="DOCUMENT", help="Only those of a document, by its id, or of a folder.", show_default=False
        ),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option("--about", metavar="ENTITY", help="Only those with an entity, by its name.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the triples of an index, passage by passage.

    With --json it is a line per passage, {"passage_id", "triples"}, which `triplebeam index --triples` reads.

    Examples:

        triplebeam triples my.index --of docs/install.md

        triplebeam triples my.index --about "William Herschel"

        triplebeam triples my.index --json > triples.jsonl
    """
    index = assemble.open_index(folder)
    graph = index.triples
    for passage_id, numbers in groupby(_wanted(index, of, about), key=lambda number: graph.passage_of([number])[0]):
        found = [graph.triple(number) for number in numbers]
        if as_json:
            typer.echo(json.dumps({"passage_id": passage_id, "triples": found}, ensure_ascii=False))
        else:
            typer.echo(showable("\n".join([passage_id, *(f"  {' | '.join(triple)}" for triple in found)])))


def _wanted(index: "assemble.Index", document: str | None, entity: str | None) -> Iterator[int]:
    """The numbers of the triples to print, in the order of their passages."""
    passages = _passages(index, document)
    if entity is not None:
        numbers, among = _about(index, entity), None if document is None else set(passages)
        found = zip(numbers, index.triples.passage_of(numbers), strict=True)
        yield from (number for number, passage_id in found if among is None or passage_id in among)
        return
    while window := list(islice(passages, _PASSAGES_AT_A_TIME)):
        yield from index.triples.triples_of(window).tolist()


def _passages(index: "assemble.Index", document: str | None) -> Iterator[str]:
    """The ids of all passages, or of those of a document or a folder."""
    ids = None if document is None else set(assemble.known_documents(index.folder, index.passages, [document]))
    return (passage.id for passage in index.passages if ids is None or passage.document_id in ids)


def _about(index: "assemble.Index", name: str) -> list[int]:
    """The numbers of the triples with an entity, in the order of their passages."""
    found: list[int] = index.source.triples_about(name).tolist()
    if not found:
        meant = index.source.suggest_entity(name)
        raise BadInputError(f"no triple has the entity {name!r}{meant}: the whole name must match; case is ignored.")
    return found
