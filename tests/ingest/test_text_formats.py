"""Readers of text, Markdown and HTML."""

import pytest

from triplebeam.errors import SourceError
from triplebeam.ingest.asciidoc import asciidoc_content
from triplebeam.ingest.html import html_content
from triplebeam.ingest.markdown import markdown_content
from triplebeam.ingest.text import decode
from triplebeam.passage import Heading, Link


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
def test_text_is_decoded_without_its_byte_order_mark_and_with_plain_line_ends(encoding: str) -> None:
    assert decode("Grüße, und mehr\r\nzwei\rdrei".encode(encoding)) == "Grüße, und mehr\nzwei\ndrei"


def test_western_text_is_told_by_how_rare_its_accents_are() -> None:
    text = "Le café est à côté de l’hôtel; il coûte 5 €."
    assert decode(text.encode("cp1252")) == text
    assert decode("Die Straße führt über die Brücke.".encode("latin-1")) == "Die Straße führt über die Brücke."


@pytest.mark.parametrize(
    "data",
    [
        "Привет, это проверка".encode("koi8-r"),
        "日本語の文章です".encode("shift_jis"),
        b"\xff\xfea",
        b"\x89PNG\r\n\x1a\n\x00\xff",
    ],
)
def test_what_cannot_be_told_is_not_guessed(data: bytes) -> None:
    with pytest.raises(SourceError, match="--encoding"):
        decode(data)


def test_an_encoding_may_be_given_or_declared() -> None:
    russian = "Привет, это проверка"
    assert decode(russian.encode("koi8-r"), "koi8-r") == russian
    assert decode(b"# -*- coding: koi8-r -*-\n" + russian.encode("koi8-r")).endswith(russian)
    assert decode(b'<meta charset="iso-8859-5">' + russian.encode("iso-8859-5")).endswith(russian)
    with pytest.raises(SourceError, match="no encoding 'klingon'"):
        decode(b"abc", "klingon")
    with pytest.raises(SourceError, match="it is not in ascii"):
        decode(russian.encode(), "ascii")


def test_markdown_becomes_plain_text() -> None:
    content = markdown_content(
        "Intro with *stress*, `code` and a [link](http://x.org).\nSame paragraph<br>here.\n\n# The *Title*\n\n"
        "- one\n- two\n\n> quoted\n\n```\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![a map](m.png)\n\n"
        "<div>raw <b>html</b></div>\n",
    )
    assert content.title == "The Title"
    assert content.text == (
        "Intro with stress, `code` and a link. Same paragraph\nhere.\n\nThe Title\n\n- one\n- two\n\nquoted\n\n"
        "x = 1\n\na | b\n1 | 2\n\na map\n\nraw html"
    )


def test_front_matter_is_metadata_and_may_give_the_title() -> None:
    content = markdown_content(
        '---\ntitle: "A: b"\ntags: [x, "y z"]\nauthors:\n  - Ann\n  - Bob\ndraft: true\n---\nText.\n'
    )
    assert (content.text, content.title) == ("Text.", "A: b")
    assert content.metadata == {"tags": "x, y z", "authors": "Ann, Bob", "draft": "true"}


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("+++\ntitle = 'A'\n+++\n# Heading\n", "A"),
        ("---\ntitle: package.json\n---\n### Description\n\nText.", "package.json"),
        ("---\ntitle: >-\n  A long\n  title\n---\n# Heading", "A long title"),
        ("---\ntitle: 'A' # a remark\n---\n# Heading", "A"),
        ("---\ntitle:\ntags: [x]\n---\n# Heading", "Heading"),
        ('<h1 align="center">Site</h1>\n\n## Errors\n\n### Codes\n\nText.', "Errors"),
        ("<!-- x -->\n<div align=center>\n\n<H1>Site</H1>\n\n</div>\n\n# Errors\n\nText.", "Errors"),
        ('<h1 align="center">Tool</h1>\n\nIt does a thing.\n\n## Install\n', "Tool"),
        ('<h1 align="center">Tool</h1>\n\nIt does a thing.', "Tool"),
        ("# Tool\n\n## Install\n\nText.", "Tool"),
    ],
)
def test_the_title_is_the_front_matters_then_the_first_heading_that_is_no_banner(source: str, title: str) -> None:
    content = markdown_content(source)
    assert content.title == title
    assert "title" not in content.metadata


@pytest.mark.parametrize(
    ("source", "warned"),
    [
        ("---\ntitle: A\n[x]\n---\nText.", ""),
        ("---\ntitle: 'A' # the \"name\"\n\n# comment\ntags:\n- a\n- b\n---\nText.", ""),
        ("+++\ntitle = 'A'\ntags = [\n  'a',\n]\n[more]\n+++\nText.", ""),
        ("---\nnote: this follows a rule.\n\nText.", ""),
        (
            "---\ntitle: A\nauthor Ann\n---\nText.",
            "line 3 of its front matter is no field and was left out: 'author Ann'",
        ),
        ('---\ntitle: "A\n---\nText.', "the field 'title' of its front matter begins with \" and has no end: '\"A'"),
        ("---\ntags: [a, b\n---\nText.", "the field 'tags' of its front matter begins with [ and has no end: '[a, b'"),
        ("---\ntitle: A\ndate: 2026\n\nText.", "its front matter has no end, so it was read as text: close it with"),
    ],
)
def test_front_matter_that_is_broken_is_said(source: str, warned: str) -> None:
    for content in (markdown_content(source), asciidoc_content(source)):
        assert (len(content.warnings), "".join(content.warnings)[: len(warned)]) == (bool(warned), warned)
        assert "Text." in content.text


def test_text_between_two_rules_is_no_front_matter() -> None:
    assert markdown_content("---\n\nText.\n\n---\n\nMore.").text == "Text.\n\nMore."


@pytest.mark.parametrize("nesting", ["> ", "- "])
def test_deeply_nested_markdown_keeps_its_text(nesting: str) -> None:
    assert "inside" in markdown_content(nesting * 500 + "inside\n\nafter").text


@pytest.mark.parametrize("unit", ["![", "[a](", "*a ", "> ", "- ", "`", "<a ", "|a", "**_", "\\", "&#"])
def test_hostile_markdown_is_read(unit: str) -> None:
    markdown_content(unit * 20_000)


def test_markdown_has_headings_and_links() -> None:
    content = markdown_content("# Top\n\nSee [the guide](guide/start.md#first).\n\n## Inner `code`\n\nText.")
    assert content.headings == (Heading(0, 1, "Top"), Heading(21, 2, "Inner code"))
    assert [content.text[start : start + 9] for start, _, _, _ in content.headings] == ["Top\n\nSee ", "Inner cod"]
    assert content.links == (Link(9, "guide/start.md#first"),)


def test_html_keeps_paragraphs_and_drops_what_surrounds_them() -> None:
    content = html_content(
        "<html><head><title> The\n title </title><style>p {}</style></head><body><nav>Menu</nav><script>x()</script>"
        "<h1>Heading</h1><p>One <b>bold</b>\nword<br>next line</p><!-- no --><ul><li>a<li>b</ul>"
        "<table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>"
        "<pre>x\n\ty</pre><p hidden>secret</p><footer>Imprint</footer></body></html>"
    )
    assert content.title == "The title"
    assert content.text == "Heading\n\nOne bold word\nnext line\n\n- a\n- b\n\nk | v\n1 | 2\n\nx\n        y"


def test_html_without_a_title_takes_its_first_heading() -> None:
    assert html_content("<h1>First</h1><h1>Second</h1>").title == "First"


@pytest.mark.parametrize("markup", ["<p>one<p>two<b>", "<div><p>one</div></p>two</table>", "<td>one</td><p>two"])
def test_broken_markup_keeps_its_text(markup: str) -> None:
    assert html_content(markup).text.split() == ["one", "two"]


@pytest.mark.parametrize("markup", ["page.html", "http://example.org/a", "<?xml version='1.0'?><a>page.html</a>"])
def test_what_hardly_looks_like_html_is_read_without_a_warning(markup: str) -> None:
    assert html_content(markup).text in ("page.html", "http://example.org/a")


def test_html_nested_without_end_does_not_overflow() -> None:
    for tag in ("div", "ul><li", "dl><dd", "table><tr><td", "b"):
        assert "deep" in html_content(f"<{tag}>" * 3000 + "deep").text
