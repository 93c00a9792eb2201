"""What no small case of a format shows: decoding, long and nested texts, layouts, damage, a missing library."""

import contextlib
import random
import sys
from pathlib import Path

import pytest
from fpdf import FPDF
from made_files import MADE, make_mailbox, make_pdf, make_xlsx, zip_of

from triplebeam.errors import SourceError
from triplebeam.ingest.content import clean_title, decode
from triplebeam.ingest.mail import read_mail, read_mailbox
from triplebeam.ingest.office import read_xlsx
from triplebeam.ingest.pdf import clean_lines, read_pdf
from triplebeam.ingest.restructured_text import read_restructured_text
from triplebeam.ingest.sources import find_ending, read_content
from triplebeam.ingest.xml import read_epub


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
def test_text_is_decoded_without_its_byte_order_mark_and_with_plain_line_ends(encoding: str) -> None:
    assert decode("Grüße, und mehr\r\nzwei\rdrei".encode(encoding)) == "Grüße, und mehr\nzwei\ndrei"


def test_western_text_is_told_by_how_rare_its_accents_are() -> None:
    text = "Le café est à côté de l’hôtel; il coûte 5 €."
    assert decode(text.encode("cp1252")) == text
    assert decode("Die Straße führt über die Brücke.".encode("latin-1")) == "Die Straße führt über die Brücke."


RUSSIAN = "Привет, это проверка"


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        *((data, None, "--encoding") for data in (b"\xff\xfea", b"\x89PNG\r\n\x1a\n\x00\xff")),
        (RUSSIAN.encode("koi8-r"), None, "--encoding"),
        ("日本語の文章です".encode("shift_jis"), None, "--encoding"),
        (b"abc", "klingon", "no encoding 'klingon'"),
        (b"words", "idna", "there is no encoding 'idna'"),
        (RUSSIAN.encode(), "ascii", "it is not in ascii"),
    ],
)
def test_what_cannot_be_told_is_not_guessed(data: bytes, encoding: str | None, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        decode(data, encoding)


def test_an_encoding_may_be_given_or_declared() -> None:
    assert decode(RUSSIAN.encode("koi8-r"), "koi8-r") == RUSSIAN
    assert decode(b"# -*- coding: koi8-r -*-\n" + RUSSIAN.encode("koi8-r")).endswith(RUSSIAN)
    assert decode(b'<meta charset="iso-8859-5">' + RUSSIAN.encode("iso-8859-5")).endswith(RUSSIAN)


def test_restructured_text_without_end_is_plain_text() -> None:
    content = read_restructured_text("*a " * 300_000)
    assert content.text.startswith("*a *a")
    assert content.warnings == (
        "it was read as plain text, since a line has 900,000 characters: break lines over 10,000",
    )


LONG_BLOCKS = {
    "items": "- Fixed :ref:`this`\n  and that.\n" * 500,
    "paragraph": "It runs *on* and on,\nand so does :ref:`this`.\n" * 400,
    "table": "+----+-----+\n" + "| ab | this|\n+----+-----+\n" * 600,
    "items of a paragraph": "Changes:\n" + "- Fixed :ref:`this` *a\n" * 700,
}


@pytest.mark.parametrize("block", LONG_BLOCKS.values(), ids=LONG_BLOCKS)
def test_a_long_block_leaves_the_rest_of_restructured_text_as_it_is(block: str) -> None:
    content = read_restructured_text(f"History\n=======\n\n{block}\nOlder\n-----\n\nSee :ref:`the end <e>`.\n")
    assert (content.title, content.warnings) == ("History", ())
    assert [heading.text for heading in content.headings] == ["History", "Older"]
    assert content.text.endswith("See the end.")
    assert ":ref:" not in content.text
    assert content.text.count("this") == block.count("this")


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        *(("git-log.1", ".1"), ("bzip2.1", ".1"), ("systemd.unit.5", ".5"), ("ls.1.gz", ".1.gz"), ("a.TSX", ".tsx")),
        *(("history.3readline.gz", ".3.gz"), ("req.1ssl", ".1"), ("film.3gp", None), ("pack.7z", None)),
        *(("libc.so.6", None), ("libz.so.1.3", None), ("mail.log.1", None), ("notes-2.1", None), ("v1.2", None)),
    ],
)
def test_manual_pages_are_told_from_libraries_logs_and_versions(name: str, ending: str | None) -> None:
    assert find_ending(Path(name)) == ending


@pytest.mark.parametrize(
    ("ending", "text", "message"),
    [(".csv", 'a,b\n"' + "x" * 200_000, "table cannot be read"), (".json", "[" * 100_000, "not JSON")],
)
def test_what_is_too_long_to_be_read_is_said(ending: str, text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_content(text.encode(), ending)


HOSTILE = {
    ".md": ("![", "[a](", "*a ", "> ", "- ", "`", "<a ", "|a", "**_", "\\", "&#"),
    ".adoc": ("*a", "`", "::", "----\n", "====\na\n", "<<", "link:a[", "* x\n", "a::\n"),
    ".1": ('.B "a" ', "\\f[", "\\h'", "\\", '"', ".de x\n", ".if \\{\n", ".TP\n", "\\*[", ".nf\n"),
    ".html": (
        *("<ol><li>", "<dl><dt>a<dd>", "<a href='#'>", "<table><tr><td>", "<h1>", "<div class='nav'>", "<", "&amp"),
        *("<pre>", "<li>item<a href='x'>y</a>"),
    ),
    ".xml": ("<a>deep",),
    ".py": ("(",),
}
HOSTILE[".txt"] = HOSTILE[".adoc"]


@pytest.mark.parametrize(("ending", "unit"), [(ending, unit) for ending, units in HOSTILE.items() for unit in units])
def test_a_text_of_one_mark_is_read(ending: str, unit: str) -> None:
    head = ".TH a 1\n" if ending == ".1" else "<ol>" if unit.startswith("<li") else ""
    many = 20_000 if ending in (".md", ".1", ".xml") else 5_000
    content = read_content((head + unit * many).encode(), ending)
    assert content.text or "deep" not in unit
    assert not content.headings or ending != ".py"


def nest_messages(levels: int) -> bytes:
    opened = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(levels))
    return f"Subject: s\n{opened}\nInside.\n".encode()


def test_parts_that_are_too_deep_are_left_out_with_a_warning() -> None:
    assert (read_mail(nest_messages(10)).text, read_mail(nest_messages(10)).warnings) == ("Inside.", ())
    assert (read_mail(nest_messages(500)).text, bool(read_mail(nest_messages(500)).warnings)) == ("", True)
    assert read_mail(nest_messages(11)).warnings == ("parts that are more than 10 levels deep were left out",)
    box = make_mailbox(nest_messages(3), nest_messages(12))
    assert read_mailbox(box).warnings == ("message 2: parts that are more than 10 levels deep were left out",)
    box = b"From a 00:00\nSubject: x\n\nhello\n\n" * 300
    assert [part.text for part in read_mailbox(box).parts] == ["hello"] * 300, "each message once"


@pytest.mark.parametrize("charset", ["punycode", "idna", "IDNA", "zlib", "rot13", "nowhere"])
def test_encodings_that_are_none_of_texts_are_not_used(charset: str) -> None:
    """Decoding names of hosts takes the square of their length: 400,000 bytes took 12 seconds."""
    head = f"Subject: =?{charset}?q?Lunch?=\nContent-Type: text/plain; charset={charset}\n\n"
    content = read_mail(head.encode() + b"aa-99 words")
    assert content.text == "aa-99 words"
    assert content.title


@pytest.mark.parametrize(
    "title", [None, "", "untitled", "Microsoft Word - draft.doc", "paper.dvi", "12-34", "Word Document"]
)
def test_a_title_no_person_wrote_is_none(title: str | None) -> None:
    assert clean_title(title) == ""


@pytest.mark.parametrize(
    "page",
    ["Certificate\nAnn passed the test.", "Parcel {}\nTo Hamburg", "{}", "Bill {}\nTo Ann\nFor wine\n{} EUR\nDue {}."],
)
def test_pdf_pages_of_one_form_are_all_text(page: str) -> None:
    pages = [page.format(number, 7 * number, number + 10) for number in range(1, 9)]
    assert read_pdf(make_pdf(pages)).text.split() == " ".join(pages).split()


def test_pdf_columns_are_read_one_after_the_other() -> None:
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    pdf.add_page()
    with pdf.text_columns(ncols=2, gutter=10) as columns:
        columns.write(text="left " * 320 + "right " * 200)
    words = read_pdf(bytes(pdf.output())).text.split()
    assert words == ["left"] * 320 + ["right"] * 200


def test_lines_of_a_page_are_as_they_were_meant() -> None:
    page = "Mod\ufffeern Universit¨at and B¨ ottcher \ufb01nd it. f ¨\nContents . . . . . . 7\na\nb\nc\nd\nend"
    assert clean_lines(page) == ["Modern Universität and Böttcher find it. f", "end"]


def test_a_damaged_book_and_a_missing_library_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceError, match="the epub file is damaged"):
        read_epub(zip_of({"META-INF/container.xml": "<container/>"}))
    book = make_xlsx()  # which needs the library
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(SourceError, match=r"openpyxl: install the extra triplebeam\[office\]$"):
        read_xlsx(book)


def test_damaged_files_are_told_whatever_the_damage() -> None:
    rolls = random.Random(7)
    names = ("title.pdf", "tables.docx", "slides.pptx", "sheets.xlsx", "chapters.epub", "lists.odt", "latin.eml")
    whole = [(MADE[name](), name[name.index(".") :]) for name in names]
    whole.append((rb"{\rtf1\ansi Text {\b bold} here.\par Next.}", ".rtf"))
    for data, ending in whole * 20:
        damaged = bytearray(data[: rolls.choice([len(data), rolls.randrange(1, len(data))])])
        for _ in range(rolls.choice([1, 10, 100])):
            damaged[rolls.randrange(len(damaged))] = rolls.randrange(256)
        with contextlib.suppress(SourceError):  # any other error fails the test
            read_content(bytes(damaged), ending)
