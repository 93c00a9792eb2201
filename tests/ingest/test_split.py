"""Passages: where they are cut, the sections they are in, and that nothing is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.errors import BadInputError
from triplebeam.ingest.content import Content
from triplebeam.ingest.html import read_html
from triplebeam.ingest.plain import read_plain
from triplebeam.ingest.split import split
from triplebeam.passage import Document, Passage


def texts(text: str, limit: int = 200) -> list[str]:
    return [passage.text for passage in split(Document(id="d", text=text), limit)]


def tokens(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", text))


def test_a_passage_knows_where_it_comes_from() -> None:
    document = Document(id="docs/a.md", text="  One is here.\n\nTwo is here. ", title="A", metadata={"year": "1999"})
    assert split(document, limit=4) == [
        Passage("docs/a.md#0", "One is here.", "A", "docs/a.md", 0, 2, 14, {"year": "1999"}),
        Passage("docs/a.md#1", "Two is here.", "A", "docs/a.md", 1, 16, 28, {"year": "1999"}),
    ]


@pytest.mark.parametrize(
    ("limit", "text", "expected"),
    [
        (8, "One is here.\n\nTwo is here.\n\nThree is here.", ["One is here.\n\nTwo is here.", "Three is here."]),
        (4, "One is here.\r\n\r\nTwo is here.", ["One is here.", "Two is here."]),
        (10, "One.\n\nA b c d. E f g h. I j k l.\n\nLast.", ["One.", "A b c d. E f g h.", "I j k l.", "Last."]),
        (22, "A b c. D e f. G h i. J k l. M n o. P q r.", ["A b c. D e f. G h i.", "J k l. M n o. P q r."]),
        (8, "One is here.\n\nThe heading\n\nText is here.", ["One is here.", "The heading\n\nText is here."]),
        (4, "Some text here.\n\nThe heading", ["Some text here.", "The heading"]),
        (4, "one two three four five six seven", ["one two three four", "five six seven"]),
        (7, "one two three\nfour five six\nseven eight", ["one two three\nfour five six", "seven eight"]),
    ],
    ids=[
        *("short paragraphs share", "line ends of Windows", "a long paragraph shares with none", "halves and no crumb"),
        *("a heading goes with its text", "a heading at the end", "a long sentence", "lines without full stops"),
    ],
)
def test_where_a_text_is_cut(limit: int, text: str, expected: list[str]) -> None:
    assert texts(text, limit) == expected


def test_a_word_longer_than_a_passage_is_cut() -> None:
    pieces = texts("x" * 1000, limit=5)
    assert "".join(pieces) == "x" * 1000
    assert max(map(len, pieces)) == 200
    assert texts("漢字" * 10, limit=5) == ["漢字漢字漢", "字漢字漢字"] * 2


def test_a_document_that_is_a_passage_stays_whole() -> None:
    document = Document(id="42", text="One is here. Two is here.", is_passage=True)
    assert [(p.id, p.text, p.document_id) for p in split(document, limit=4)] == [("42", document.text, "42")]
    assert [p.id for p in split(document, limit=4, force=True)] == ["42#0", "42#1"]
    with pytest.raises(BadInputError, match="tokens per passage must be at least 1, got 0"):
        split(document, limit=0)


_PIECES = st.sampled_from(
    [*"\n\t\x1f🙂 ", "Dr. ", "word", "\n\n", "\r\n", ". ", "! ", "U.S. ", "漢字。", "e\u0301", '"', "7.5", "x" * 90]
)


@given(st.lists(_PIECES | st.text(max_size=5), max_size=60).map("".join), st.integers(1, 30), st.booleans())
def test_passages_are_stretches_of_the_text_and_lose_only_white_space(text: str, limit: int, is_passage: bool) -> None:
    document = Document(id="d", text=text, is_passage=is_passage)
    last = 0
    for position, passage in enumerate(split(document, limit)):
        assert passage.position == position
        assert passage.text.strip() == passage.text == text[passage.start : passage.end] != ""
        assert not text[last : passage.start].strip()
        assert is_passage or tokens(passage.text) <= limit
        last = passage.end
    assert not text[last:].strip()


def cut(content: Content, limit: int = 40, title: str = "") -> list[Passage]:
    document = Document(id="d", text=content.text, title=title, headings=content.headings, links=content.links)
    return split(document, limit)


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * (count - 1)) + " end."


def test_a_passage_knows_the_path_of_its_headings() -> None:
    page = f"<h1>Manual</h1><p>{words(20)}</p><h2>Uploads</h2><h3>By hand</h3><p>{words(30)}</p><p>{words(30)}</p>"
    passages = cut(read_html(page), title="The Manual")
    assert [passage.section for passage in passages] == ["", "Uploads › By hand", "Uploads › By hand"]
    assert passages[1].text.startswith("Uploads\n\nBy hand\n\nword")
    assert passages[2].searchable == f"The Manual\nUploads › By hand\n{passages[2].text}"
    assert passages[2].term_text == f"The Manual\n{passages[2].searchable}"


def test_which_sections_passages_are_in() -> None:
    def sections(content: Content, title: str = "") -> list[str]:
        return [passage.section for passage in cut(content, title=title)]

    page = f"<h2>Chapter 59 - Proxies</h2><p>{words(30)}</p><h3>1. Inbound proxies</h3><p>{words(30)}</p>"
    titled = sections(read_html(page), "59. Proxies")
    assert titled == ["", "1. Inbound proxies"], "a chapter that is the title but for its number goes without saying"
    page = "<h1>A</h1>" + "".join(f"<h2>A{n}</h2><p>{words(5)}</p>" for n in range(3)) + f"<h1>B</h1><p>{words(20)}</p>"
    assert sections(read_html(page)) == ["A", "A › A2", "B"], "small ones under one heading are not parted"
    entries = "".join(f"<dt>term {n}<dd><p>{words(30)}</p><p>{words(30)}</p>" for n in range(2))
    glossary = read_html(f"<h2>Glossary</h2><dl>{entries}</dl>")
    assert sections(glossary) == [f"Glossary › term {n}" for n in (0, 0, 1, 1)]
    assert cut(glossary)[2].text.startswith("term 1\nword"), "definitions are found under their headword"
    text = "\n\n".join(f":term{n}: n. {words(30)}\n\n{words(30)}" for n in range(2))
    assert sections(read_plain(text)) == ["term0", "term0", "term1", "term1"]


def test_lists_are_cut_between_items() -> None:
    items = "".join(f"<li>{words(6)} {words(6)}</li>" for _ in range(5))
    passages = cut(read_html(f"<ul>{items}</ul>"), limit=40)
    assert all(passage.text.startswith("- ") and passage.text.endswith("end.") for passage in passages)
    assert [passage.text.count("- ") for passage in passages] == [2, 2, 1]


_HEADINGS = ("<h1>One</h1>", "<h2>Two</h2>", "<h3>Three</h3>")
_LISTS = ("<dl><dt>term<dd>definition</dl>", "<ul><li>a<li>b</ul>", "<table><tr><td>1<td>2</table>")
_TEXTS = ("<p>Some words are here. And more.</p>", f"<p>{words(50)}</p>", "<pre>x\n  y</pre>")
_BLOCKS = st.sampled_from([*_HEADINGS, *_LISTS, *_TEXTS])


@given(st.lists(_BLOCKS, max_size=12).map("".join), st.integers(1, 60))
def test_whatever_the_sections_passages_are_stretches_of_the_text_and_lose_nothing(page: str, limit: int) -> None:
    content = read_html(page)
    last = 0
    for passage in cut(content, limit):
        assert passage.text == content.text[passage.start : passage.end]
        assert not content.text[last : passage.start].strip()
        known = {heading.text for heading in content.headings}
        assert not passage.section or set(passage.section.split(" › ")) <= known
        last = passage.end
    assert not content.text[last:].strip()
