"""What a word is, and where it stands."""

import re

from hypothesis import given
from hypothesis import strategies as st

from triplebeam.text.characters import CHINESE_AND_JAPANESE, HANGUL, UNSPACED
from triplebeam.text.terms import is_unspaced, locate_words, text_words, words_in
from triplebeam.text.words import LETTERS, WORD, compile_word, content, words_of


def test_a_word_is_letters_and_digits_and_signs_join_words_where_they_are_said_to() -> None:
    assert WORD.findall("snake_case, U.S. mp3 naïve") == ["snake", "case", "U", "S", "mp3", "naïve"]
    assert LETTERS.findall("mp3 2nd naïve") == ["mp", "nd", "naïve"]
    assert compile_word(joined_by="'.-").findall("J.B.'s U.S.-led de' -a") == ["J.B.'s", "U.S.-led", "de'", "a"]
    assert compile_word(joined_by="'").findall("J.B.'s don't de' -a") == ["J", "B", "s", "don't", "de'", "a"]


@given(st.text(alphabet="aB1_'.- é’"))
def test_signs_that_join_are_as_letters_behind_the_first(text: str) -> None:
    assert compile_word(without="", joined_by="'.-").findall(text) == re.findall(r"\w[\w'.-]*", text)


@given(st.text())
def test_words_and_gaps_are_the_text(text: str) -> None:
    words = words_of(text)
    end = words[-1].end if words else 0
    assert "".join(word.gap + word.text for word in words) == text[:end]
    assert all(text[word.start : word.end] == word.text for word in words)


def test_numbers_are_whole_and_what_two_mentions_are_compared_by() -> None:
    dates = [word.text for word in words_of("1,000.5 in 6 June 19505 October 2015")]
    assert dates == ["1,000.5", "in", "6", "June", "1950", "5", "October", "2015"], "dates that run together are two"
    assert [word.folded for word in words_of("Seven Bürgers 1,000")] == ["7", "burger", "1000"]
    assert [word.text for word in content("The Man of the Year")] == ["Man", "Year"]
    assert [word.text for word in content("They Were")] == ["They", "Were"]


def test_scripts_are_one_set() -> None:
    unspaced = re.compile(f"[{UNSPACED}]")
    assert all(unspaced.match(letter) for letter in "ไลပខかカ々〇㐀漢한ㄱㄅｶ𠀀")
    assert not any(unspaced.match(letter) for letter in "aяéहا・。 ")
    assert set(re.findall(f"[{CHINESE_AND_JAPANESE}{HANGUL}]", "漢かカ한ไｶ")) == set("漢かカ한")


def test_words_of_a_shown_text_are_those_of_the_term_index() -> None:
    text = "The bridges of 東京 in Kraków"
    assert words_in(text) == set(text_words(text))
    assert [text[start:end] for start, end, word in locate_words(text) if word in ("bridg", "東京", "krakow")] == (
        ["bridges", "東京", "Kraków"]
    )
    assert is_unspaced("東")
    assert not is_unspaced("a")
