"""`triplebeam show`: a passage or a document, whole, or triples."""

from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from triplebeam import assemble
from triplebeam.errors import BadInputError, nearest
from triplebeam.explain.passages import headings, path_of
from triplebeam.ingest import document_id
from triplebeam.passage import Passage
from triplebeam.serve.cli.display import draw_text, draw_triple
from triplebeam.serve.cli.options import AsJson, IndexPlace
from triplebeam.serve.cli.output import Output
from triplebeam.serve.shapes import document_json, own_triples, passage_json
from triplebeam.text.characters import replace_control_characters

#: So many go into one request where an index is on a cluster.
_PASSAGES_PER_REQUEST = 100


def show(
    folder: IndexPlace,
    id_: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Id of a passage, as printed by a search, or of a document (the path of its file as indexed).",
        ),
    ] = None,
    triples: Annotated[
        bool,
        typer.Option("--triples", help="Print only triples: those of ID, which may also be a folder, or all."),
    ] = False,
    about: Annotated[str | None, typer.Option(metavar="ENTITY", help="Print only triples with this entity.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print a whole passage with its location and facts, or all passages of a document in order.

    With --triples --json, prints one line per passage, {"passage_id", "triples"}, for `triplebeam index --triples`.

    Examples:

        triplebeam show my.index docs/install.md#3

        triplebeam show my.index docs/install.md --json

        triplebeam show my.index --triples --about "William Herschel"

        triplebeam show my.index --triples --json > triples.jsonl
    """
    index = assemble.open_index(folder)
    if triples or about is not None:
        _show_triples(index, id_, about, as_json)
        return
    if id_ is None:
        raise BadInputError("there is no ID: name a passage or a document, or use --triples for all triples.")
    passages = [index.passages[id_]] if id_ in index.passages else index.passages.of_document(_document(index, id_))
    if as_json:
        document = passages[0].document_id
        written = passage_json(index, passages[0]) if id_ in index.passages else document_json(index, document)
        Output().json(written)
    else:
        for number, passage in enumerate(passages):
            if number:
                Output().console.print()
            _draw(Output().console, index, passage)


def _document(index: "assemble.IndexReader", id_: str) -> str:
    """Find the id of a document, however its path is written."""
    documents = index.passages.document_ids
    for name in (id_, document_id(Path(id_))):
        if name in documents:
            return name
    known = [*documents, *(passage.id for passage in index)]
    raise BadInputError(
        f"there is no passage or document {id_!r} in {index.location}{nearest(id_, known)}: `triplebeam search` prints"
        f" the ids of passages; a document is named by its path, such as {known[0]!r}."
    )


def _draw(console: Console, index: "assemble.IndexReader", passage: Passage) -> None:
    path = path_of(passage)
    file = "" if path == passage.document_id else f" ({path})"
    place = f"{passage.id}  passage {passage.position + 1} of {passage.document_id}{file}"
    console.print(f"[bold]{escape(headings([passage])[0])}[/bold]  [dim]{escape(place)}[/dim]")
    draw_text(console, passage.text, spaced=True)
    for triple in own_triples(index, passage.id):
        console.print("    [green]●[/green] ", draw_triple(triple), sep="")


def _show_triples(index: "assemble.IndexReader", id_: str | None, entity: str | None, as_json: bool) -> None:
    graph = assemble.context_of(index).triples
    found = _find_triples(index, id_, entity)
    for passage_id, numbers in groupby(found, key=lambda number: graph.passage_of([number])[0]):
        triples = [graph.triple(number) for number in numbers]
        if as_json:
            Output().json({"passage_id": passage_id, "triples": triples}, indent=None)
        else:
            lines = [passage_id, *(f"  {' | '.join(triple)}" for triple in triples)]
            typer.echo(replace_control_characters("\n".join(lines)))


def _find_triples(index: "assemble.IndexReader", id_: str | None, entity: str | None) -> Iterator[int]:
    """Find the numbers of the triples to print, in the order of their passages."""
    passages, context = _passages(index, id_), assemble.context_of(index)
    if entity is not None:
        numbers: list[int] = context.source.triples_about(entity).tolist()
        if not numbers:
            meant = context.source.suggest_entity(entity)
            raise BadInputError(
                f"no triple has the entity {entity!r}{meant}: the whole name must match; case is ignored."
            )
        among = None if id_ is None else set(passages)
        found = zip(numbers, context.triples.passage_of(numbers), strict=True)
        yield from (number for number, passage_id in found if among is None or passage_id in among)
        return
    while window := list(islice(passages, _PASSAGES_PER_REQUEST)):
        yield from context.triples.triples_of(window).tolist()


def _passages(index: "assemble.IndexReader", id_: str | None) -> Iterator[str]:
    """Find the ids of all passages, or of those of a document or a folder."""
    if id_ is not None and id_ in index.passages:
        return iter([id_])
    ids = None if id_ is None else set(assemble.known_documents(index.location.state, index.passages, [id_]))
    return (passage.id for passage in index.passages if ids is None or passage.document_id in ids)
