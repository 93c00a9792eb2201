"""What a reader takes out of a file, and the decoding of those that hold text."""

import codecs
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from triplebeam.errors import SourceError
from triplebeam.passage import Heading, Link

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: How HTML, XML, Python and editors declare it, in the first lines.
_DECLARED = re.compile(rb"(?:charset|coding|encoding)\s*[=:]\s*[\"']?([-\w.]{3,30})", re.IGNORECASE)
_HEAD_BYTES = 1024
#: For names of hosts, not for texts: decoding takes the square of their length.
_FOR_NAMES = ("punycode", "idna")
_WESTERN = "cp1252"
#: In Western languages letters with accents are single among others; elsewhere whole words are such bytes.
_FOREIGN_WORD = re.compile(rb"[\x80-\xff]{3,}")
_MAX_FOREIGN_SHARE = 0.1
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class Content(NamedTuple):
    """What a format's reader takes out of a file. An empty title stands for "none found"."""

    text: str
    title: str = ""
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    metadata: Mapping[str, str] = MappingProxyType({})
    warnings: tuple[str, ...] = ()
    """What of the file was not read as it may have been meant."""
    parts: tuple["Content", ...] = ()
    """The documents of a file of several, such as the rows of a table; then there is no other text."""


def decode(data: bytes, encoding: str | None = None) -> str:
    """Decode text: in the encoding given, else as UTF-8, or what its first bytes declare, or what can only be meant.

    A text that is not UTF-8 is taken for UTF-16 where every other byte is zero, and for Windows-1252 (a superset of
    Latin-1) where the bytes beyond ASCII are single, as accented letters are in Western languages. Nothing else is
    guessed: a wrong guess is silent.
    """
    text = _decode_bytes(data, encoding)
    if "\0" in text:
        raise SourceError("it holds NUL characters, so it is no text; if it is, give its --encoding")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode_bytes(data: bytes, encoding: str | None) -> str:
    if encoding is not None:
        return _decode_as(data, encoding)
    mark = next((mark for mark in _MARKS if data.startswith(mark)), None)
    if mark is not None:
        return _decode_as(data, _MARKS[mark])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        guess = _find_declared_encoding(data) or _guess(data)
        if guess is None:
            raise SourceError(
                f"byte {error.start} is not UTF-8; save the file as UTF-8, or give its --encoding"
            ) from error
        return _decode_as(data, guess)


def _decode_as(data: bytes, encoding: str) -> str:
    try:
        if codecs.lookup(encoding).name in _FOR_NAMES:
            raise LookupError(encoding)
        return data.decode(encoding)
    except UnicodeError as error:
        raise SourceError(f"it is not in {encoding}; save the file as UTF-8, or give its --encoding") from error
    except LookupError as error:
        raise SourceError(f"there is no encoding {encoding!r}; save the file as UTF-8") from error


def _find_declared_encoding(data: bytes) -> str | None:
    declared = _DECLARED.search(data, 0, _HEAD_BYTES)
    if declared is None:
        return None
    name = declared[1].decode("ascii", "replace")
    try:
        is_text = codecs.lookup(name)._is_text_encoding
    except LookupError:
        return None
    return name if is_text and name.lower() not in ("utf-8", "utf8") else None


def _guess(data: bytes) -> str | None:
    head = data[: 64 * _HEAD_BYTES]
    if len(head) > 3 and len(data) % 2 == 0:
        for encoding, zeros, letters in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
            if zeros.count(0) > len(zeros) // 2 and letters.count(0) == 0:
                return encoding
    beyond_ascii = sum(byte > 127 for byte in head)
    foreign = sum(map(len, _FOREIGN_WORD.findall(head)))
    return None if _CONTROLS.search(head) or foreign > _MAX_FOREIGN_SHARE * beyond_ascii else _WESTERN
