"""Sentence borders: what ends a sentence and what only looks like it; lines, which have a number each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables import read_table
from triplebeam.generate.prompts import format_facts, format_passages
from triplebeam.passage import Passage
from triplebeam.text.lines import line_numbers
from triplebeam.text.sentences import sentence_spans
from triplebeam.triple import Triple


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize("text", read_table(__file__, "test_one_sentence_stays_whole"))
def test_one_sentence_stays_whole(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(("first", "second"), read_table(__file__, "test_two_sentences_are_parted"))
def test_two_sentences_are_parted(first: str, second: str) -> None:
    assert sentences(f"{first} {second}") == [first, second]
    assert sentences(f"{first}\n{second}") == [first, second]


def test_full_width_marks_need_no_space_and_only_the_stretch_asked_for_is_read() -> None:
    assert sentences("今日は晴れ。明日は雨！「本当？」はい。") == ["今日は晴れ。", "明日は雨！", "「本当？」", "はい。"]
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


@pytest.mark.parametrize("text", ["Bath lies here.", "2. Bundesliga is a league.", "[3] 4. A quoted list.", "1."])
def test_a_line_has_one_number_wherever_it_is_quoted(text: str) -> None:
    assert line_numbers([format_passages([Passage("p", text)])]) == line_numbers([text])
    fact = Triple(text, "is", "a league")
    assert line_numbers([format_facts([fact])]) == line_numbers([str(fact)])
    assert len(line_numbers([f"{text}\nAnother line.\n\n", text])) == 2, "other lines have other numbers"
