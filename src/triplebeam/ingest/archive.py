"""Compressed files that would fill the memory: refused before anything is parsed.

A few kilobytes can be made to inflate to gigabytes. What an archive says of its own sizes is looked at first, which is
cheap; then it is inflated piece by piece and thrown away, since it may lie.
"""

import gzip
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO

from triplebeam.errors import SourceError
from triplebeam.ingest.content import DAMAGE, report_damage

MAX_INFLATED_BYTES = 100_000_000
#: Of a file whose lines are documents.
MAX_LINE_BYTES = 20_000_000
#: Elements take more memory and time than text: a book of a thousand pages has less than a million.
MAX_TAGS = 3_000_000
#: Text seldom shrinks to less than a hundredth; below the size from which it matters, any ratio will do.
MAX_RATIO = 200
_MIN_RATIO_BYTES = 10_000_000
_PIECE_BYTES = 1 << 20


def check_zip(file: Path | IO[bytes], kind: str = "docx") -> None:
    """Raise SourceError where a zip file, such as a docx, inflates to more than is sensible."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            size = _size(file)
            _check(sum(member.file_size for member in members), size)
            inflated = tags = 0
            for member in members:
                with archive.open(member) as inner:
                    more, opened = _count_inflated(inner, MAX_INFLATED_BYTES - inflated)
                inflated, tags = inflated + more, tags + opened
                _check(inflated, size)
                if tags > MAX_TAGS:
                    raise SourceError(
                        f"its XML has more than {MAX_TAGS:,} tags: save it in parts, or in another format"
                    )
    except (zipfile.BadZipFile, *DAMAGE) as error:
        raise SourceError(f"it is not a {kind} file, or is password-protected: save it again as {kind}") from error


@contextmanager
def open_zip(data: bytes, kind: str, *errors: type[Exception]) -> Iterator[IO[bytes]]:
    """Check a zip file and give it to a parser; what that stumbles over, ``errors`` of its own too, is damage."""
    check_zip(BytesIO(data), kind)
    with report_damage(f"the {kind} file is damaged", zipfile.BadZipFile, *errors):
        yield BytesIO(data)


def check_gzip(file: Path | IO[bytes]) -> None:
    """Raise SourceError where a gzip file inflates to more than is sensible for a file that a stranger sends."""
    try:
        with gzip.open(file) as inner:
            _check(_count_inflated(inner, MAX_INFLATED_BYTES)[0], _size(file))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise SourceError(f"the gzip file is damaged ({error})") from error


def gunzip(data: bytes) -> bytes:
    """Decompress a gzip file of a sensible size."""
    file = BytesIO(data)
    check_gzip(file)
    file.seek(0)
    return gzip.GzipFile(fileobj=file).read()


def read_lines(file: IO[bytes], compressed: int) -> Iterator[bytes]:
    """Yield the lines of a file of any size, plain or inflated, as long as they look like text."""
    inflated = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        inflated += len(line)
        if len(line) > MAX_LINE_BYTES:
            raise SourceError(f"it has a line of more than {MAX_LINE_BYTES:,} bytes: write one document per line")
        if inflated > MAX_INFLATED_BYTES and inflated > MAX_RATIO * compressed:
            raise _make_bomb_error(inflated, compressed)
        yield line


def _size(file: Path | IO[bytes]) -> int:
    return file.stat().st_size if isinstance(file, Path) else file.seek(0, os.SEEK_END)


def _count_inflated(file: IO[bytes] | gzip.GzipFile, most: int) -> tuple[int, int]:
    """Count the bytes a stream inflates to, until they exceed the limit, and how many of them open a tag."""
    count = tags = 0
    while count <= most and (piece := file.read(_PIECE_BYTES)):
        count += len(piece)
        tags += piece.count(b"<")
    return count, tags


def _check(inflated: int, compressed: int) -> None:
    if inflated > min(MAX_INFLATED_BYTES, max(_MIN_RATIO_BYTES, MAX_RATIO * compressed)):
        raise _make_bomb_error(inflated, compressed)


def _make_bomb_error(inflated: int, compressed: int) -> SourceError:
    return SourceError(
        f"its {compressed:,} bytes inflate to {inflated:,} or more, which looks like a zip bomb: save its text in"
        f" another format, or in parts of less than {MAX_INFLATED_BYTES:,} bytes"
    )
