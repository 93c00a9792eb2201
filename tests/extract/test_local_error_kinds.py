"""One sentence or two for each kind of error that was found in judged facts, and what must come of it instead."""

from pathlib import Path

import pytest

from triplebeam.extract.extractor import Extraction
from triplebeam.extract.local import LocalExtractor
from triplebeam.passage import Passage
from triplebeam.weights import ENGLISH_PARSER, ensure

pytestmark = pytest.mark.slow

#: Kind of error, title, text, a triple that must come, words that no triple may hold together.
SENTENCES = [
    (
        "list",
        "",
        "Btrfs, Ext3, Ext4, JFS and XFS are file systems.",
        ("Ext3", "is", "file system"),
        ("Btrfs", "Ext3"),
    ),
    ("path", "", "The licence of Exim is kept in /usr/share/doc by Debian.", None, ("doc is",)),
    (
        "option",
        "",
        "The `--force` option overrides the `apt.conf` file.",
        ("--force", "overrides", "apt.conf"),
        ("option", "is"),
    ),
    (
        "manual page",
        "",
        "The rsync(1) program was written by Andrew Tridgell.",
        ("rsync", "was written by", "Andrew Tridgell"),
        ("program", "is"),
    ),
    (
        "condition of place",
        "",
        "Fedora uses SELinux (where SELinux is enabled by default).",
        ("Fedora", "uses", "SELinux"),
        ("enabled",),
    ),
    ("condition", "", "If Exim is started by Debian, Exim writes to the Paris log.", None, ("Exim",)),
    ("duty if", "", "If the lamp blinks, the inlet valve must be replaced by part 88-1042.", None, ("inlet valve",)),
    ("asked duty", "", "Should the inlet valve be replaced by part 88-1042?", None, ("inlet valve",)),
    ("instruction", "", "Replace the inlet valve by part 88-1042.", None, ("inlet valve",)),
    ("opinion", "", "Smith should be regarded as the inventor of Python.", None, ("Smith",)),
    ("number counted", "", "Ajax won 5 titles with Johan Cruyff in 1998.", None, ("Ajax 5",)),
    ("ZIP code", "", "Nemours has a post office with ZIP code 24738.", None, (" code 24738",)),
    (
        "years of an office",
        "",
        "Richard Barringer served from 1973-1975 in Maine.",
        ("Richard Barringer", "served in", "Maine"),
        ("1973-1975 in",),
    ),
    ("year behind a name", "", "In Berlin 1936 Jesse Owens won four medals.", None, ("Berlin 1936",)),
    ("modality", "", "Marie Curie may have visited Berlin.", None, ("Berlin",)),
    ("negation", "", "Marie Curie never visited Berlin.", ("Marie Curie", "never visited", "Berlin"), ("visited  ",)),
    ("question", "", "Did Marie Curie visit Berlin?", None, ("Berlin",)),
    ("quotation", "", '"Bruce Perens had been picking up the slack," said Ian Murdock.', None, ("slack",)),
    ("hearsay", "", "Ian Murdock said that Bruce Perens lived in Berlin.", None, ("Berlin",)),
    (
        "restrictive clause",
        "",
        "The time needed for files stored in Berlin is short, but Marie Curie lived in Paris.",
        ("Marie Curie", "lived in", "Paris"),
        ("files", "Berlin"),
    ),
    (
        "vague end",
        "",
        "Marie Curie bought other things and a microscope.",
        ("Marie Curie", "bought", "microscope"),
        ("other things",),
    ),
    ("incomplete", "", "In 1911 Marie Curie was asked to leave.", None, ("1911",)),
    ("mentions", "The General", "Cast and crew: Buster Keaton as Johnnie Gray", None, ("mentions",)),
    ("headline", "Apple loses the case", "The decision was made by Tim Cook.", None, ("Apple loses the case",)),
    ("instruction", "", "See Section 3 of the Debian Policy Manual for details.", None, ("Debian",)),
    ("gerund", "", "Overriding `__get__` prevents the Python lookup.", None, ("__get__",)),
    (
        "antecedent of which",
        "Malta Story",
        "Malta Story is a film, directed by Brian Hurst, which is based on the siege of Malta.",
        ("Malta Story", "is based on siege of", "Malta"),
        ("Brian Hurst", "siege"),
    ),
    (
        "antecedent of who",
        "Sherman Douglas",
        "Sherman Douglas is a basketball player from Syracuse University who played for the Miami Heat.",
        ("Sherman Douglas", "played for", "Miami Heat"),
        ("Syracuse University", "Miami"),
    ),
    (
        "owned object",
        "Don Bosco",
        "Don Bosco is Lisbon's patron saint.",
        ("Don Bosco", "is patron saint of", "Lisbon"),
        ("Don Bosco is patron saint ",),
    ),
    ("or in brackets", "", "Exim (or Postfix) delivers mail to Debian.", None, ("also known as",)),
    ("no abbreviation", "", "The menu entry Next (F6) was added by Debian.", None, ("also known as",)),
    ("years of a team", "", "Lowell Palmer played for the Texas Rangers (1969–1971).", None, ("died",)),
    (
        "list of places",
        "",
        "Time was spent in Russia, Romania and London, England by Marie Curie.",
        None,
        ("Russia", "England"),
    ),
    (
        "the boy",
        "William Herschel",
        "William Herschel was born in Hanover. His father played in a band, and the boy learned the oboe there.",
        ("William Herschel", "was born in", "Hanover"),
        ("boy",),
    ),
    ("cause", "", "Spain permitted Marie Curie to visit the museum.", None, ("permitted", "Marie Curie")),
    ("respectively", "", "Lima and Quito were founded in 1535 and 1534, respectively.", None, ("Lima", "1534")),
    ("expletive it", "Exim", "Exim is a mail server. It is important to read RFC 5321.", None, ("important",)),
]


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
