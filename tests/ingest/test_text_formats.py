"""Readers of text, Markdown and HTML."""

from pathlib import Path

import pytest

from triplebeam.errors import SourceError
from triplebeam.ingest.html import html_content, read_html
from triplebeam.ingest.markdown import read_markdown
from triplebeam.ingest.text import Content, read_text


def markdown(tmp_path: Path, source: str) -> Content:
    path = tmp_path / "a.md"
    path.write_text(source, encoding="utf-8")
    return read_markdown(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_read_without_its_byte_order_mark_and_with_plain_line_ends(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Grüße 🙂\r\nzwei\rdrei".encode(encoding))
    assert read_text(path).text == "Grüße 🙂\nzwei\ndrei"


@pytest.mark.parametrize("data", ["Grüße".encode("latin-1"), "abc".encode("utf-16-le"), b"\xff\xfea"])
def test_other_encodings_are_not_guessed(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    with pytest.raises(SourceError, match="save the file as UTF-8"):
        read_text(path)


def test_markdown_becomes_plain_text(tmp_path: Path) -> None:
    content = markdown(
        tmp_path,
        "Intro with *stress*, `code` and a [link](http://x.org).\nSame paragraph<br>here.\n\n# The *Title*\n\n"
        "- one\n- two\n\n> quoted\n\n```\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![a map](m.png)\n\n"
        "<div>raw <b>html</b></div>\n",
    )
    assert content.title == "The Title"
    assert content.text == (
        "Intro with stress, code and a link. Same paragraph here.\n\nThe Title\n\none\ntwo\n\nquoted\n\nx = 1\n\n"
        "a | b\n1 | 2\n\na map\n\nraw html"
    )


def test_front_matter_is_not_text_but_may_give_the_title(tmp_path: Path) -> None:
    assert markdown(tmp_path, '---\ntitle: "A: b"\ntags: [x]\n---\nText.\n') == Content("Text.", "A: b")
    assert markdown(tmp_path, "+++\ntitle = 'A'\n+++\n# Heading\n") == Content("Heading", "Heading")


def test_text_between_two_rules_is_no_front_matter(tmp_path: Path) -> None:
    assert markdown(tmp_path, "---\n\nText.\n\n---\n\nMore.").text == "Text.\n\nMore."


def test_deeply_nested_markdown_keeps_its_text(tmp_path: Path) -> None:
    assert "inside" in markdown(tmp_path, "> " * 25 + "inside").text


def test_html_keeps_paragraphs_and_drops_what_surrounds_them() -> None:
    content = html_content(
        "<html><head><title> The\n title </title><style>p {}</style></head><body><nav>Menu</nav><script>x()</script>"
        "<h1>Heading</h1><p>One <b>bold</b>\nword<br>next line</p><!-- no --><ul><li>a<li>b</ul>"
        "<table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>"
        "<pre>x\n\ty</pre><p hidden>secret</p><footer>Imprint</footer></body></html>"
    )
    assert content.title == "The title"
    assert content.text == "Heading\n\nOne bold word\nnext line\n\na\nb\n\nk | v\n1 | 2\n\nx\ny"


def test_html_without_a_title_takes_its_first_heading() -> None:
    assert html_content("<h1>First</h1><h1>Second</h1>").title == "First"


@pytest.mark.parametrize("markup", ["<p>one<p>two<b>", "<div><p>one</div></p>two</table>", "<td>one</td><p>two"])
def test_broken_markup_keeps_its_text(markup: str) -> None:
    assert html_content(markup).text.split() == ["one", "two"]


@pytest.mark.parametrize("markup", ["page.html", "http://example.org/a", "<?xml version='1.0'?><a>page.html</a>"])
def test_what_hardly_looks_like_html_is_read_without_a_warning(markup: str) -> None:
    assert html_content(markup).text in ("page.html", "http://example.org/a")


def test_html_nested_without_end_does_not_overflow() -> None:
    assert html_content("<div>" * 3000 + "deep" + "</div>" * 3000).text == "deep"


def test_html_may_declare_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes('<meta charset="iso-8859-1"><p>Grüße</p>'.encode("latin-1"))
    assert read_html(path).text == "Grüße"
    path.write_bytes("<p>Grüße</p>".encode("latin-1"))
    with pytest.raises(SourceError, match="is not UTF-8"):
        read_html(path)
    path.write_bytes('<meta charset="no-such"><p>Grüße</p>'.encode("latin-1"))
    with pytest.raises(SourceError, match=r"save the file as UTF-8|not UTF-8"):
        read_html(path)
