"""`triplebeam triples`: the facts of an index, to be looked at and exported."""

import json
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.errors import BadInputError, nearest
from triplebeam.serve.cli.options import AsJson, IndexFolder
from triplebeam.text import showable

if TYPE_CHECKING:
    from triplebeam.assemble import Index


def triples(
    folder: IndexFolder,
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
    from triplebeam.assemble import open_index

    index = open_index(folder)
    graph = index.triples
    for passage_id, numbers in groupby(_wanted(index, of, about), key=lambda number: graph.passage_of([number])[0]):
        found = [graph.triple(number) for number in numbers]
        if as_json:
            typer.echo(json.dumps({"passage_id": passage_id, "triples": found}, ensure_ascii=False))
        else:
            typer.echo(showable("\n".join([passage_id, *(f"  {' | '.join(triple)}" for triple in found)])))


def _wanted(index: "Index", document: str | None, entity: str | None) -> list[int]:
    """The numbers of the triples to print, in the order of their passages."""
    wanted = set(range(len(index.triples)))
    if document is not None:
        from triplebeam.assemble.indexing import known_documents

        ids = set(known_documents(index.folder, index.passages, [document]))
        rows = [row for row, id_ in enumerate(index.passages.documents) if id_ in ids]
        wanted &= set(index.triples.triples_at(rows).tolist())
    if entity is not None:
        wanted &= set(index.triples.of_entity(_entity(index, entity)).tolist())
    return sorted(wanted)


def _entity(index: "Index", name: str) -> int:
    from triplebeam.triple import entity_key

    entities = index.snapshot.entities
    number = entities.numbers.get(entity_key(name))
    if number is None:
        raise BadInputError(
            f"no triple has the entity {name!r}{nearest(name, entities.names)}: the whole name must match; case is"
            " ignored."
        )
    return number
