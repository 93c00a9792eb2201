"""Mail: single messages (eml) and boxes of them (mbox); who wrote to whom, when, about what, and the text."""

import email
import email.policy
import re
from email.errors import MessageError
from email.message import EmailMessage, Message

from triplebeam.errors import SourceError
from triplebeam.ingest.compose import Composer
from triplebeam.ingest.damage import DAMAGE
from triplebeam.ingest.html import html_content
from triplebeam.ingest.text import Content, decode
from triplebeam.text import storable

_SHOWN = ("From", "To", "Cc", "Date")
_BEGINS_MESSAGE = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From [^\n]*\d\d:\d\d[^\n]*\n")


def read_mail(data: bytes) -> Content:
    """Read one message. The title is its subject."""
    composer = Composer()
    try:
        message = _parsed(data)
        _write(message, composer)
        fields = {name.lower(): _header(message, name) for name in _SHOWN}
        title = _header(message, "Subject")
    except (MessageError, *DAMAGE) as error:
        raise SourceError(f"the message is damaged ({type(error).__name__}: {error})") from error
    return composer.content(title, {name: text for name, text in fields.items() if text})


def read_mailbox(data: bytes) -> Content:
    """Read a box of messages: each is a section, named by its subject."""
    composer = Composer()
    starts = [match.end() for match in _BEGINS_MESSAGE.finditer(data)] or [0]
    ends = [match.start() for match in _BEGINS_MESSAGE.finditer(data)][1:]
    for start, end in zip(starts, [*ends, len(data)], strict=True):
        try:
            message = _parsed(data[start:end])
            composer.heading(1, _header(message, "Subject") or "(no subject)")
            _write(message, composer)
        except (MessageError, *DAMAGE) as error:
            raise SourceError(
                f"message {starts.index(start) + 1} is damaged ({type(error).__name__}: {error})"
            ) from error
    return composer.content()


def _parsed(data: bytes) -> EmailMessage:
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return message


def _header(message: EmailMessage, name: str) -> str:
    return " ".join(storable(str(message.get(name, ""))).split())


def _write(message: EmailMessage, composer: Composer) -> None:
    for name in _SHOWN:
        if value := _header(message, name):
            composer.end_line()
            composer.words(f"{name}: {value}")
    composer.end_paragraph()
    part = message.get_body(("plain", "html"))
    if part is None:
        return
    text = _payload(part)
    if part.get_content_subtype() == "html":
        text = html_content(text).text
    for paragraph in text.split("\n\n"):
        composer.code(paragraph)


def _payload(part: Message) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    try:
        return decode(data, part.get_content_charset())
    except SourceError:
        return decode(data.replace(b"\0", b""), "latin-1")
