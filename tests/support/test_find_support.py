"""Facts that a text says, facts that it does not say, and facts planted to look as if it did."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tables import read_table
from triplebeam.answer import Span
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


def test_of_two_directions_that_could_be_meant_one_is_said() -> None:
    page = Passage("lund", "Filming took place in New Zealand, Lund's native country.", "Lund")
    assert find_support(Triple("New Zealand", "is the native country of", "Lund"), page)
    assert find_support(Triple("Lund", "is the native country of", "New Zealand"), page) is None


def test_a_span_is_short() -> None:
    span = find_support(Triple("Marie Curie", "born in", "Warsaw"), passage("Marie Curie"))
    assert span is not None
    assert span.text == "Marie Curie was born in Warsaw"


def test_a_pronoun_refers_to_the_title() -> None:
    page = Passage("cahn", "Edward Cahn was a film director. He died on 25 August 1963.", "Edward Cahn")
    span = find_support(Triple("Edward Cahn", "died on", "August 25, 1963"), page)
    assert span is not None
    assert span.text == "He died on 25 August 1963"


def test_a_pronoun_after_another_subject_stands_for_nobody() -> None:
    page = Passage("cahn", "Edward Cahn made films. Ann Miller danced in them. She died in Rome.", "Edward Cahn")
    assert find_support(Triple("Edward Cahn", "died in", "Rome"), page) is None


def test_a_surname_that_two_people_share_is_nobodys() -> None:
    text = "Ann Brook met Paul Brook. Brook moved to Leeds."
    assert find_support(Triple("Ann Brook", "moved to", "Leeds"), Passage("p", text, "A meeting")) is None
    assert find_support(Triple("Ann Brook", "moved to", "Leeds"), Passage("p", text.replace("Paul Brook", "him")))


def test_the_first_passage_with_support_is_taken() -> None:
    fact = Triple("Canberra", "capital of", "Australia")
    span = support_among(fact, map(passage, TEXTS))
    assert span is not None
    assert span.passage_id == "canberra"
    assert support_among(fact, []) is None


def test_a_row_of_a_table_is_found_without_a_quotation() -> None:
    table = Passage("p", "Directed by Ann Lee Produced by Per Lund Released 1985", "River Song")
    span = find_support(Triple("River Song", "directed by", "Ann Lee"), table)
    assert span is not None
    assert span.text == "Directed by Ann Lee"
    assert find_support(Triple("River Song", "produced by", "Ann Lee"), table) is None


def test_a_table_is_no_sentence() -> None:
    text = "Ann Brook, Paul Stone, met, " * 2_000
    assert find_support(Triple("Ann Brook", "met", "Paul Stone"), Passage("p", text, "Ann Brook")) is None


def test_faults_are_named() -> None:
    page, fact = passage("Marie Curie"), Triple("Marie Curie", "born in", "Warsaw")

    def fault(start: int, end: int, fact: Triple = fact, text: str | None = None) -> str:
        claimed = page.text[start:end] if text is None else text
        found = fault_of(fact, Span(passage_id=page.id, start=start, end=end, text=claimed), page)
        assert found
        return found

    assert "not what the answer quotes" in fault(0, 11, text="Marya Curie")
    assert "not what the answer quotes" in fault(0, 10_000)
    assert "do not hold 'Warsaw'" in fault(0, 11)
    assert "do not hold 'Rome'" in fault(0, 30, Triple("Marie Curie", "born in", "Rome"))
    assert "do not say 'died in'" in fault(0, 30, Triple("Marie Curie", "died in", "Warsaw"))


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
