"""Sentence borders: what ends a sentence and what only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.ingest import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith met Mrs. Jones.",
        "She moved to the U.S. government office.",
        "J. R. R. Tolkien wrote it.",
        "Use a mark, e.g. Paris, i.e. the capital.",
        "It was No. 5 on the list, see p. 7 and Fig. 3.",
        "It cost 3.14 dollars at example.com yesterday.",
        "He waited... and then he left.",
        '"Really?" he said.',
        "Yahoo! is a company.",
        "It ended on Sept. 11 of that year.",
        "He works at Acme Inc. Germany.",
        "1. First item of a list",
        "Smith et al. Berlin agree.",
        "no mark at the end",
    ],
)
def test_one_sentence_stays_whole(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("He came.", "She left."),
        ('He said "Go."', "She went."),
        ("(He came.)", "She left."),
        ("What?!", "Nothing."),
        ("He waited…", "Then he left."),
        ("They live in the U.S.", "He works there."),
        ("It was 1999.", "The war was over."),
        ("Rivers run.[12][13]", "Lakes do not."),
        ("all in lower case letters.", "nobody minds."),
        ("The words are spaced .", "So are the marks ."),
        ("It is.", "“Quoted,” she said."),
        ("He rose at 5 a.m.", "The sun was up."),
    ],
)
def test_two_sentences_are_parted(first: str, second: str) -> None:
    assert sentences(f"{first} {second}") == [first, second]
    assert sentences(f"{first}\n{second}") == [first, second]


def test_full_width_marks_need_no_space() -> None:
    assert sentences("今日は晴れ。明日は雨！「本当？」はい。") == ["今日は晴れ。", "明日は雨！", "「本当？」", "はい。"]


def test_only_the_stretch_asked_for_is_read() -> None:
    text = "One. Two. Three. Four."
    assert [text[start:end] for start, end in sentence_spans(text, 5, 16)] == ["Two.", "Three."]


@given(st.text(alphabet="aB1 .!?…。\n\"')]U.S", max_size=80))
def test_sentences_are_in_order_and_lose_only_white_space(text: str) -> None:
    last = 0
    for start, end in sentence_spans(text):
        assert not text[last:start].strip()
        assert text[start:end].strip() == text[start:end] != ""
        last = end
    assert not text[last:].strip()
