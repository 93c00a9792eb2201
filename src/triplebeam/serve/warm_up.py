"""The first search of a server: made by the server itself, in the background, so that no caller waits for weights."""

import threading
from contextlib import suppress

from triplebeam.errors import TriplebeamError
from triplebeam.serve.library import Library

_QUESTION = "warm up"
#: Embedders that are paid for by the text.
_ENDPOINT = "openai:"


def start_warm_up(library: Library) -> threading.Thread:
    """Search the first index once, in a thread that nobody waits for."""
    thread = threading.Thread(target=_search_once, args=(library,), name="warm-up", daemon=True)
    thread.start()
    return thread


def _search_once(library: Library) -> None:
    """What goes wrong here goes wrong again in the first search, where there is somebody to tell."""
    with suppress(TriplebeamError):
        for name in library.names()[:1]:
            index = library.index(name)
            embedder = library.settings.embedder or index.snapshot.manifest.embedder.name
            if not embedder.startswith(_ENDPOINT):
                index.search(_QUESTION, k=1)
