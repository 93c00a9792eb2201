"""Normal forms: what is one name, one answer and one title; and names and counts as messages have them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.text.names import entity_key, split_name, strip_article, strip_articles, strip_qualifier
from triplebeam.text.phrases import format_count, join_names


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


def test_accents_do_not_tell_the_words_of_two_names_apart() -> None:
    assert split_name("Gräsler, Badearzt") == split_name("GRASLER (Badearzt)") == ["grasler", "badearzt"]


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


def test_all_articles_are_stripped_and_no_part_of_a_word_is() -> None:
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
