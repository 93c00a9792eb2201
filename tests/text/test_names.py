"""Normal forms: what is one name, one answer, one title and one word; names and counts as messages have them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.text.characters import CHINESE_AND_JAPANESE, HANGUL, UNSPACED
from triplebeam.text.names import entity_key, split_name, strip_article, strip_articles, strip_qualifier
from triplebeam.text.phrases import format_count, join_names
from triplebeam.text.terms import is_unspaced, locate_words, text_words, words_in
from triplebeam.text.words import LETTERS, WORD, compile_word, content, words_of


@given(st.text())
def test_a_normal_form_is_its_own_normal_form(name: str) -> None:
    assert entity_key(entity_key(name)) == entity_key(name)


@given(st.text(st.characters(categories=["Lu", "Ll", "Nd"]), min_size=1))
def test_case_punctuation_and_spaces_do_not_tell_entities_apart(word: str) -> None:
    assert entity_key(f"  {word.upper()}_({word})! ") == entity_key(f"{word.upper()} {word}")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Edward L. Cahn", "edward l cahn", True),
        ("Straße", "STRASSE", True),
        ("New-York ", "new york", True),
        ("?", "!", False),
        ("C", "C2", False),
        ("§", "", False),
    ],
)
def test_mentions_of_one_entity_or_two(one: str, other: str, same: bool) -> None:
    assert (entity_key(one) == entity_key(other)) == same


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("The Verge", "Verge"),
        ("an  option", "option"),
        ("The --force option", "--force option"),
        ("Theodora", "Theodora"),
        ("The", "The"),
        ("The ", "The "),
        ("A-side", "A-side"),
    ],
)
def test_an_article_is_stripped_where_a_name_follows_it(name: str, bare: str) -> None:
    assert strip_article(name) == bare


def test_all_articles_and_accents_are_stripped_and_no_part_of_a_word_is() -> None:
    assert split_name("Gräsler, Badearzt") == split_name("GRASLER (Badearzt)") == ["grasler", "badearzt"]
    assert strip_articles("the man  in a hat, another “the” an") == "man in hat, another “ ”"


@pytest.mark.parametrize(
    ("title", "name"), [("Bath (film) ", "Bath"), ("(I Am) Bath", "(I Am) Bath"), ("Bath (a (b))", "Bath (a (b))")]
)
def test_what_is_in_brackets_at_the_end_is_no_part_of_a_name(title: str, name: str) -> None:
    assert strip_qualifier(title) == name


def test_counts_and_lists_are_written_as_they_are_said() -> None:
    counts = [format_count(number, "question") for number in (0, 1, 2000)]
    assert counts == ["0 questions", "1 question", "2,000 questions"]
    lists = [join_names(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])]
    assert lists == ["", "a", "a and b", "a, b and c"]


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
