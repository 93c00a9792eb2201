"""One sentence on true facts for each construction the rules read, or for each kind of error found in judged facts."""

import subprocess
import sys
from pathlib import Path
from typing import Any

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

EXAMPLES = read_table(__file__, "EXAMPLES")
#: Kind of error, title, text, a triple that must come, words that no triple may hold together.
SENTENCES = read_table(__file__, "SENTENCES")
Found = dict[str, Extraction]
Fact = tuple[str, str, str]
CURIE = "Marie Curie lived in Paris."


@pytest.fixture(scope="module")
def folder(home: Path) -> Path:
    return ensure(ENGLISH_PARSER, home)


@pytest.fixture(scope="module")
def parser(folder: Path) -> Any:
    """Return the parser: loading it takes longer than reading all examples."""
    return facts.load_parser(folder)


@pytest.fixture(scope="module")
def found(parser: Any) -> Found:
    passages = [Passage(kind, text, title) for kind, title, text, *_ in (*EXAMPLES, *SENTENCES)]
    return {each.passage_id: each for each in facts.extract_passages(parser, passages)}


def extract(parser: Any, text: str, title: str = "") -> Extraction:
    (extraction,) = facts.extract_passages(parser, [Passage("p", text, title)])
    return extraction


@pytest.mark.parametrize(("construction", "expected"), [(row[0], row[3]) for row in EXAMPLES])
def test_a_construction_gives_its_triple(found: Found, construction: str, expected: Fact) -> None:
    assert Triple(*expected) in found[construction].triples


@pytest.mark.parametrize(("kind", "expected", "forbidden"), [(row[0], row[3], row[4]) for row in SENTENCES])
def test_a_kind_of_error_does_not_come_back(
    found: Found, kind: str, expected: Fact | None, forbidden: tuple[str, ...]
) -> None:
    triples = [tuple(triple) for triple in found[kind].triples]
    assert expected is None or expected in triples
    assert not any(all(word in " ".join(triple) for word in forbidden) for triple in triples if triple != expected)


def test_entities_hold_the_title_and_the_names_and_a_pronoun_that_may_mean_another_is_left_out(parser: Any) -> None:
    assert extract(parser, "Marie Curie worked in Paris.", "Marie Curie").entities == ("Marie Curie", "Paris")
    text = "Niels Bohr was a physicist. Harald Bohr was a mathematician. He played football."
    assert not any("football" in triple for triple in extract(parser, text, "Niels Bohr").triples)


@pytest.mark.parametrize("heading", ["Metropolis\n\n", "Metropolis\n", "METROPOLIS\n\n", ""])
def test_a_heading_that_is_the_title_changes_nothing(parser: Any, heading: str) -> None:
    """As the first line of a Markdown file is."""
    text = f"{heading}Metropolis is a silent film. It was directed by Fritz Lang."
    assert Triple("Metropolis", "was directed by", "Fritz Lang") in extract(parser, text, "Metropolis").triples


@pytest.mark.parametrize("text", ["", " ", "!!!", "12 34", "…", "(", '"', "\u202e\x00", "no verb here"])
def test_a_text_that_states_nothing_gives_no_triples_and_no_failure(parser: Any, text: str) -> None:
    extraction = extract(parser, text)
    assert (extraction.triples, extraction.failure) == ((), None)


CODE = """Marie Curie lived in Paris.

```python
record = queue.get()
if record is None: break
```

package | popcon | size
Exim is | V:4 | 1816 by Debian

1.1. Overview . . . . . . . . 12
"""
CHAT = "LiHua: I bought a guitar in Berlin. Did you see it?\nAdamSmith: I sold my piano to Jake Watson."


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        # A row of a table is read as a row, and not as a sentence.
        (CODE, "", [("Marie Curie", "lived in", "Paris"), ("Exim is", "size", "1816 by Debian")]),
        (
            CHAT,
            "Chat of 2026-01-02",
            [
                ("Li Hua", "bought guitar in", "Berlin"),
                ("Adam Smith", "sold piano to", "Jake Watson"),
                ("Li Hua", "talked on 2026-01-02 with", "Adam Smith"),
            ],
        ),
    ],
)
def test_code_tables_and_dialogues_are_no_prose(parser: Any, text: str, title: str, expected: list[Fact]) -> None:
    assert sorted(map(tuple, extract(parser, text, title).triples)) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Katze sitzt auf dem Tisch und schaut aus dem Fenster, während es in Berlin regnet.", "de"),
        (CURIE, None),
        ("防火墙是一种网络安全系统，用于监控和控制网络流量，并且按照规则进行过滤。", "zh"),
        ("El gato está en la mesa y mira por la ventana mientras llueve en Madrid.", "es"),
    ],
)
def test_other_languages_are_named_and_not_parsed(parser: Any, text: str, language: str | None) -> None:
    extraction = extract(parser, text)
    assert (extraction.unread_language, extraction.failure) == (language, None)
    assert bool(extraction.triples) == (language is None)


def test_a_text_of_extreme_length_is_a_failure_and_the_next_one_is_read(parser: Any) -> None:
    passages = [Passage("endless", f"{CURIE} " * 10_000), Passage("curie", CURIE)]
    failed, read = facts.extract_passages(parser, passages)
    assert "280,000 characters" in (failed.failure or "")
    assert read.triples


def test_long_texts_are_parsed_few_at_a_time(parser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "_BATCH_CHARACTERS", 50)
    passages = iter([Passage(str(number), CURIE) for number in range(5)])
    extractions = facts.extract_passages(parser, passages)
    assert next(extractions).triples
    assert next(passages).id == "2"
    assert [each.passage_id for each in extractions] == ["1", "3", "4"]


def test_several_processes_give_what_one_gives_in_order(folder: Path, parser: Any) -> None:
    """They know which passages are rows, and pass the language on."""
    rows = "Customer: Harbour Dairy\nMachine: Heron\n\nCustomer: Elm Bakery\nMachine: Stork"
    german = "Der Hund läuft durch den Wald und bellt die ganze Nacht lang."
    passages = [Passage(str(number), f"Marie Curie lived in Paris in {1900 + number}.") for number in range(150)]
    passages += [Passage("rows", rows, metadata={"type": "csv"}), Passage("german", german)]
    extracted = list(LocalExtractor(folder, processes=2).extract(iter(passages)))
    assert extracted == list(facts.extract_passages(parser, passages))
    expected = (Triple("Harbour Dairy", "Machine", "Heron"), Triple("Elm Bakery", "Machine", "Stork"))
    assert (extracted[-2].triples, extracted[-1].unread_language) == (expected, "de")


def test_stopping_half_way_ends_the_processes(folder: Path) -> None:
    passages = (Passage(str(number), CURIE) for number in range(10_000))
    extractions = LocalExtractor(folder, processes=2).extract(passages)
    assert next(extractions).passage_id == "0"
    extractions.close()  # type: ignore[attr-defined]  # a generator; the protocol promises an iterator
    assert int(next(passages).id) < 1000


def test_a_process_that_ends_is_told_with_its_passages(tmp_path: Path) -> None:
    """It had no model to load here; running out of memory looks the same."""
    passages = [Passage(str(number), CURIE) for number in range(200)]
    with pytest.raises(ExtractionError, match=r"ended with code 1 while it parsed the 64 passages from '0' to '63'"):
        list(extract_in_processes(tmp_path, 2, passages))


def test_a_process_whose_reader_is_gone_ends_without_a_word(folder: Path) -> None:
    command = [sys.executable, "-c", "from triplebeam.extract.local.workers import serve; serve()", str(folder)]
    worker: Any = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with worker.stderr:
        worker.stdout.close()
        worker.stdin.write(b'[["1", "Marie Curie lived in Paris.", "", 0, ""]]\n')
        worker.stdin.close()
        assert (worker.stderr.read(), worker.wait()) == (b"", 1)


def test_no_parser_and_no_processes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="no English parser"):
        list(LocalExtractor(tmp_path, processes=1).extract([Passage("any", "Text.")]))
    with pytest.raises(BadInputError, match="at least 1"):
        LocalExtractor(tmp_path, processes=0)
