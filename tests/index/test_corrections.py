"""Corrections of triples: what a person may write, and what it does to an index."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from triplebeam.assemble import Index, context_of
from triplebeam.errors import BadInputError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.build.writing import open_for_write, purge
from triplebeam.index.folder.manifest import read_manifest
from triplebeam.index.folder.snapshot import Snapshot, view
from triplebeam.index.store.corrections import Corrections, parse_corrections
from triplebeam.index.store.tables import read_index_corrections
from triplebeam.ingest import FolderFiles, SourceNames
from triplebeam.passage import Document
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords
from triplebeam.text.lines import line_numbers
from written_facts import written_builder

DROP = {"drop": ["Uranus", "is", "*"]}
ADD = {"add": ["Uranus", "is", "a planet"], "document": "a"}
MERGE = {"merge": ["W. Herschel"], "into": "William Herschel"}
A = Document(id="a", text="W. Herschel | found | Uranus\nUranus | is | a star")
B = Document(id="b", text="William Herschel | lived in | Bath")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written_builder(tmp_path / "my.index").build([A, B])
    return tmp_path / "my.index"


def triples(folder: Path) -> list[str]:
    graph = Snapshot.open(folder).triples
    return [f"{graph.passage_of([number])[0]}: {graph.triple(number)}" for number in range(len(graph))]


def open_index(folder: Path) -> Index:
    return Index(folder, settings=Settings(), embedder=HashedWords())


def correct(folder: Path, *rows: Mapping[str, object]) -> None:
    written_builder(folder).correct(Corrections.of(rows))


def test_triples_are_dropped_added_and_merged(folder: Path) -> None:
    corrections = Corrections.of([DROP, ADD, MERGE])
    assert written_builder(folder).correct(corrections).published
    assert not written_builder(folder).correct(corrections).published, "they are the same"
    assert triples(folder) == [
        "a#0: William Herschel found Uranus",
        "a#0: Uranus is a planet",
        "b#0: William Herschel lived in Bath",
    ]
    snapshot = Snapshot.open(folder)
    assert snapshot.manifest.counts["triples"] == 3
    assert snapshot.manifest.triples_by_extractor == {"local:written": 3}
    assert snapshot.manifest.corrections
    assert snapshot.manifest.corrections.model_dump() == {
        "lines": {"drop": 1, "add": 1, "merge": 1},
        "triples": {"drop": 1, "add": 1, "merge": 1},
        "unmatched": [],
    }


def test_triples_are_counted_as_they_were_corrected(tmp_path: Path) -> None:
    written_builder(tmp_path).build([A, B])
    IndexBuilder(folder=tmp_path, embedder=HashedWords(), extractor=None).build([Document(id="c", text="Bath.")])
    correct(tmp_path, DROP, {"add": ["Bath", "is", "a city"], "document": "c"})
    whole = Snapshot.open(tmp_path)
    counts = whole.manifest.triples_by_extractor
    assert counts == {"corrections": 1, "local:written": 2}
    assert sum(counts.values()) == whole.manifest.counts["triples"] == len(whole.triples)
    some = view(whole, np.array([2])).manifest
    assert (some.triples_by_extractor, some.counts["passages_without_triples"]) == ({"corrections": 1}, 0)


def test_both_graphs_are_corrected(folder: Path) -> None:
    before = Snapshot.open(folder)
    correct(folder, MERGE)
    after = Snapshot.open(folder)
    assert len(before.passage_graph.edges["keyword"].neighbours) == 0
    assert len(after.passage_graph.edges["keyword"].neighbours) == 2
    herschel, uranus, bath = (after.entities.numbers[name] for name in ("william herschel", "uranus", "bath"))
    weights = after.entities.weights()
    assert weights[herschel, uranus] == weights[herschel, bath] == 1
    assert len(after.entities) == len(before.entities) - 1


def test_names_that_are_only_mentioned_are_merged(folder: Path) -> None:
    written_builder(folder).build([Document(id="c", text="seen: Sir W")])
    correct(folder, {"merge": ["sir w"], "into": "William Herschel"})
    entities = Snapshot.open(folder).entities
    assert entities.list_named_entities(2) == [entities.numbers["william herschel"]]
    counts = read_manifest(folder).corrections
    assert counts
    assert (counts.triples, counts.unmatched) == ({"merge": 0}, [])


def test_a_question_may_use_any_name_of_a_merged_entity(folder: Path) -> None:
    correct(folder, MERGE)
    entities = Snapshot.open(folder).entities
    assert entities.numbers["w herschel"] == entities.numbers["william herschel"]
    found = open_index(folder).search("Where did W. Herschel live?", method="hipporag[entities=verbatim]")
    assert set(found.ids) == {"a#0", "b#0"}


def test_what_was_extracted_comes_back_when_corrections_are_taken_back(folder: Path) -> None:
    before = triples(folder)
    index = open_index(folder)
    index.correct([DROP])
    assert len(context_of(index).triples) == 2
    assert json.loads(read_index_corrections(folder).text) == DROP
    index.correct([])
    assert (len(context_of(index).triples), triples(folder)) == (3, before)
    assert (read_manifest(folder).corrections, read_index_corrections(folder).text) == (None, "")


@pytest.mark.parametrize(
    ("text", "rows", "about", "expected"),
    [
        ("Uranus | is | a star", [{**DROP, "document": "c"}], "star", ["a#0: Uranus is a star"]),
        ("Uranus | is | a star", [{**DROP, "passage": "a#0"}], "star", ["c#0: Uranus is a star"]),
        # Triples that merging makes the same are one.
        (B.text + "\nW. Herschel | lived in | Bath", [MERGE], "c#0", ["c#0: William Herschel lived in Bath"]),
        ("", [DROP, ADD], "Uranus is", ["a#0: Uranus is a planet"]),  # what a line adds no line drops
        # A drop may use any name of a merged entity.
        ("", [MERGE, {"drop": ["w herschel", "lived in", "Bath"]}], "Herschel", ["a#0: William Herschel found Uranus"]),
    ],
)
def test_what_lines_do(folder: Path, text: str, rows: list[dict[str, Any]], about: str, expected: list[str]) -> None:
    written_builder(folder).build([Document(id="c", text=text)] if text else [])
    correct(folder, *rows)
    assert [triple for triple in triples(folder) if about in triple] == expected


def test_an_added_triple_goes_to_the_passage_with_most_of_its_words(tmp_path: Path) -> None:
    long = Document(id="long", text="\n\n".join(["Nothing is said here. " * 40, "Ceres is a dwarf planet. " * 30]))
    written_builder(tmp_path).build([long])
    correct(tmp_path, {"add": ["Ceres", "is", "dwarf planet"], "document": "long"})
    (found,) = [triple for triple in triples(tmp_path) if "Ceres is dwarf planet" in triple]
    passage = Snapshot.open(tmp_path).passages[found.partition(":")[0]]
    assert "Ceres" in passage.text
    assert passage.position > 0


def test_lines_follow_a_renamed_file(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in {"a.md": A.text, "b.md": B.text}.items():
        (docs / name).write_text(f"# Notes\n\n{text}")

    def sync() -> None:
        written_builder(tmp_path / "i").sync(FolderFiles.of([docs], SourceNames({str(docs): "docs"})))

    sync()
    city = {"add": ["Bath", "is", "a city"], "passage": "docs/b.md#0"}
    correct(tmp_path / "i", {**ADD, "document": "docs/a.md"}, city)
    (docs / "a.md").rename(docs / "c.md")
    (docs / "b.md").rename(docs / "d.md")
    sync()
    moved = {"docs/c.md#0: Uranus is a planet", "docs/d.md#0: Bath is a city"}
    assert moved <= set(triples(tmp_path / "i"))
    rows = [json.loads(line) for line in read_index_corrections(tmp_path / "i").text.splitlines()]
    assert [row.get("document") or row.get("passage") for row in rows] == ["docs/c.md", "docs/d.md#0"]


def test_compacting_forgets_lines_of_documents_that_are_gone(folder: Path) -> None:
    correct(folder, DROP, {"add": ["Uranus", "hides", "Quarkwright"], "document": "a"}, {**ADD, "document": "b"})
    written_builder(folder).remove(["a"])
    noted: set[int] = set()
    purge(folder, lambda lines: len(noted.update(lines) or []))  # type: ignore[func-returns-value]
    assert line_numbers(["Uranus hides Quarkwright"]) <= noted
    assert [line.line for line in read_index_corrections(folder).lines] == [1, 3]
    assert not any(b"Quarkwright" in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    manifest = read_manifest(folder)
    assert manifest.corrections
    assert (manifest.corrections.lines, manifest.corrections.unmatched) == ({"drop": 1, "add": 1}, [1])
    assert written_builder(folder).build([]).published is False


def test_what_a_correction_said_is_forgotten_when_it_is_replaced(folder: Path) -> None:
    correct(folder, ADD, MERGE)
    with open_for_write(folder) as store:
        assert not store.forgotten.lines()
    correct(folder, DROP)
    with open_for_write(folder) as store:
        noted = set(store.forgotten.lines())
    assert line_numbers(["Uranus is a planet", "William Herschel found Uranus"]) <= noted


def test_a_view_is_an_index_of_its_passages_with_the_same_corrections(folder: Path, tmp_path: Path) -> None:
    """As far as a visible passage has the names they merge: see the next test."""
    documents = [B, Document(id="c", text="# Notes\n\nW. Herschel | saw | Saturn\nseen: Sir W")]
    rows = [MERGE, {"merge": ["Sir W"], "into": "William Herschel"}, {"merge": ["Uranus"], "into": "Planet Uranus"}]
    written_builder(folder).build(documents[1:])
    correct(folder, *rows)
    written_builder(tmp_path / "alone").build(documents)
    correct(tmp_path / "alone", *rows)
    whole, alone = Snapshot.open(folder), Snapshot.open(tmp_path / "alone")
    visible = [row for row, passage in enumerate(whole.passages) if passage.document_id != "a"]
    some = view(whole, np.array(visible))
    assert list(some.entities.names) == list(alone.entities.names)
    assert some.entities.numbers == alone.entities.numbers, "names of hidden entities are not known"
    listed = ([each.triples.triple(at) for at in range(len(each.triples))] for each in (some, alone))
    assert next(listed) == next(listed)
    assert (some.entities.weights(with_passages=True) != alone.entities.weights(with_passages=True)).nnz == 0
    assert some.manifest.corrections is None


@pytest.mark.parametrize("hidden", ["Codename X", "Bath W", "Herschel"])
def test_a_merged_name_that_no_visible_passage_has_is_unknown_in_a_view(folder: Path, hidden: str) -> None:
    """An index of these passages with these corrections knows it. But whoever sees only the view would learn from the
    entity which it leads to that somebody read this name somewhere.
    """
    written_builder(folder).build([Document(id="c", text=f"{hidden} | hides | Saturn")])
    correct(folder, {"merge": [hidden, "w herschel"], "into": "W. H."}, {"merge": ["planet  URANUS"], "into": "Uranus"})
    whole = Snapshot.open(folder)
    assert {hidden.casefold(), "w herschel", "planet uranus"} <= whole.entities.numbers.keys()
    visible = [row for row, passage in enumerate(whole.passages) if passage.document_id == "a"]
    known = view(whole, np.array(visible)).entities.numbers
    assert set(known) == {"w h", "w herschel", "uranus", "a star"} | ({"herschel"} & {hidden.casefold()})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a JSON object"),
        ("{}", 'has none of "drop", "add" and "merge"'),
        ('{"dorp": ["a", "b", "c"]}', 'has none of "drop", "add" and "merge" (did you mean \'drop\'?)'),
        ('{"drop": ["a", "b", "c"], "add": ["a", "b", "c"]}', "has 'drop' and 'add': write only one of them per line"),
        ('{"drop": ["a", "b"]}', 'needs "drop" with a subject, a predicate and an object'),
        ('{"drop": "a b c"}', 'needs a list of texts after "drop"'),
        ('{"drop": ["a", "b", " "]}', 'has something empty, or not a text, in "drop"'),
        ('{"drop": ["a", "b", 3]}', 'has something empty, or not a text, in "drop"'),
        pytest.param("[" * 200_000, "is not JSON", id="deep brackets"),
        (r'{"drop": ["a", "b", "\ud800"]}', 'has a part of "drop" with NUL or a lone surrogate'),
        (r'{"add": ["a", "b", "c"], "document": "x\u0000"}', 'has a part of "document" with NUL or a lone surrogate'),
        ('{"drop": ["*", "*", "*"]}', "would drop every triple"),
        ('{"drop": ["a", "b", "c"], "pasage": "x"}', "has the key 'pasage', which 'drop' does not have (did you mean"),
        ('{"add": ["a", "b", "c"]}', 'needs a "passage" or a "document"'),
        ('{"add": ["a", "b", "c"], "passage": "x", "document": "y"}', 'needs a "passage" or a "document"'),
        ('{"add": ["a", "b", "*"], "passage": "x"}', "has '*'"),
        ('{"add": ["a", "b", "c"], "document": 3}', 'has something empty, or not a text, in "document"'),
        ('{"merge": ["a"]}', 'has no "into"'),
        ('{"merge": [], "into": "b"}', 'needs a list of texts after "merge"'),
        ('{"merge": ["Two"], "into": "b"}', "'Two' is merged into 'one' on line 1: name it once"),
        ('{"merge": ["a"], "into": "two"}', "'two' is itself merged into 'one' on line 1"),
    ],
)
def test_a_wrong_line_is_named_with_its_number(line: str, said: str) -> None:
    with pytest.raises(BadInputError) as wrong:
        parse_corrections(f'{{"merge": ["two"], "into": "one"}}\n\n{line}\n', "fix.jsonl")
    assert str(wrong.value).startswith("fix.jsonl, line 3: ")
    assert said in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_a_file_may_have_comments_and_one_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    windows = f"\ufeff# ours\r\n\r\n{json.dumps(DROP)}\r\n"
    (tmp_path / "windows.jsonl").write_text(windows, encoding="utf-8", newline="")
    assert [line.line for line in Corrections.read(tmp_path / "windows.jsonl").lines] == [3]
    (tmp_path / "latin.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInputError, match=r"latin\.jsonl cannot be read"):
        Corrections.read(tmp_path / "latin.jsonl")
    with pytest.raises(BadInputError, match=r"^there is no file '.*missing\.jsonl': check the path\.$"):
        Corrections.read(tmp_path / "missing.jsonl")


def test_a_dry_run_needs_no_lock_and_changes_nothing(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with open_for_write(folder):
        lines = open_index(folder).correct([DROP, ADD, MERGE, {"drop": ["x", "y", "z"]}], dry_run=True)
    assert [(each.line, each.kind, each.triples, each.matches) for each in lines] == [
        (1, "drop", 1, True),
        (2, "add", 1, True),
        (3, "merge", 1, True),
        (4, "drop", 0, False),
    ]
    assert read_index_corrections(folder).text == ""
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (DROP, "the corrections are one row: give a list of rows"),
        ([DROP, "drop"], "the corrections, line 2: this line is not a JSON object"),
        ([DROP, {"drop": {"a", "b"}}], "the corrections, line 2: this row cannot be written as JSON"),
        ([DROP, {**ADD, "add": ["\ud800", "is", "x"]}], "the corrections, line 2: .* lone surrogate"),
    ],
)
def test_what_is_no_list_of_rows_is_refused_before_it_is_kept(folder: Path, rows: Any, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        open_index(folder).correct(rows)
    assert read_index_corrections(folder).text == ""
