"""What the command line and the server have in common when they index."""

import logging
from pathlib import Path

from triplebeam.assemble import DEFAULT_EMBEDDER
from triplebeam.index.manifest import published
from triplebeam.settings import Settings

MAX_FAILURES = 0.05


def embedder_name(folder: Path, settings: Settings) -> str:
    """The embedder to index with: the one that is set, else the index's own, else the default."""
    there = published(folder)
    return settings.embedder or (there.embedder.name if there else DEFAULT_EMBEDDER)


def quiet_readers() -> None:
    """A file that cannot be read is told by name, with the reason: the reader's own warnings say less."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
