"""One sentence on true facts for each construction the rules read."""

import subprocess
import sys
from pathlib import Path

import pytest

from tables import read_table
from triplebeam.errors import BadInputError, ExtractionError, ModelMissingError
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.local import LocalExtractor, facts
from triplebeam.extract.local.workers import extract_in_processes
from triplebeam.passage import Passage
from triplebeam.triple import Triple
from triplebeam.weights import ENGLISH_PARSER, ensure

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(home: Path) -> Path:
    return ensure(ENGLISH_PARSER, home)


EXAMPLES = read_table(__file__, "EXAMPLES")


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


def test_long_texts_are_parsed_few_at_a_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "_BATCH_CHARACTERS", 50)
    passages = iter([Passage(str(number), "Marie Curie worked in Paris.") for number in range(5)])
    extractions = facts.extract_passages(facts.load_parser(folder), passages)
    assert next(extractions).triples
    assert next(passages).id == "2"
    assert [found.passage_id for found in extractions] == ["1", "3", "4"]


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
    command = [sys.executable, "-c", "from triplebeam.extract.local.workers import serve; serve()", str(folder)]
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
