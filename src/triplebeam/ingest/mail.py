"""Mail: single messages (eml) and boxes of them (mbox); who wrote to whom, when, about what, and the text.

The headers are read by the standard library, without its parser of addresses, and the parts of a message are found
here: that parser, and the library's for nested parts, take the square of the time for a message made to that end.
"""

import re
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import Compat32

from triplebeam.errors import SourceError
from triplebeam.ingest.compose import Composer
from triplebeam.ingest.damage import DAMAGE
from triplebeam.ingest.html import html_content
from triplebeam.ingest.text import Content, decode
from triplebeam.text import storable

_SHOWN = ("From", "To", "Cc", "Date")
_BEGINS_MESSAGE = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From [^\n]*\d\d:\d\d[^\n]*\n")
_LONGEST_HEADER = 10_000
#: Parts inside parts: a person's mail has three or four levels.
_MOST_LEVELS = 10


class _ShortHeaders(Compat32):
    """Cuts headers where they are read."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """The name and the value of a header."""
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]


def read_mail(data: bytes) -> Content:
    """Read one message. The title is its subject."""
    composer = Composer()
    try:
        message = _headers(data)
        _write(message, data, composer)
        fields = {name.lower(): _header(message, name) for name in _SHOWN}
        title = _header(message, "Subject")
    except DAMAGE as error:
        raise SourceError(f"the message is damaged ({type(error).__name__}: {error})") from error
    return composer.content(title, {name: text for name, text in fields.items() if text})


def read_mailbox(data: bytes) -> Content:
    """Read a box of messages: each is a section, named by its subject."""
    composer = Composer()
    found = [match.span() for match in _BEGINS_MESSAGE.finditer(data)] or [(0, 0)]
    ends = [*(start for start, _ in found[1:]), len(data)]
    for number, ((_, start), end) in enumerate(zip(found, ends, strict=True), start=1):
        try:
            message = _headers(data[start:end])
            composer.heading(1, _header(message, "Subject") or "(no subject)")
            _write(message, data[start:end], composer)
        except DAMAGE as error:
            raise SourceError(f"message {number} is damaged ({type(error).__name__}: {error})") from error
    return composer.content()


def _headers(data: bytes) -> Message:
    """The message with its body as one text, whatever its parts."""
    return BytesHeaderParser(policy=_ShortHeaders()).parsebytes(data)


def _header(message: Message, name: str) -> str:
    value = str(message.get(name, ""))
    try:
        pieces = decode_header(value)
    except HeaderParseError:  # base64 that is none
        pieces = [(value, None)]
    return " ".join(storable("".join(_decoded(*piece) for piece in pieces)).split())


def _decoded(piece: bytes | str, charset: str | None) -> str:
    if isinstance(piece, str):
        return piece
    try:
        return piece.decode(charset or "ascii", "replace")
    except LookupError:  # there is no such encoding
        return piece.decode("ascii", "replace")


def _write(message: Message, data: bytes, composer: Composer) -> None:
    for name in _SHOWN:
        if value := _header(message, name):
            composer.end_line()
            composer.words(f"{name}: {value}")
    composer.end_paragraph()
    texts: dict[str, Message] = {}
    for part in _parts(data):
        texts.setdefault(part.get_content_type(), part)
    if "text/plain" in texts:
        text = _payload(texts["text/plain"])
    else:
        text = html_content(_payload(texts["text/html"])).text if "text/html" in texts else ""
    for paragraph in text.split("\n\n"):
        composer.code(paragraph)


def _parts(data: bytes, level: int = 0) -> Iterator[Message]:
    """The parts that are no attachments and have no parts of their own, in order."""
    message = _headers(data)
    boundary = message.get_boundary()
    if message.get_content_maintype() == "multipart" and boundary and level < _MOST_LEVELS:
        line = rb"^--" + re.escape(boundary.encode("ascii", "replace")) + rb"(?:--)?[ \t]*(?:\r?\n|\Z)"
        for part in re.split(line, data, flags=re.MULTILINE)[1:]:
            yield from _parts(part, level + 1)
    elif message.get_content_disposition() != "attachment":
        yield message


def _payload(part: Message) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    try:
        return decode(data, part.get_content_charset())
    except SourceError:
        return decode(data.replace(b"\0", b""), "latin-1")
