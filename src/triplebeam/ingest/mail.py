"""Mail: single messages (eml) and boxes of them (mbox); who wrote to whom, when, about what, and the text.

The headers are read by the standard library, without its parser of addresses, and the parts of a message are found
here: that parser, and the library's for nested parts, take the square of the time for a message made to that end.
"""

import re
from contextlib import suppress
from datetime import UTC
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import Compat32
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from triplebeam.errors import SourceError
from triplebeam.ingest.content import Composer, Content, decode, report_damage
from triplebeam.ingest.html import read_html
from triplebeam.text.characters import replace_unstorable

_SHOWN_HEADERS = ("From", "To", "Cc", "Date")
_BEGINS_MESSAGE = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From (?=[^\n]*?\d\d:\d\d)[^\n]*\n")
_MAX_HEADER_CHARACTERS = 10_000
#: Parts inside parts: a person's mail has three or four levels.
_MAX_LEVELS = 10
_TOO_DEEP = f"parts that are more than {_MAX_LEVELS} levels deep were left out"
_MAX_NUMBERS_SHOWN = 5


class _Text(NamedTuple):
    """What a part of a message says."""

    text: str = ""
    is_plain: bool = False
    is_whole: bool = True


class _ShortHeaders(Compat32):
    """Cuts headers where they are read, and returns each of their bytes as one character."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """Return the name and the value of a header."""
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_MAX_HEADER_CHARACTERS]

    def header_fetch_parse(self, name: str, value: str) -> str:
        """Return the value, without the library's replacement marks for bytes beyond ASCII."""
        return value.encode("ascii", "surrogateescape").decode("latin-1")


def read_mail(data: bytes) -> Content:
    """Read one message. The title is its subject; who wrote to whom, and when, are its metadata."""
    with report_damage("the message is damaged"):
        return _message(data)


def read_mailbox(data: bytes) -> Content:
    """Read a box of messages: each is a document of its own."""
    parts: list[Content] = []
    found = [match.span() for match in _BEGINS_MESSAGE.finditer(data)] or [(0, 0)]
    ends = [*(start for start, _ in found[1:]), len(data)]
    for number, ((_, start), end) in enumerate(zip(found, ends, strict=True), start=1):
        with report_damage(f"message {number} is damaged"):
            parts.append(_message(data[start:end]))
    cut = [number for number, part in enumerate(parts, start=1) if part.warnings]
    numbers = f"message {', '.join(map(str, cut[:_MAX_NUMBERS_SHOWN]))}{', …' if len(cut) > _MAX_NUMBERS_SHOWN else ''}"
    return Content("", parts=tuple(parts), warnings=(f"{numbers}: {_TOO_DEEP}",) if cut else ())


def _message(data: bytes) -> Content:
    message, composer = _headers(data), Composer()
    fields = {name: value for name in _SHOWN_HEADERS if (value := _header(message, name))}
    for name, value in fields.items():
        composer.line(f"{name}: {value}")
    body = _text(data)
    for paragraph in body.text.split("\n\n"):
        composer.code(paragraph)
    metadata = {name.lower(): _iso_date(value) if name == "Date" else value for name, value in fields.items()}
    content = composer.content(_header(message, "Subject"), metadata)
    return content._replace(warnings=() if body.is_whole else (_TOO_DEEP,))


def _iso_date(date: str) -> str:
    """Return a date as filters compare it; one that is no date as it is written."""
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, TypeError, IndexError, OverflowError):
        return date
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _headers(data: bytes) -> Message:
    """Return the message with its body as one text, whatever its parts."""
    return BytesHeaderParser(policy=_ShortHeaders()).parsebytes(data)


def _header(message: Message, name: str) -> str:
    value = message.get(name, "")
    try:
        pieces = decode_header(value)
    except HeaderParseError:  # base64 that is none
        pieces = [(value, None)]
    return " ".join(replace_unstorable("".join(_decode_part(*piece) for piece in pieces)).split())


def _decode_part(piece: bytes | str, charset: str | None) -> str:
    """Decode in the encoding that is named; where none is, or an unknown one, as UTF-8 if it can be."""
    data = piece.encode("latin-1") if isinstance(piece, str) else piece
    with suppress(LookupError, UnicodeError):  # some have no replacement
        return data.decode(charset or "unknown-8bit", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _text(data: bytes, level: int = 0) -> _Text:
    """Return all texts of a message that are no attachments, in order; of alternatives one, preferably plain."""
    message = _headers(data)
    kind, boundary = message.get_content_type(), message.get_boundary()
    if message.get_content_maintype() == "multipart" and boundary:
        if level == _MAX_LEVELS:
            return _Text(is_whole=False)
        return _join_parts([_text(part, level + 1) for part in _parts(data, boundary)], kind == "multipart/alternative")
    if message.get_content_disposition() == "attachment":
        return _Text()
    if kind == "text/html":
        return _Text(read_html(_payload(message)).text)
    return _Text(_payload(message), is_plain=True) if kind == "text/plain" else _Text()


def _join_parts(parts: list[_Text], alternatives: bool) -> _Text:
    read = [part for part in parts if part.text.strip()]
    if alternatives:
        read = sorted(read, key=lambda part: not part.is_plain)[:1]
    is_plain, is_whole = all(part.is_plain for part in read), all(part.is_whole for part in parts)
    return _Text("\n\n".join(part.text.strip("\n") for part in read), is_plain, is_whole)


def _parts(data: bytes, boundary: str) -> list[bytes]:
    delimiter = rb"(?m)^--" + re.escape(boundary.encode("ascii", "replace"))
    before_end = re.split(delimiter + rb"--[ \t]*\r?$", data, maxsplit=1)[0]  # what follows is no part
    return re.split(delimiter + rb"[ \t]*(?:\r?\n|\Z)", before_end)[1:]


def _payload(part: Message) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    try:
        return decode(data, part.get_content_charset())
    except SourceError:
        return decode(data.replace(b"\0", b""), "latin-1")
