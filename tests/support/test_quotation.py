"""A quotation as a model gives it: found in the passage word for word, repaired if it is nearly right, else dropped."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables import read_table
from triplebeam.answer import Span
from triplebeam.passage import Passage
from triplebeam.support import fault_of, find_support, locate_fact
from triplebeam.support.find import locate
from triplebeam.support.names import mentions
from triplebeam.support.page import page_of
from triplebeam.support.resolve import resolve
from triplebeam.triple import Triple

TEXT = (
    "## The *mill*\n\nEva Holm built the mill at Skarnes in 1921 – “the last of its kind”, she said.\n"
    "It was sold to Per\nLund in 1950, who never used it.\n\n| Owner | From |\n| --- | --- |\n| Per Lund | 1950 |\n"
)
MILL = Passage("mill", TEXT, "The mill at Skarnes")
BUILT = Triple("Eva Holm", "built", "the mill at Skarnes")


@pytest.mark.parametrize(("quotation", "found"), read_table(__file__, "test_a_quotation_is_repaired_or_dropped"))
def test_a_quotation_is_repaired_or_dropped(quotation: str, found: str | None) -> None:
    place = locate(quotation, TEXT)
    assert (TEXT[slice(*place)] if place else None) == found


WORDS = st.lists(
    st.sampled_from(["Ada", "built", "the", "mill", "at", "Skarnes", "in", "1921", "and", "Per"]), min_size=4
)


@given(words=WORDS, data=st.data(), gap=st.sampled_from([" ", "\n", "  ", " – ", ", ", " | ", "**", "\u00a0"]))
def test_what_is_copied_is_found_whatever_is_between_the_words(words: list[str], data: st.DataObject, gap: str) -> None:
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    place = locate(" ".join(words[start:end]).upper(), gap.join(words))
    assert place is not None
    assert gap.join(words)[slice(*place)] == gap.join(words[start:end])


@given(quotation=WORDS.map(" ".join) | st.text(), text=WORDS.map(" ".join) | st.text())
def test_nothing_is_invented(quotation: str, text: str) -> None:
    """What comes back is a piece of the passage, and most of its words were quoted."""
    place = locate(quotation, text)
    if place is not None:
        start, end = place
        assert 0 <= start < end <= len(text)
        assert locate(text[start:end], text) is not None


@given(words=st.permutations(["Ada", "built", "the", "mill", "at", "Skarnes", "in", "1921"]), data=st.data())
def test_one_wrong_word_is_repaired(words: list[str], data: st.DataObject) -> None:
    text = " ".join([*words, "and", "nothing", "else"])
    wrong = data.draw(st.integers(1, len(words) - 2))
    place = locate(" ".join([*words[:wrong], "xyzzy", *words[wrong + 1 :]]), text)
    assert place is not None
    assert set(text[slice(*place)].split()) >= {words[0]}


@pytest.mark.slow
def test_a_fact_needs_a_quotation_that_states_it() -> None:
    start, end = TEXT.index("Eva"), TEXT.index(" in 1921")
    built = TEXT[start:end]
    span = locate_fact(BUILT, built.casefold(), MILL)
    assert span == Span(passage_id="mill", start=start, end=end, text=built)
    assert fault_of(BUILT, span, MILL) is None
    beyond = Span(passage_id="mill", start=0, end=len(TEXT) + 1, text=TEXT)
    assert fault_of(BUILT, beyond, MILL) == "the passage's text is not what the answer quotes"
    for quotation in ("she said", "Eva Holm demolished the church"):
        assert locate_fact(BUILT, quotation, MILL) is None
    turned = Triple(BUILT.object, "built", BUILT.subject)
    others = [BUILT._replace(**{part: "Per Lund"}) for part in ("subject", "object")]
    for fact in (turned, *others, BUILT._replace(predicate="sold")):
        assert locate_fact(fact, built, MILL) is None


@pytest.mark.parametrize(
    ("name", "text", "found"), read_table(__file__, "test_a_short_name_is_not_found_in_a_longer_one")
)
def test_a_short_name_is_not_found_in_a_longer_one(name: str, text: str, found: tuple[str, ...]) -> None:
    page = page_of(text, "")
    places = mentions(name, page, range(len(page.words)))
    said = [text[page.words[each.start].start : page.words[each.stop - 1].end] for each in places]
    assert tuple(said) == found


ROWS = Passage(
    "rows",
    "Holm Records Parent company Skarnes Music Group Founded March 19, 1958 Founder Eva Holm Genre Pop Location Oslo",
    "Holm Records",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fact", "stated"), read_table(__file__, "test_a_row_of_a_table_without_punctuation_needs_its_own_words")
)
def test_a_row_of_a_table_without_punctuation_needs_its_own_words(fact: tuple[str, str, str], stated: bool) -> None:
    assert (locate_fact(Triple(*fact), ROWS.text, ROWS) is not None) is stated
    assert (find_support(Triple(*fact), ROWS) is not None) is stated


@pytest.mark.slow
def test_a_longer_name_is_no_row() -> None:
    ballet = Passage("b", "Ann Lee founded the New York City Ballet Released by Per Lund.", "Ann Lee")
    assert locate_fact(Triple("Ann Lee", "founded the", "New York City"), ballet.text, ballet) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "lived", ["6 June 19505 October 2015", "June 6, 1950October 5, 2015", "6 June 1950 – 5 October 2015"]
)
@pytest.mark.parametrize(
    ("predicate", "date", "stated"),
    read_table(__file__, "test_two_dates_that_run_into_each_other_are_birth_and_death-2"),
)
def test_two_dates_that_run_into_each_other_are_birth_and_death(
    lived: str, predicate: str, date: str, stated: bool
) -> None:
    page = Passage("p", f"Eva Maria Holm( {lived}) was a Norwegian engineer.", "Eva Holm")
    assert (locate_fact(Triple("Eva Holm", predicate, date), page.text, page) is not None) is stated


@pytest.mark.slow
def test_a_reflexive_pronoun_refers_to_the_last_name_before_it() -> None:
    song = Passage("song", "Blue Mill is a song written by Ann Lee, and recorded by herself in Leeds.", "Blue Mill")
    assert locate_fact(Triple("Blue Mill", "was recorded by", "Ann Lee"), song.text, song)
    assert locate_fact(Triple("Ann Lee", "was recorded by", "Blue Mill"), song.text, song) is None


HOLM = Passage(
    "holm",
    "Eva Maria Holm (3 May 1890 – 7 June 1960), the daughter of Nils Holm, was a Norwegian engineer from Skarnes."
    " She taught at the Oslo School of Mines. Her husband was Arne Lie.",
    "Eva Holm",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fact", "quotation", "stated"),
    [
        *((*row, True) for row in read_table(__file__, "test_a_title_need_not_be_named")),
        *((*row, False) for row in read_table(__file__, "test_a_title_does_not_excuse_a_false_fact")),
    ],
)
def test_a_title_need_not_be_named_and_excuses_no_false_fact(
    fact: tuple[str, str, str], quotation: str, stated: bool
) -> None:
    assert (locate_fact(Triple(*fact), quotation, HOLM) is not None) is stated


@pytest.mark.parametrize(
    "text", [" " * 4000, "-a" + " " * 4000 + "b", "the following " * 300], ids=["spaces", "option", "list"]
)
def test_layout_of_one_long_line_is_read_in_a_moment(text: str) -> None:
    start = process_time()
    resolve(text)
    assert process_time() - start < 3
