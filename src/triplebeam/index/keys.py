"""Keys of finished work: a hash of what a row was made from, beside the row, so that the next generation takes over
every row whose key it needs, whatever its number.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.columns import loaded

_BYTES = 16


def key_of(*parts: str) -> bytes:
    """The key of what is made from these texts."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()


def write_keys(path: Path, keys: Sequence[bytes]) -> None:
    """Write the keys of rows, in their order."""
    np.save(path, np.frombuffer(b"".join(keys), np.uint8).reshape(-1, _BYTES))


def read_keys(path: Path) -> dict[bytes, int]:
    """The row of each key."""
    rows = loaded(path)
    whole = rows.tobytes()
    return {whole[at * _BYTES : (at + 1) * _BYTES]: at for at in range(len(rows))}


def rows_of(keys: Iterable[bytes], known: dict[bytes, int]) -> NDArray[np.int64]:
    """The known row of each key, -1 where there is none."""
    return np.fromiter((known.get(key, -1) for key in keys), np.int64)
