"""Facts that a text says, facts that it does not say, and facts planted to look as if it did."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tables import read_table
from triplebeam.passage import Passage
from triplebeam.support import fault_of, find_support, support_among
from triplebeam.triple import Triple

pytestmark = pytest.mark.slow  # the real model reads

TEXTS = read_table(__file__, "TEXTS")

SAID = read_table(__file__, "SAID")

PLANTED = read_table(__file__, "PLANTED")


def passage(title: str) -> Passage:
    return Passage(title.casefold(), TEXTS[title], title)


@pytest.mark.parametrize(("title", "fact"), SAID, ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_what_is_said_is_found_verbatim(title: str, fact: tuple[str, str, str]) -> None:
    span = find_support(Triple(*fact), passage(title))
    assert span is not None
    assert span.text == TEXTS[title][span.start : span.end]
    assert fault_of(Triple(*fact), span, passage(title)) is None


@pytest.mark.parametrize(("why", "title", "fact"), PLANTED)
def test_what_is_planted_is_rejected(why: str, title: str, fact: tuple[str, str, str]) -> None:
    assert find_support(Triple(*fact), passage(title)) is None, why


CAHN = "Edward Cahn was a film director. He died on 25 August 1963."
DANCED = "Edward Cahn made films. Ann Miller danced in them. She died in Rome."
BROOKS = "Ann Brook met Paul Brook. Brook moved to Leeds."
FILMED = "Filming took place in New Zealand, Lund's native country."
ROWS = "Ann Brook, Paul Stone, met, " * 2_000
RIVER = "Directed by Ann Lee Produced by Per Lund Released 1985"


@pytest.mark.parametrize(
    ("title", "text", "fact", "found"),
    [
        ("Marie Curie", TEXTS["Marie Curie"], ("Marie Curie", "born in", "Warsaw"), "Marie Curie was born in Warsaw"),
        ("Edward Cahn", CAHN, ("Edward Cahn", "died on", "August 25, 1963"), "He died on 25 August 1963"),
        ("River Song", RIVER, ("River Song", "directed by", "Ann Lee"), "Directed by Ann Lee"),
        ("River Song", RIVER, ("River Song", "produced by", "Ann Lee"), None),
        ("Lund", FILMED, ("New Zealand", "is the native country of", "Lund"), "New Zealand, Lund"),
        ("Lund", FILMED, ("Lund", "is the native country of", "New Zealand"), None),
        # A pronoun after another subject, and a surname that two people share, stand for nobody.
        ("Edward Cahn", DANCED, ("Edward Cahn", "died in", "Rome"), None),
        ("A meeting", BROOKS, ("Ann Brook", "moved to", "Leeds"), None),
        ("", BROOKS.replace("Paul Brook", "him"), ("Ann Brook", "moved to", "Leeds"), "Brook moved to Leeds"),
        pytest.param("Ann Brook", ROWS, ("Ann Brook", "met", "Paul Stone"), None, id="a table is no sentence"),
    ],
)
def test_a_span_is_short_and_its_names_are_clear(
    title: str, text: str, fact: tuple[str, str, str], found: str | None
) -> None:
    span = find_support(Triple(*fact), Passage("p", text, title))
    assert (span.text if span else None) == found


def test_the_first_passage_with_support_is_taken() -> None:
    fact = Triple("Canberra", "capital of", "Australia")
    span = support_among(fact, map(passage, TEXTS))
    assert span is not None
    assert span.passage_id == "canberra"
    assert support_among(fact, []) is None


VOCABULARY = "Ada Lovelace wrote was born in by not director of London 1815 . , ( ) he The film ’s – ß"
WORDS = st.lists(st.sampled_from(VOCABULARY.split()), max_size=24).map(" ".join)


@settings(deadline=None)  # the first claim loads the model
@given(text=WORDS | st.text(), title=WORDS, subject=WORDS | st.text(max_size=9), predicate=WORDS, object_=WORDS)
def test_any_span_is_verbatim(text: str, title: str, subject: str, predicate: str, object_: str) -> None:
    page, fact = Passage("p", text, title), Triple(subject, predicate, object_)
    span = find_support(fact, page)
    if span is not None:
        assert span.text == text[span.start : span.end] != ""
        assert fault_of(fact, span, page) is None
