"""`triplebeam model`: the weights that run on your machine."""

import typer

from triplebeam import assemble
from triplebeam.serve.cli.console import err
from triplebeam.serve.cli.options import Offline
from triplebeam.serve.cli.progress_display import shown_progress
from triplebeam.weights import ENGLISH_PARSER, GRANITE, ensure

model = typer.Typer(help="The models that run on your machine.", no_args_is_help=True)


@model.callback()
def _group() -> None:
    """Keeps `install` a sub-command, though it is the only one."""


@model.command()
def install(offline: Offline = False) -> None:
    """Download the default embedder and the English parser, or check those that are there.

    Example:

        triplebeam model install
    """
    settings = assemble.read_settings(offline=offline or None)
    for weights in (GRANITE, ENGLISH_PARSER):
        with shown_progress() as progress:
            folder = ensure(weights, settings.home, offline=settings.offline, progress=progress)
        err().print(f"{weights.name} is in {folder}", markup=False)
