"""`triplebeam compact`: nothing left of what was removed."""

import json
from dataclasses import asdict

import typer

from triplebeam import assemble
from triplebeam.serve.cli.console import err
from triplebeam.serve.cli.options import AsJson, IndexFolder


def compact(folder: IndexFolder, as_json: AsJson = False) -> None:
    """Rewrite an index so that no byte of removed documents is left, and forget cached replies about them.

    Searches are the same before and after. Run it after `triplebeam remove` or `triplebeam sync` if the documents were
    confidential, or to give space back to the disk.

    Examples:

        triplebeam compact my.index
    """
    done = assemble.purge_index(folder, assemble.read_settings())
    if as_json:
        typer.echo(json.dumps(asdict(done)))
        return
    err().print(
        f"{folder}: {done.bytes_before / 1e6:,.1f} MB before, {done.bytes_after / 1e6:,.1f} MB now;"
        f" {done.completions_removed:,} cached replies forgotten.",
        markup=False,
    )
