"""One sentence or two for each kind of error that was found in judged facts, and what must come of it instead."""

from pathlib import Path

import pytest

from tables import read_table
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.local import LocalExtractor
from triplebeam.passage import Passage
from triplebeam.weights import ENGLISH_PARSER, ensure

pytestmark = pytest.mark.slow

#: Kind of error, title, text, a triple that must come, words that no triple may hold together.
SENTENCES = read_table(__file__, "SENTENCES")


@pytest.fixture(scope="module")
def folder(home: Path) -> Path:
    return ensure(ENGLISH_PARSER, home)


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Extraction]:
    passages = [Passage(kind, text, title) for kind, title, text, _, _ in SENTENCES]
    return {each.passage_id: each for each in LocalExtractor(folder, processes=1).extract(passages)}


@pytest.mark.parametrize(("kind", "expected", "forbidden"), [(row[0], row[3], row[4]) for row in SENTENCES])
def test_a_kind_of_error_does_not_come_back(
    found: dict[str, Extraction], kind: str, expected: tuple[str, str, str] | None, forbidden: tuple[str, ...]
) -> None:
    triples = [tuple(triple) for triple in found[kind].triples]
    assert expected is None or expected in triples
    assert not any(all(word in " ".join(triple) for word in forbidden) for triple in triples if triple != expected)


CODE = """Marie Curie lived in Paris.

```python
record = queue.get()
if record is None: break
```

package | popcon | size
Exim is | V:4 | 1816 by Debian

1.1. Overview . . . . . . . . 12
"""


def test_code_and_tables_are_not_prose(folder: Path) -> None:
    (extraction,) = LocalExtractor(folder, processes=1).extract([Passage("code", CODE)])
    row = ("Exim is", "size", "1816 by Debian")  # read as a row, and not as a sentence
    assert [tuple(triple) for triple in extraction.triples] == [("Marie Curie", "lived in", "Paris"), row]


def test_a_dialogue_gives_its_speakers_names_and_its_day(folder: Path) -> None:
    text = "LiHua: I bought a guitar in Berlin. Did you see it?\nAdamSmith: I sold my piano to Jake Watson."
    (extraction,) = LocalExtractor(folder, processes=1).extract([Passage("chat", text, "Chat of 2026-01-02")])
    assert {tuple(triple) for triple in extraction.triples} == {
        ("Li Hua", "bought guitar in", "Berlin"),
        ("Adam Smith", "sold piano to", "Jake Watson"),
        ("Li Hua", "talked on 2026-01-02 with", "Adam Smith"),
    }


def test_other_languages_are_named_and_not_parsed(folder: Path) -> None:
    passages = [
        Passage("de", "Die Katze sitzt auf dem Tisch und schaut aus dem Fenster, während es in Berlin regnet."),
        Passage("en", "Marie Curie lived in Paris."),
        Passage("zh", "防火墙是一种网络安全系统，用于监控和控制网络流量，并且按照规则进行过滤。"),
        Passage("es", "El gato está en la mesa y mira por la ventana mientras llueve en Madrid."),
    ]
    extractions = list(LocalExtractor(folder, processes=1).extract(passages))
    assert [extraction.unread_language for extraction in extractions] == ["de", None, "zh", "es"]
    assert [bool(extraction.triples) for extraction in extractions] == [False, True, False, False]
    assert all(extraction.failure is None for extraction in extractions)


def test_processes_pass_the_language_on(folder: Path) -> None:
    passages = [
        Passage(str(number), "Der Hund läuft durch den Wald und bellt die ganze Nacht lang.") for number in range(130)
    ]
    extractions = LocalExtractor(folder, processes=2).extract(passages)
    assert {extraction.unread_language for extraction in extractions} == {"de"}
