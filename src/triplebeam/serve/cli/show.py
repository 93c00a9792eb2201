"""`triplebeam show`: a passage or a document, whole."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from triplebeam import assemble
from triplebeam.errors import BadInputError, nearest
from triplebeam.explain.found import headings, path_of
from triplebeam.ingest import document_id
from triplebeam.passage import Passage
from triplebeam.serve.cli.console import out
from triplebeam.serve.cli.display import draw_text, draw_triple, own_triples
from triplebeam.serve.cli.options import AsJson, IndexPlace
from triplebeam.serve.shapes import document_json, passage_json


def show(
    folder: IndexPlace,
    id_: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A passage by its id, as a search prints it, or a document: a file's path as it was indexed.",
            show_default=False,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Print a whole passage with its place and its facts, or all passages of a document in their order.

    Examples:

        triplebeam show my.index docs/install.md#3

        triplebeam show my.index docs/install.md --json
    """
    index = assemble.open_index(folder)
    passages = [index.passages[id_]] if id_ in index.passages else index.passages.of_document(_document(index, id_))
    if as_json:
        document = passages[0].document_id
        written = passage_json(index, passages[0]) if id_ in index.passages else document_json(index, document)
        typer.echo(json.dumps(written, ensure_ascii=False, indent=2))
    else:
        for number, passage in enumerate(passages):
            _draw(out(), index, passage, below_another=number > 0)


def _document(index: "assemble.Index", id_: str) -> str:
    """The id of a document, however its path is written."""
    documents = index.passages.document_ids
    for name in (id_, document_id(Path(id_))):
        if name in documents:
            return name
    known = [*documents, *(passage.id for passage in index)]
    raise BadInputError(
        f"there is no passage or document {id_!r} in {index.location}{nearest(id_, known)}: `triplebeam search` prints"
        f" the ids of passages; a document is named by its path, such as {known[0]!r}."
    )


def _draw(console: Console, index: "assemble.Index", passage: Passage, *, below_another: bool) -> None:
    if below_another:
        console.print()
    path = path_of(passage)
    file = "" if path == passage.document_id else f" ({path})"
    place = f"{passage.id}  passage {passage.position + 1} of {passage.document_id}{file}"
    console.print(f"[bold]{escape(headings([passage])[0])}[/bold]  [dim]{escape(place)}[/dim]")
    draw_text(console, passage.text, spaced=True)
    for triple in own_triples(index, passage.id):
        console.print("    [green]●[/green] ", draw_triple(triple), sep="")
