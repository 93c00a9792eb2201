"""Facts that a text says, facts that it does not say, and facts planted to look as if it did."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplebeam.answer import Span
from triplebeam.passage import Passage
from triplebeam.support import fault_of, find_support, support_among
from triplebeam.triple import Triple

pytestmark = pytest.mark.slow  # the real model reads

TEXTS = {
    "Ada Lovelace": "Ada Lovelace (10 December 1815 – 27 November 1852) was an English mathematician. She was born in"
    " London. Lovelace wrote notes on the Analytical Engine. In 1835, she married William King.",
    "Jaws (film)": "Jaws is a 1975 American thriller film directed by Steven Spielberg and based on the novel by Peter"
    " Benchley. The film was released on June 20, 1975 by Universal Pictures. It stars Roy Scheider.",
    "Marie Curie": "Marie Curie was born in Warsaw and died in Passy. She was not born in Paris. Pierre Curie married"
    " Marie Curie in 1895. Irène Joliot-Curie is the daughter of Marie Curie.",
    "Canberra": "Canberra is the capital of Australia. The capital of France is Paris. New Zealand's capital is"
    " Wellington. Canberra lies in the Australian Capital Territory.",
    "Sagrada Família": "Designed by Antoni Gaudí, the Sagrada Família is a church in Barcelona, Spain. Was the church"
    " founded in Madrid? If the church had moved to Girona, few would mind.",
    "Bauhaus": "The Bauhaus was a German art school. It was founded by Walter Gropius in Weimar. Gropius, who served in"
    " the war, left in 1928; Hannes Meyer followed. Meyer met Ludwig Hilberseimer, who died in Chicago.",
    "Erik Lund (director)": "Erik Lund made films in Norway. He was married to the actress Eva May. His brother is Ola"
    " Lund. He owned the Search and Rescue Fund, commonly abbreviated as the SARF.",
}

SAID = [
    ("Ada Lovelace", ("Ada Lovelace", "was", "English mathematician")),
    ("Ada Lovelace", ("Ada Lovelace", "born on", "10 December 1815")),
    ("Ada Lovelace", ("Ada Lovelace", "born on", "December 10, 1815")),
    ("Ada Lovelace", ("Ada Lovelace", "died in", "1852")),
    ("Ada Lovelace", ("Ada Lovelace", "birthplace", "London")),
    ("Ada Lovelace", ("Ada Lovelace", "was born in", "London")),
    ("Ada Lovelace", ("ada  lovelace", "wrote", "notes")),
    ("Ada Lovelace", ("Ada Lovelace", "married", "William King")),
    ("Ada Lovelace", ("William King", "spouse", "Ada Lovelace")),
    ("Jaws (film)", ("Jaws", "directed by", "Steven Spielberg")),
    ("Jaws (film)", ("Steven Spielberg", "directed", "Jaws")),
    ("Jaws (film)", ("Jaws", "director", "Steven Spielberg")),
    ("Jaws (film)", ("Steven Spielberg", "director of", "Jaws")),
    ("Jaws (film)", ("Jaws", "released on", "20 June 1975")),
    ("Jaws (film)", ("Jaws", "released by", "Universal Pictures")),
    ("Jaws (film)", ("Jaws", "stars", "Roy Scheider")),
    ("Marie Curie", ("Marie Curie", "died in", "Passy")),
    ("Marie Curie", ("Irène Joliot-Curie", "daughter of", "Marie Curie")),
    ("Marie Curie", ("Marie Curie", "not born in", "Paris")),
    ("Canberra", ("Canberra", "capital of", "Australia")),
    ("Canberra", ("France", "capital", "Paris")),
    ("Canberra", ("Paris", "capital of", "France")),
    ("Canberra", ("New Zealand", "capital is", "Wellington")),
    ("Canberra", ("Canberra", "located in", "Australian Capital Territory")),
    ("Sagrada Família", ("Sagrada Família", "designed by", "Antoni Gaudí")),
    ("Sagrada Família", ("Sagrada Família", "located in", "Barcelona")),
    ("Bauhaus", ("Bauhaus", "founder", "Walter Gropius")),
    ("Bauhaus", ("Bauhaus", "founded in", "Weimar")),
    ("Bauhaus", ("Walter Gropius", "left in", "1928")),
    ("Erik Lund (director)", ("Erik Lund", "was married to", "Eva May")),
    ("Erik Lund (director)", ("Eva May", "married to", "Erik Lund")),
    ("Erik Lund (director)", ("Ola Lund", "is the brother of", "Erik Lund")),
    ("Erik Lund (director)", ("Erik Lund", "is the brother of", "Ola Lund")),
    ("Erik Lund (director)", ("SARF", "is an abbreviation for", "Search and Rescue Fund")),
]

PLANTED = [
    ("another entity", "Ada Lovelace", ("Ada Lovelace", "born in", "Paris")),
    ("another entity of the passage", "Ada Lovelace", ("Ada Lovelace", "born in", "Analytical Engine")),
    ("another relation", "Ada Lovelace", ("Ada Lovelace", "died in", "London")),
    ("birth for death", "Ada Lovelace", ("Ada Lovelace", "born on", "27 November 1852")),
    ("only the year is said", "Jaws (film)", ("Steven Spielberg", "born on", "1975")),
    ("a full date from a year", "Marie Curie", ("Marie Curie", "married in", "26 July 1895")),
    ("another day", "Jaws (film)", ("Jaws", "released on", "21 June 1975")),
    ("the wrong way round", "Jaws (film)", ("Jaws", "directed", "Steven Spielberg")),
    ("the wrong way round, passive", "Jaws (film)", ("Steven Spielberg", "directed by", "Jaws")),
    ("the wrong way round, noun", "Jaws (film)", ("Steven Spielberg", "director", "Jaws")),
    ("another's verb", "Jaws (film)", ("Jaws", "directed by", "Peter Benchley")),
    ("another's verb", "Jaws (film)", ("Universal Pictures", "directed", "Jaws")),
    ("two verbs in a sentence", "Marie Curie", ("Marie Curie", "born in", "Passy")),
    ("two verbs in a sentence", "Marie Curie", ("Marie Curie", "died in", "Warsaw")),
    ("a negation", "Marie Curie", ("Marie Curie", "born in", "Paris")),
    ("a negation the text lacks", "Marie Curie", ("Marie Curie", "not born in", "Warsaw")),
    ("mother for daughter", "Marie Curie", ("Marie Curie", "daughter of", "Irène Joliot-Curie")),
    ("a capital's country exchanged", "Canberra", ("Australia", "capital of", "Canberra")),
    ("a name and its letters", "Erik Lund (director)", ("Search and Rescue Fund", "is an abbreviation for", "SARF")),
    ("a brother's wife", "Erik Lund (director)", ("Ola Lund", "was married to", "Eva May")),
    ("the neighbour's capital", "Canberra", ("Canberra", "capital of", "France")),
    ("a question", "Sagrada Família", ("Sagrada Família", "founded in", "Madrid")),
    ("a condition", "Sagrada Família", ("Sagrada Família", "moved to", "Girona")),
    ("a relative clause of another", "Bauhaus", ("Hannes Meyer", "died in", "Chicago")),
    ("the clause before", "Bauhaus", ("Walter Gropius", "died in", "Chicago")),
    ("a piece of a name", "Marie Curie", ("Irène Joliot-Curie", "daughter of", "Marie")),
    ("nothing but marks", "Canberra", ("…", "is", "—")),
]


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
