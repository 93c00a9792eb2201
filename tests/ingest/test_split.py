"""Passages: where they are cut and that nothing is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.errors import BadInputError
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


def test_a_limit_of_nothing_is_refused() -> None:
    with pytest.raises(BadInputError, match="tokens per passage must be at least 1, got 0"):
        split(Document(id="d", text="a"), limit=0)


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
