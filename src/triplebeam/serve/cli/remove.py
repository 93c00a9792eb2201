"""`triplebeam remove`: documents out."""

from typing import Annotated

import typer

from triplebeam import assemble
from triplebeam.serve.cli.options import AsJson, EmbedderName, IndexPlace, Offline
from triplebeam.serve.cli.output import Output, shown_progress
from triplebeam.text.phrases import format_count


def remove(
    folder: IndexPlace,
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCUMENT…",
            help="Ids of documents (paths of files as indexed, ids of rows), or folders.",
        ),
    ],
    as_json: AsJson = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Remove documents from an index, with their passages and triples.

    A folder, even a deleted one, stands for all documents that came from it. If a document is not in the index,
    nothing is removed.

    Examples:

        triplebeam remove my.index docs/old.md

        triplebeam remove my.index docs/2019/

        triplebeam remove my.index row-17 row-18 --json
    """
    with shown_progress() as progress:
        index = assemble.open_index(
            folder, settings=assemble.read_settings(embedder=embedder, offline=offline or None), progress=progress
        )
        report = index.remove(*documents)
    removed, left = report.documents_changed, len(index.passages.document_ids) if len(index) else 0
    if as_json:
        Output().json({"removed": removed, "documents": left, "passages": len(index)}, indent=None)
    else:
        Output().note(f"{folder}: {removed:,} removed, {format_count(left, 'document')} left.")
