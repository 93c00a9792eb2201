"""`triplebeam repair`: a damaged index made whole."""

import json

import typer

from triplebeam import assemble
from triplebeam.serve.cli.console import err, warn
from triplebeam.serve.cli.options import AsJson, EmbedderName, IndexPlace, Offline
from triplebeam.serve.cli.progress_display import shown_progress


def repair(
    folder: IndexPlace, as_json: AsJson = False, embedder: EmbedderName = None, offline: Offline = False
) -> None:
    """Check every file of an index, and derive again what is damaged or missing from what is not.

    Documents and triples are in store.sqlite, which is checked and cannot be derived; the rest can. Only the vectors
    of a damaged file are encoded again.

    Examples:

        triplebeam repair my.index
    """
    with shown_progress(quiet=as_json) as progress:
        settings = assemble.read_settings(embedder=embedder, offline=offline or None)
        report = assemble.index_builder(folder, settings, extractor="none", progress=progress).repair()
    if as_json:
        done = {"damaged": report.damaged, "repaired": report.published, "texts_encoded": report.texts_encoded}
        typer.echo(json.dumps(done))
        return
    console = err()
    for name in report.damaged:
        warn(f"damaged: {name}")
    state = f"repaired, {report.texts_encoded:,} texts encoded" if report.published else "sound: nothing to repair"
    console.print(f"{folder} is {state}.", markup=False)
