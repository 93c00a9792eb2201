"""The share of one machine among several that read the same sources."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from triplebeam.errors import BadInputError
from triplebeam.ingest.outcome import Reading
from triplebeam.passage import Document

_WRITTEN = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")


class Share(NamedTuple):
    """The ``number``-th of ``of`` shares, counted from 1."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> "Share":
        """From ``2/8``."""
        found = _WRITTEN.fullmatch(text)
        if not found or int(found[1]) > int(found[2]):
            raise BadInputError(f"{text!r} is not a share: write 2/8 for the second of eight.")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}-of-{self.of}"

    def of_all(self, readings: Iterable[Reading]) -> Iterator[Reading]:
        """Its documents, and whatever is none.

        Documents of one title are in one share: how a passage is encoded depends on how many others have its title.
        """
        return (each for each in readings if not isinstance(each, Document) or self._has(each))

    def _has(self, document: Document) -> bool:
        name = (document.title or document.id).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(name, digest_size=8).digest()
        return int.from_bytes(digest) % self.of == self.number - 1
