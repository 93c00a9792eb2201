"""One sentence on true facts for each construction the rules read."""

import subprocess
import sys
from pathlib import Path

import pytest

from triplebeam.errors import BadInputError, ExtractionError, ModelMissingError
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.local import LocalExtractor
from triplebeam.extract.local.processes import extract_in_processes
from triplebeam.passage import Passage
from triplebeam.triple import Triple
from triplebeam.weights import ENGLISH_PARSER, ensure

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(home: Path) -> Path:
    return ensure(ENGLISH_PARSER, home)


EXAMPLES = [
    (
        "subject, verb, object",
        "Marie Curie",
        "Marie Curie discovered polonium.",
        ("Marie Curie", "discovered", "polonium"),
    ),
    ("place folded into the predicate", "", "Marie Curie worked in Paris.", ("Marie Curie", "worked in", "Paris")),
    (
        "time as an object of its own",
        "",
        "Marie Curie won the Nobel Prize in 1911.",
        ("Marie Curie", "won Nobel Prize in", "1911"),
    ),
    (
        "passive",
        "Metropolis",
        "Metropolis was directed by Fritz Lang.",
        ("Metropolis", "was directed by", "Fritz Lang"),
    ),
    (
        "copula",
        "Fritz Lang",
        "Fritz Lang was an Austrian film director.",
        ("Fritz Lang", "was", "Austrian film director"),
    ),
    ("copula with of", "", "Vienna is the capital of Austria.", ("Vienna", "is capital of", "Austria")),
    (
        "apposition",
        "",
        "Vienna, the capital of Austria, lies on the Danube.",
        ("Vienna", "is capital of", "Austria"),
    ),
    ("place in place", "", "He studied in Graz, Austria.", ("Graz", "located in", "Austria")),
    (
        "owner of a name",
        "",
        "Abraham Lincoln's wife Mary Todd was born in Kentucky.",
        ("Abraham Lincoln", "wife", "Mary Todd"),
    ),
    (
        "owner of the subject",
        "Abraham Lincoln",
        "Abraham Lincoln was a lawyer. His father was Thomas Lincoln.",
        ("Abraham Lincoln", "father was", "Thomas Lincoln"),
    ),
    ("role before a name", "", "The physicist Lise Meitner lived in Berlin.", ("Lise Meitner", "is", "physicist")),
    (
        "list of objects",
        "",
        "Marie Curie lived in Warsaw and Paris.",
        ("Marie Curie", "lived in", "Paris"),
    ),
    (
        "list of subjects",
        "",
        "Larry Page and Sergey Brin founded Google.",
        ("Sergey Brin", "founded", "Google"),
    ),
    (
        "relative clause",
        "",
        "Henry Dunant, who founded the Red Cross, was born in Geneva.",
        ("Henry Dunant", "founded", "Red Cross"),
    ),
    (
        "whose",
        "",
        "Ada Lovelace, whose father was Lord Byron, lived in London.",
        ("Ada Lovelace", "father was", "Lord Byron"),
    ),
    (
        "participle of the described noun",
        "Casablanca",
        "Casablanca is a 1942 American film starring Humphrey Bogart.",
        ("Casablanca", "starring", "Humphrey Bogart"),
    ),
    (
        "two verbs before one agent",
        "Modern Times",
        "Modern Times is a film written and directed by Charlie Chaplin.",
        ("Modern Times", "written by", "Charlie Chaplin"),
    ),
    (
        "infinitive",
        "",
        "Marie Curie moved to Paris and began to study physics.",
        ("Marie Curie", "began to study", "physics"),
    ),
    (
        "chain of nouns",
        "Delft",
        "Delft is a city in the province of South Holland.",
        ("Delft", "is city in province of", "South Holland"),
    ),
    (
        "abbreviation in brackets",
        "",
        "The World Health Organization (WHO) is based in Geneva.",
        ("World Health Organization", "also known as", "WHO"),
    ),
    (
        "lifespan in brackets",
        "Emmy Noether",
        "Emmy Noether (23 March 1882 – 14 April 1935) was a German mathematician.",
        ("Emmy Noether", "died on", "14 April 1935"),
    ),
    (
        "quoted title",
        "Jane Austen",
        'Jane Austen wrote "Pride and Prejudice" in Chawton.',
        ("Jane Austen", "wrote", "Pride and Prejudice"),
    ),
    (
        "longer form of the title",
        "Mark Rothko",
        "Mark Yakovlevich Rothko was a painter.",
        ("Mark Rothko", "also known as", "Mark Yakovlevich Rothko"),
    ),
    (
        "other name behind a comma",
        "",
        "The team played in New Amsterdam, later known as New York.",
        ("New Amsterdam", "known as", "New York"),
    ),
    (
        "participle behind a place",
        "R.E.M.",
        "R.E.M. was a rock band from Athens, Georgia, formed in 1980.",
        ("R.E.M.", "formed in", "1980"),
    ),
    (
        "the title's own decision",
        "Treaty of Tordesillas",
        "The Treaty of Tordesillas was signed in 1494. The agreement was changed by Pope Julius II.",
        ("Treaty of Tordesillas", "agreement was changed by", "Pope Julius II"),
    ),
    (
        "he",
        "Niels Bohr",
        "Niels Bohr was a Danish physicist. He lived in Copenhagen.",
        ("Niels Bohr", "lived in", "Copenhagen"),
    ),
    (
        "it",
        "Metropolis (1927 film)",
        "Metropolis is a German film. It was shown in Berlin.",
        ("Metropolis", "was shown in", "Berlin"),
    ),
    (
        "the film",
        "Metropolis (1927 film)",
        "Metropolis is a German film. The film was shown in Berlin.",
        ("Metropolis", "was shown in", "Berlin"),
    ),
    (
        "surname",
        "Niels Bohr",
        "Niels Bohr was a Danish physicist. In 1922 Bohr won the Nobel Prize.",
        ("Niels Bohr", "won", "Nobel Prize"),
    ),
    ("number in a name", "", "Kestrel 4 replaces Kestrel 3.", ("Kestrel 4", "replaces", "Kestrel 3")),
    (
        "number of a name behind an article",
        "",
        "Harbour Dairy runs a Kestrel 4.",
        ("Harbour Dairy", "runs", "Kestrel 4"),
    ),
    ("version in a name", "", "Python 3.12 removes distutils.", ("Python 3.12", "removes", "distutils")),
    ("letter in a name", "", "The Model S was built by Tesla in Fremont.", ("Model S", "was built by", "Tesla")),
    ("number of a mission", "", "Apollo 11 landed on the Moon in 1969.", ("Apollo 11", "landed on", "Moon")),
    (
        "number with an entity of its own",
        "",
        "The Boeing 747 was designed by Joe Sutter.",
        ("Boeing 747", "was designed by", "Joe Sutter"),
    ),
    (
        "duty at a time",
        "",
        "When the pump shows error E17, the inlet valve must be replaced by part 88-1042.",
        ("inlet valve", "must be replaced by", "part 88-1042"),
    ),
    (
        "thing and its code",
        "",
        "The inlet valve is replaced with part 88-1042.",
        ("inlet valve", "is replaced with", "part 88-1042"),
    ),
    (
        "duty with should",
        "",
        "The power cable should be plugged into the UPS.",
        ("power cable", "should be plugged into", "UPS"),
    ),
    (
        "duty between two terms",
        "",
        "The drain pump must be connected to the heat exchanger.",
        ("drain pump", "must be connected to", "heat exchanger"),
    ),
    (
        "row of a table",
        "Pumps",
        "The pumps that we sell.\n\nPump | Maker | City\nHeron | Brask Oy | Turku",
        ("Heron", "Maker", "Brask Oy"),
    ),
]


@pytest.fixture(scope="module")
def examples(folder: Path) -> dict[str, Extraction]:
    """All examples in one go: loading the parser takes longer than reading them."""
    passages = [Passage(construction, text, title) for construction, title, text, _ in EXAMPLES]
    return {found.passage_id: found for found in LocalExtractor(folder, processes=1).extract(passages)}


@pytest.mark.parametrize(("construction", "expected"), [(row[0], row[3]) for row in EXAMPLES])
def test_a_construction_gives_its_triple(
    examples: dict[str, Extraction], construction: str, expected: tuple[str, str, str]
) -> None:
    assert Triple(*expected) in examples[construction].triples


def extract(folder: Path, *passages: Passage) -> list[Extraction]:
    return list(LocalExtractor(folder, processes=1).extract(passages))


def test_a_pronoun_that_may_mean_another_is_left_out(folder: Path) -> None:
    text = "Niels Bohr was a physicist. Harald Bohr was a mathematician. He played football."
    (extraction,) = extract(folder, Passage("bohr", text, "Niels Bohr"))
    assert not any("football" in triple for triple in extraction.triples)


@pytest.mark.parametrize("heading", ["Metropolis\n\n", "Metropolis\n", "METROPOLIS\n\n", ""])
def test_a_heading_that_is_the_title_changes_nothing(folder: Path, heading: str) -> None:
    """As the first line of a Markdown file is."""
    text = f"{heading}Metropolis is a silent film. It was directed by Fritz Lang."
    (extraction,) = extract(folder, Passage("p", text, "Metropolis"))
    assert Triple("Metropolis", "was directed by", "Fritz Lang") in extraction.triples


def test_entities_hold_the_title_and_the_names(folder: Path) -> None:
    (extraction,) = extract(folder, Passage("curie", "Marie Curie worked in Paris.", "Marie Curie"))
    assert extraction.entities == ("Marie Curie", "Paris")


def test_a_text_that_states_nothing_gives_no_triples_and_no_failure(folder: Path) -> None:
    texts = ["", " ", "!!!", "12 34", "…", "(", '"', "\u202e\x00", "no verb here"]
    for extraction in extract(folder, *(Passage(str(number), text) for number, text in enumerate(texts))):
        assert extraction.triples == ()
        assert extraction.failure is None


def test_a_text_of_extreme_length_is_a_failure_and_the_next_one_is_read(folder: Path) -> None:
    endless = Passage("endless", "Marie Curie worked in Paris. " * 10_000)
    failed, found = extract(folder, endless, Passage("curie", "Marie Curie worked in Paris."))
    assert failed.failure is not None
    assert "290,000 characters" in failed.failure
    assert found.triples


def test_several_processes_give_what_one_gives_in_order(folder: Path) -> None:
    passages = [Passage(str(number), f"Marie Curie lived in Paris in {1900 + number}.") for number in range(200)]
    alone = list(LocalExtractor(folder, processes=1).extract(passages))
    assert list(LocalExtractor(folder, processes=2).extract(iter(passages))) == alone


def test_other_processes_know_which_passages_are_rows(folder: Path) -> None:
    text = "Customer: Harbour Dairy\nMachine: Heron\n\nCustomer: Elm Bakery\nMachine: Stork"
    passages = [Passage(str(number), text, metadata={"type": "csv"}) for number in range(130)]
    (first, *_) = LocalExtractor(folder, processes=2).extract(passages)
    assert first.triples == (Triple("Harbour Dairy", "Machine", "Heron"), Triple("Elm Bakery", "Machine", "Stork"))


def test_stopping_half_way_ends_the_processes(folder: Path) -> None:
    passages = (Passage(str(number), "Marie Curie lived in Paris.") for number in range(10_000))
    extractions = LocalExtractor(folder, processes=2).extract(passages)
    assert next(extractions).passage_id == "0"
    extractions.close()  # type: ignore[attr-defined]  # a generator; the protocol promises an iterator
    assert int(next(passages).id) < 1000


def test_a_process_that_ends_is_told_with_its_passages(tmp_path: Path) -> None:
    """It had no model to load here; running out of memory looks the same."""
    passages = [Passage(str(number), "Marie Curie lived in Paris.") for number in range(200)]
    with pytest.raises(ExtractionError, match=r"ended with code 1 while it parsed the 64 passages from '0' to '63'"):
        list(extract_in_processes(tmp_path, 2, passages))


def test_a_process_whose_reader_is_gone_ends_without_a_word(folder: Path) -> None:
    command = [sys.executable, "-m", "triplebeam.extract.local.worker", str(folder)]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert worker.stdin is not None
    assert worker.stdout is not None
    assert worker.stderr is not None
    worker.stdout.close()
    worker.stdin.write(b'[["1", "Marie Curie lived in Paris.", "", 0, ""]]\n')
    worker.stdin.close()
    assert worker.stderr.read() == b""
    assert worker.wait() == 1
    worker.stderr.close()


def test_the_name_has_a_version(folder: Path) -> None:
    assert LocalExtractor(folder).name == LocalExtractor(folder, processes=1).name


def test_a_folder_without_a_parser_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="no English parser"):
        list(LocalExtractor(tmp_path, processes=1).extract([Passage("any", "Text.")]))


def test_no_processes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="at least 1"):
        LocalExtractor(tmp_path, processes=0)
