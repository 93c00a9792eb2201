"""Triples that someone else extracted, read from a file of JSON lines."""

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from triplebeam.errors import BadInputError
from triplebeam.extract.extractor import Extraction, sort_out
from triplebeam.passage import Passage

#: Triples as JSON shrink to a tenth; below the size from which it matters, any ratio will do.
_MAX_RATIO = 50
_MIN_CHECKED_BYTES = 100_000_000


class TriplesFile:
    """Returns the triples of a file, plain or ``.gz``.

    A row is ``{"passage_id", "entities": [...], "triples": [[subject, predicate, object], ...]}``. A passage that
    is not in the file keeps the triples it has.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def name(self) -> str:
        """The file's name and a hash of its content, so that a changed file means another extraction."""
        return f"given:{self.path.name}:{hashlib.sha256(self._content).hexdigest()[:12]}"

    @property
    def passage_ids(self) -> tuple[str, ...]:
        """The passages in the file, in its order; whether an index has them is for the caller to check."""
        return tuple(self._rows)

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        """Return the file's triples of each passage; what has an empty part is in ``rejected``."""
        for passage in passages:
            yield self._rows.get(passage.id) or Extraction(passage_id=passage.id, known=False)

    @cached_property
    def _content(self) -> bytes:
        try:
            return self._inflate() if self.path.suffix == ".gz" else self.path.read_bytes()
        except (OSError, EOFError, zlib.error) as error:
            raise BadInputError(
                f"The triples of {self.path} cannot be read ({error}): name a readable file."
            ) from error

    def _inflate(self) -> bytes:
        most = max(_MIN_CHECKED_BYTES, _MAX_RATIO * self.path.stat().st_size)
        with gzip.open(self.path) as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise BadInputError(
                f"{self.path} inflates to more than {most:,} bytes, like a zip bomb: unpack it, if it is none."
            )
        return content

    @cached_property
    def _rows(self) -> Mapping[str, Extraction]:
        rows: dict[str, Extraction] = {}
        for number, line in enumerate(io.BytesIO(self._content), start=1):
            if line.strip():
                extraction = self._read(line, number)
                if extraction.passage_id in rows:
                    self._refuse(number, f"repeats the passage id {extraction.passage_id!r}; keep one row per passage")
                rows[extraction.passage_id] = extraction
        return rows

    def _read(self, line: bytes, number: int) -> Extraction:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:  # also bytes that are not UTF-8, and brackets without end
            self._refuse(number, f"is not JSON ({error}); write one object per line")
        passage_id = row.get("passage_id") if isinstance(row, dict) else None
        if isinstance(passage_id, bool) or not isinstance(passage_id, str | int):  # as the readers of JSON lines
            self._refuse(number, 'is not an object with a "passage_id", a text or an integer')
        triples, entities = row.get("triples"), row.get("entities", [])
        if not isinstance(triples, list) or not all(_is_texts(triple) for triple in triples):
            self._refuse(number, 'has no "triples" that are a list of [subject, predicate, object], all texts')
        if not _is_texts(entities):
            self._refuse(number, 'has "entities" that are not a list of texts')
        return sort_out(str(passage_id), triples, entities)

    def _refuse(self, number: int, reason: str) -> NoReturn:
        raise BadInputError(f"{self.path}, line {number}: this line {reason}.")


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)
