"""A quotation as a model gives it: found in the passage word for word, repaired if it is nearly right, else dropped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.answer import Span
from triplebeam.passage import Passage
from triplebeam.support import fault_of, find_support, quoted
from triplebeam.support.names import mentions
from triplebeam.support.page import page_of
from triplebeam.support.quotation import locate
from triplebeam.triple import Triple

TEXT = (
    "## The *mill*\n\nEva Holm built the mill at Skarnes in 1921 – “the last of its kind”, she said.\n"
    "It was sold to Per\nLund in 1950, who never used it.\n\n| Owner | From |\n| --- | --- |\n| Per Lund | 1950 |\n"
)
MILL = Passage("mill", TEXT, "The mill at Skarnes")
BUILT = Triple("Eva Holm", "built", "the mill at Skarnes")


@pytest.mark.parametrize(
    ("quotation", "found"),
    [
        ("Eva Holm built the mill", "Eva Holm built the mill"),
        ("EVA HOLM BUILT THE MILL", "Eva Holm built the mill"),
        (
            "built the mill at Skarnes in 1921 - 'the last of its kind'",
            "built the mill at Skarnes in 1921 – “the last of its kind",
        ),
        ("It was sold to Per Lund in 1950", "It was sold to Per\nLund in 1950"),
        ("Eva Holm built … at Skarnes in 1921", "Eva Holm built the mill at Skarnes in 1921"),
        ("Eva Holm built the mill [...] in 1921.", "Eva Holm built the mill at Skarnes in 1921"),
        ("Eva Holm constructed the mill at Skarnes", "Eva Holm built the mill at Skarnes"),
        ("Eva Holm built the old mill at Skarnes", "Eva Holm built the mill at Skarnes"),
        ("Per Lund 1950", "Per Lund | 1950"),
        ("the mill said built Per Holm", None),
        ("Per Lund built the mill in 1930 with his own hands", None),
        ("Eva Holm … the railway", None),
        ("in 1950 … Eva Holm", None),
        ("", None),
        ("…", None),
        ("“”", None),
    ],
)
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
    span = quoted(BUILT, "eva holm built the mill at skarnes", MILL)
    assert span == Span(
        passage_id="mill",
        start=TEXT.index("Eva"),
        end=TEXT.index(" in 1921"),
        text=TEXT[TEXT.index("Eva") : TEXT.index(" in 1921")],
    )
    assert fault_of(BUILT, span, MILL) is None
    assert quoted(BUILT, "she said", MILL) is None
    assert quoted(BUILT, "Eva Holm demolished the church", MILL) is None
    assert quoted(BUILT._replace(subject="Per Lund"), "Eva Holm built the mill at Skarnes", MILL) is None
    assert quoted(BUILT._replace(object="Per Lund"), "Eva Holm built the mill at Skarnes", MILL) is None
    assert quoted(BUILT._replace(predicate="sold"), "Eva Holm built the mill at Skarnes", MILL) is None
    assert quoted(Triple(BUILT.object, "built", BUILT.subject), "Eva Holm built the mill at Skarnes", MILL) is None


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Paris", "She met Paris Hilton there.", []),
        ("Paris", "She came from Paris, France.", ["Paris"]),
        ("New York City", "She founded the New York City Ballet.", []),
        ("John Lee", "It was written by John van Lee Smith.", []),
        ("John Lee", "Directed by John Lee Produced by Per Lund", []),
        ("6 June 1950", "Ann Lee( 6 June 19505 October 2015)", ["6 June 1950"]),
        ("October 5, 2015", "Ann Lee( 6 June 19505 October 2015)", ["5 October 2015"]),
        ("6 June 1950", "Born on 6 June 19505, she sold 19505 sacks.", []),
        ("19505 sacks", "In May 19505 sacks were sold.", ["19505 sacks"]),
        ("1950", "They were 19500 January 2015.", []),
        ("1165", "It has 116500 June 2015 entries.", []),
        ("1234", "There were 12345 May tickets.", []),
        ("9505", "There were 219505 May 2015 tickets.", []),
        ("1950", "19501 October 2015 were her dates.", ["1950"]),
        ("31 October 2015", "Ann Lee (195031 October 2015)", ["31 October 2015"]),
    ],
)
def test_a_short_name_is_not_found_in_a_longer_one(name: str, text: str, found: list[str]) -> None:
    page = page_of(text, "")
    places = mentions(name, page, range(len(page.words)))
    assert [text[page.words[each.start].start : page.words[each.stop - 1].end] for each in places] == found


ROWS = Passage(
    "rows",
    "Holm Records Parent company Skarnes Music Group Founded March 19, 1958 Founder Eva Holm Genre Pop Location Oslo",
    "Holm Records",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fact", "stated"),
    [
        (("Holm Records", "parent company", "Skarnes Music Group"), True),
        (("Holm Records", "parent company", "Skarnes Music"), False),
        (("Holm Records", "parent company", "Skarnes"), False),
        (("Holm Records", "was founded by", "Skarnes Music Group"), False),
        (("Holm Records", "founder", "Skarnes Music Group"), False),
        (("Holm Records", "is the parent company of", "Skarnes Music Group"), False),
        (("Skarnes Music Group", "parent company", "Holm Records"), False),
        (("Skarnes Music Group", "founded", "March 19, 1958"), False),
        (("Oslo", "parent company", "Skarnes Music Group"), False),
        (("Holm Records", "", "Skarnes Music Group"), False),
    ],
)
def test_a_row_of_a_table_without_punctuation_needs_its_own_words(fact: tuple[str, str, str], stated: bool) -> None:
    assert (quoted(Triple(*fact), ROWS.text, ROWS) is not None) is stated
    assert (find_support(Triple(*fact), ROWS) is not None) is stated


@pytest.mark.slow
def test_a_longer_name_is_no_row() -> None:
    ballet = Passage("b", "Ann Lee founded the New York City Ballet Released by Per Lund.", "Ann Lee")
    assert quoted(Triple("Ann Lee", "founded the", "New York City"), ballet.text, ballet) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "lived", ["6 June 19505 October 2015", "June 6, 1950October 5, 2015", "6 June 1950 – 5 October 2015"]
)
@pytest.mark.parametrize(
    ("predicate", "date", "stated"),
    [
        ("was born on", "6 June 1950", True),
        ("died on", "5 October 2015", True),
        ("was born in", "1950", True),
        ("died in", "2015", True),
        ("was born on", "5 October 2015", False),
        ("died on", "6 June 1950", False),
        ("was born in", "2015", False),
        ("died in", "1950", False),
    ],
)
def test_two_dates_that_run_into_each_other_are_birth_and_death(
    lived: str, predicate: str, date: str, stated: bool
) -> None:
    page = Passage("p", f"Eva Maria Holm( {lived}) was a Norwegian engineer.", "Eva Holm")
    assert (quoted(Triple("Eva Holm", predicate, date), page.text, page) is not None) is stated


@pytest.mark.slow
def test_a_reflexive_pronoun_refers_to_the_last_name_before_it() -> None:
    song = Passage("song", "Blue Mill is a song written by Ann Lee, and recorded by herself in Leeds.", "Blue Mill")
    assert quoted(Triple("Blue Mill", "was recorded by", "Ann Lee"), song.text, song)
    assert quoted(Triple("Ann Lee", "was recorded by", "Blue Mill"), song.text, song) is None


HOLM = Passage(
    "holm",
    "Eva Maria Holm (3 May 1890 – 7 June 1960), the daughter of Nils Holm, was a Norwegian engineer from Skarnes."
    " She taught at the Oslo School of Mines. Her husband was Arne Lie.",
    "Eva Holm",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fact", "quotation"),
    [
        (("Eva Holm", "was born on", "May 3, 1890"), "Eva Maria Holm (3 May 1890"),
        (("Eva Holm", "died in", "1960"), "(3 May 1890 – 7 June 1960)"),
        (("Eva Holm", "father", "Nils Holm"), "the daughter of Nils Holm"),
        (("Nils Holm", "was the father of", "Eva Holm"), "the daughter of Nils Holm"),
        (("Eva Holm", "comes from", "Skarnes"), "was a Norwegian engineer from Skarnes"),
        (("Eva Holm", "taught at", "Oslo School of Mines"), "She taught at the Oslo School of Mines."),
        (("Eva Holm", "was married to", "Arne Lie"), "Her husband was Arne Lie."),
    ],
)
def test_a_title_need_not_be_named(fact: tuple[str, str, str], quotation: str) -> None:
    assert quoted(Triple(*fact), quotation, HOLM)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fact", "quotation"),
    [
        (("Eva Holm", "was born on", "7 June 1960"), "Eva Maria Holm (3 May 1890 – 7 June 1960)"),
        (("Eva Holm", "mother of", "Nils Holm"), "the daughter of Nils Holm"),
        (("Nils Holm", "was the daughter of", "Eva Holm"), "the daughter of Nils Holm"),
        (("Eva Holm", "died in", "Skarnes"), "was a Norwegian engineer from Skarnes"),
        (("Eva Holm", "taught at", "Oslo School of Mines"), "Her husband was Arne Lie."),
        (("Oslo School of Mines", "taught at", "Eva Holm"), "She taught at the Oslo School of Mines."),
    ],
)
def test_a_title_does_not_excuse_a_false_fact(fact: tuple[str, str, str], quotation: str) -> None:
    assert quoted(Triple(*fact), quotation, HOLM) is None
