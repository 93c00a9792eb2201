"""Mail as it is found: a body in HTML alone, parts inside parts, headers in raw bytes."""

import pytest

from triplebeam.ingest.mail import read_mail, read_mailbox

HTML = "--B\nContent-Type: text/html; charset=utf-8\n\n<p>It is in <b>Paris</b>.</p>\n"
PLAIN = "--B\nContent-Type: text/plain\n\n{}\n"
ATTACHED = "--B\nContent-Type: text/plain\nContent-Disposition: attachment; filename=x.txt\n\nattached\n"


def mail(body: str, boundary: str = "B") -> bytes:
    return f'Subject: s\nContent-Type: multipart/mixed; boundary="{boundary}"\n\n{body}'.encode()


HTML_ONLY = {
    "closed": mail(HTML + "--B--\n"),
    "closed without a line's end": mail(HTML + "--B--"),
    "not closed": mail(HTML),
    "with an epilogue": mail(HTML + "--B--\n\nThis is the end of the message.\n"),
    "with a part after its end": mail(HTML + "--B--\n" + PLAIN.format("No part.")),
    "with an attachment": mail(HTML + ATTACHED + "--B--\n"),
    "with a blank plain text": mail(PLAIN.format(" ") + HTML + "--B--\n"),
    "between signs": mail((HTML + "--B--\n").replace("--B", "--=_%s(B)+"), "=_%s(B)+"),
    "nested": mail(f"--A\nContent-Type: multipart/related; boundary=B\n\n{HTML}--B--\n\n--A--\n", "A"),
    "nested, with an epilogue in each": mail(
        f"--A\nContent-Type: multipart/related; boundary=B\n\n{HTML}--B--\nInner end.\n--A--\nOuter end.\n", "A"
    ),
}


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("kind", HTML_ONLY)
def test_a_body_in_html_alone_is_read(kind: str, line_end: bytes) -> None:
    assert read_mail(HTML_ONLY[kind].replace(b"\n", line_end)).text == "It is in Paris."


def test_bodies_in_html_alone_are_read_in_a_box() -> None:
    box = b"".join(b"From ann Mon Mar  2 10:00:00 2026\n" + message + b"\n\n" for message in HTML_ONLY.values())
    assert [(part.title, part.text) for part in read_mailbox(box).parts] == [("s", "It is in Paris.")] * len(HTML_ONLY)


def test_of_alternatives_plain_text_is_read_and_an_epilogue_is_no_part() -> None:
    alternatives = mail(HTML + PLAIN.format("In Paris.") + "--B--\nThe end.\n").replace(b"/mixed", b"/alternative")
    assert read_mail(alternatives).text == "In Paris."


def test_all_texts_of_a_message_are_read_in_order() -> None:
    parts = PLAIN.format("First.") + ATTACHED + PLAIN.format("Second.") + HTML
    assert read_mail(mail(parts + "--B--\n")).text == "First.\n\nSecond.\n\nIt is in Paris."
    inner = HTML.replace("--B", "--A")
    footer = f"--B\nContent-Type: multipart/alternative; boundary=A\n\n{inner}--A--\n" + PLAIN.format(
        "A list's footer."
    )
    assert read_mail(mail(footer + "--B--\n")).text == "It is in Paris.\n\nA list's footer."


def nested(levels: int) -> bytes:
    opened = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(levels))
    return f"Subject: s\n{opened}\nInside.\n".encode()


def test_parts_that_are_too_deep_are_left_out_with_a_warning() -> None:
    assert (read_mail(nested(10)).text, read_mail(nested(10)).warnings) == ("Inside.", ())
    assert read_mail(nested(11)).warnings == ("parts that are more than 10 levels deep were left out",)
    box = b"".join(b"From ann Mon Mar  2 10:00:00 2026\n" + nested(levels) + b"\n\n" for levels in (3, 12))
    assert read_mailbox(box).warnings == ("message 2: parts that are more than 10 levels deep were left out",)


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("Mon, 02 Mar 2026 10:00:00 +0100 (CET)", "2026-03-02T10:00:00+01:00"),
        ("2 Mar 2026 10:00 -0000", "2026-03-02T10:00:00+00:00"),
        ("last week", "last week"),
        ("Mon, 99 Mar 99999999999999999999 10:00:00 +0000", "Mon, 99 Mar 99999999999999999999 10:00:00 +0000"),
    ],
)
def test_dates_are_written_as_filters_compare_them(written: str, date: str) -> None:
    assert read_mail(f"Date: {written}\n\nText.\n".encode()).metadata["date"] == date


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize(
    ("written", "subject"),
    [
        ("Grüße aus Köln", "Grüße aus Köln"),
        ("Grüße\n aus Köln", "Grüße aus Köln"),
        ("=?utf-8?q?Gr=C3=BC=C3=9Fe?= aus Köln", "Grüße aus Köln"),
        ("=?unknown-8bit?q?Gr=C3=BC=C3=9Fe?= aus Köln", "Grüße aus Köln"),
        ("=?utf-8?b?a?= aus Köln", "=?utf-8?b?a?= aus Köln"),
    ],
)
def test_headers_in_raw_bytes_are_decoded(written: str, subject: str, encoding: str) -> None:
    content = read_mail(f"From: Jörg <j@example.org>\nSubject: {written}\n\nText.\n".encode(encoding))
    assert (content.title, content.metadata["from"]) == (subject, "Jörg <j@example.org>")


def test_raw_headers_of_any_script_are_decoded() -> None:
    assert read_mail("Subject: 東京 =?utf-8?q?=E2=82=AC?= Київ\n\nText.\n".encode()).title == "東京 € Київ"
