import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import FACTOR, SMALL, grows_with_its_input
from tables import read_table
from triplebeam.extract.local.prepare.names import (
    is_called,
    looks_like_title,
    reads_like_phrase,
    same_name,
    shorten_title,
)
from triplebeam.extract.local.prepare.terms import Terms
from triplebeam.extract.local.prepare.tidy import make_plain, read_bracket, tidy
from triplebeam.text.names import split_name


@pytest.mark.parametrize(("loose", "print_like"), read_table(__file__, "test_spacing_is_put_right"))
def test_spacing_is_put_right(loose: str, print_like: str) -> None:
    assert tidy(loose) == print_like


def test_a_quoted_title_loses_its_marks_and_is_remembered() -> None:
    text = make_plain('She wrote" Emma", and "Persuasion," too.')
    assert text.text == "She wrote Emma, and Persuasion, too."
    assert [text.text[start:end] for start, end in text.titles] == ["Emma", "Persuasion"]
    assert make_plain('He said "it is over".').titles == (), "what someone said keeps its marks"


def test_an_understood_bracket_is_taken_out_where_it_stood() -> None:
    text = make_plain(
        "Ada Lovelace (10 December 1815 – 27 November 1852) was a mathematician (her Notes on the Engine are famous)."
    )
    assert text.text.startswith("Ada Lovelace was a mathematician (her Notes")
    (life,) = text.asides
    assert text.text[: life.position] == "Ada Lovelace"
    assert life.facts == (("born on", "10 December 1815"), ("died on", "27 November 1852"))


@given(st.text(alphabet='ab AB()"19–,.', max_size=60))
def test_stretches_that_are_remembered_lie_inside_the_text(text: str) -> None:
    plain_text = make_plain(text)
    for start, end in plain_text.titles:
        assert 0 <= start < end <= len(plain_text.text)
        assert '"' not in plain_text.text[start:end]
    assert all(0 <= aside.position <= len(plain_text.text) for aside in plain_text.asides)


@pytest.mark.parametrize(("content", "facts"), read_table(__file__, "test_brackets_are_understood"))
def test_brackets_are_understood(content: str, facts: tuple[tuple[str, str], ...] | None) -> None:
    found = read_bracket(content)
    assert (None if found is None else tuple(found)) == facts
    assert read_bracket("born 1809 " * 100) is None, "a long one is left alone"


@pytest.mark.parametrize(
    ("title", "text", "name"),
    [
        ("Metropolis (1927 film)", "Metropolis is a film.", "Metropolis"),
        ("Ghent, Belgium", "Ghent is a city.", "Ghent"),
        ("Ghent, Belgium", "She moved to Ghent, Belgium.", "Ghent, Belgium"),
        ("", "Anything.", ""),
    ],
)
def test_the_title_is_named_as_the_text_names_it(title: str, text: str, name: str) -> None:
    assert shorten_title(title, text) == name


def test_two_forms_of_one_name() -> None:
    assert same_name(split_name("Ada Lovelace"), split_name("Augusta Ada King, Countess of Lovelace"), person=True)
    assert same_name(split_name("José Saramago"), split_name("Jose de Sousa Saramago"), person=False)
    assert not same_name(split_name("History of Ghent"), split_name("Ghent"), person=False)
    assert is_called("Mark Twain", "Samuel Clemens, known by his pen name Mark Twain, was a writer.")


def test_titles_are_told_from_phrases() -> None:
    titles = [looks_like_title(name) for name in ("The Merchant of Venice", "a merchant of Venice", "")]
    assert titles == [True, False, False]
    assert (reads_like_phrase("Gone with the Wind"), reads_like_phrase("Ada Lovelace")) == (True, False)


@pytest.mark.parametrize(
    "unit", [".", "A", "a.b.", "A.B.", "Ab-", "a1", "**", "a+", ".a", "www.-", "-a", " ", "\n", "/+", "A ("]
)
def test_no_text_takes_the_square_of_its_length(unit: str) -> None:
    text = unit * (4 * FACTOR * SMALL // len(unit))
    assert grows_with_its_input(lambda size: Terms().hide(text[: 4 * size]))
    assert grows_with_its_input(lambda size: make_plain(text[: 4 * size]))
