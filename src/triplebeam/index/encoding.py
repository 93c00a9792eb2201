"""The encoding stage of a build: a vector for every text that has none."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from triplebeam.embed.embedder import Embedder
from triplebeam.index.contents import Contents
from triplebeam.index.encoded import EncodedTexts
from triplebeam.progress import Progress, silent

T = TypeVar("T")

#: Texts encoded between two commits: few enough to lose little, many enough to sort by length.
ENCODING_WINDOW = 512
#: Little work is done in smaller windows, so that it can be said early how long it takes.
_FEWEST_TOGETHER, _WINDOWS_WANTED = 64, 16


def encode_missing(contents: Contents, encoded: EncodedTexts, embedder: Embedder, progress: Progress = silent) -> int:
    """Encode what is not encoded yet; returns how many texts that were.

    Each window has its share of long and short texts, so that the time left can be estimated from the number of texts.
    """
    waiting = encoded.missing(contents.texts())
    progress("embed", 0, len(waiting))
    size = min(ENCODING_WINDOW, max(_FEWEST_TOGETHER, len(waiting) // _WINDOWS_WANTED))
    done = 0
    for window in _samples(waiting, size):
        encoded.put(window, embedder.embed(window))
        done += len(window)
        progress("embed", done, len(waiting))
    return done


def _samples(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Windows of about that size, each drawn evenly from the whole."""
    count = -(-len(items) // size)
    return (items[first::count] for first in range(count))
