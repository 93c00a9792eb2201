"""`triplebeam repair`: a damaged index made whole, and nothing left of what was removed."""

from dataclasses import asdict
from typing import Annotated

import typer

from triplebeam import assemble
from triplebeam.serve.cli.options import AsJson, EmbedderName, IndexPlace, Offline
from triplebeam.serve.cli.output import Output, shown_progress


def repair(
    folder: IndexPlace,
    purge: Annotated[
        bool,
        typer.Option(
            "--purge",
            help="Instead, erase all traces of removed documents from the index, and delete cached replies about them.",
        ),
    ] = False,
    as_json: AsJson = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Check every file of an index, and rebuild damaged or missing ones from the store.

    store.sqlite has the documents and triples; it is checked but cannot be rebuilt. Only the vectors of damaged files
    are encoded again. Run --purge after `triplebeam remove` or `triplebeam sync` if the documents were confidential,
    or to free disk space; search results stay the same.

    Examples:

        triplebeam repair my.index

        triplebeam repair my.index --purge
    """
    output = Output()
    if purge:
        done = assemble.purge_index(folder, assemble.read_settings())
        if as_json:
            output.json(asdict(done), indent=None)
        else:
            output.note(
                f"{folder}: {done.bytes_before / 1e6:,.1f} MB before, {done.bytes_after / 1e6:,.1f} MB now;"
                f" {done.completions_removed:,} cached replies deleted."
            )
        return
    with shown_progress(quiet=as_json) as progress:
        settings = assemble.read_settings(embedder=embedder, offline=offline or None)
        report = assemble.index_builder(folder, settings, extractor="none", progress=progress).repair()
    if as_json:
        counts = {"damaged": report.damaged, "repaired": report.published, "texts_encoded": report.texts_encoded}
        output.json(counts, indent=None)
        return
    for name in report.damaged:
        output.warn(f"damaged: {name}")
    state = f"repaired, {report.texts_encoded:,} texts encoded" if report.published else "sound: nothing to repair"
    output.note(f"{folder} is {state}.")
