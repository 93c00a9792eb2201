"""Mail in parts inside parts, and in encodings that are none; other mail is in ``cases/``."""

import pytest
from made_files import make_mailbox

from triplebeam.errors import SourceError
from triplebeam.ingest.content import decode
from triplebeam.ingest.mail import read_mail, read_mailbox


def nested(levels: int) -> bytes:
    opened = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(levels))
    return f"Subject: s\n{opened}\nInside.\n".encode()


def test_parts_that_are_too_deep_are_left_out_with_a_warning() -> None:
    assert (read_mail(nested(10)).text, read_mail(nested(10)).warnings) == ("Inside.", ())
    assert (read_mail(nested(500)).text, bool(read_mail(nested(500)).warnings)) == ("", True)
    assert read_mail(nested(11)).warnings == ("parts that are more than 10 levels deep were left out",)
    box = make_mailbox(nested(3), nested(12))
    assert read_mailbox(box).warnings == ("message 2: parts that are more than 10 levels deep were left out",)


def test_every_message_of_a_box_is_read_once() -> None:
    box = b"From a 00:00\nSubject: x\n\nhello\n\n" * 300
    assert [part.text for part in read_mailbox(box).parts] == ["hello"] * 300


@pytest.mark.parametrize("charset", ["punycode", "idna", "IDNA", "zlib", "rot13", "nowhere"])
def test_encodings_that_are_none_of_texts_are_not_used(charset: str) -> None:
    """Decoding names of hosts takes the square of their length: 400,000 bytes took 12 seconds."""
    head = f"Subject: =?{charset}?q?Lunch?=\nContent-Type: text/plain; charset={charset}\n\n"
    content = read_mail(head.encode() + b"aa-99 words")
    assert content.text == "aa-99 words"
    assert content.title
    with pytest.raises(SourceError, match="there is no encoding 'idna'"):
        decode(b"words", "idna")
