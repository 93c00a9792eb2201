"""The lines of removed documents are noted, until what quotes them is gone too."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from triplebeam.extract.extractor import Extraction
from triplebeam.index.store.store import Store
from triplebeam.ingest.split import split
from triplebeam.passage import Document
from triplebeam.text.lines import line_numbers
from triplebeam.triple import Triple


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "store.sqlite")
    yield store
    store.close()


def put(store: Store, text: str, tokens: int = 200) -> int:
    """The number of passages of a document with that text."""
    document = Document(id="x", text=text)
    passages = split(document, tokens)
    with store.transaction():
        store.put_document(document, passages)
    return len(passages)


def remove(store: Store) -> set[int]:
    with store.transaction():
        store.remove_documents(["x", "unknown"])
    return set(store.forgotten.lines())


def test_lines_of_all_passages_and_facts_are_noted(store: Store) -> None:
    assert put(store, "Ada wrote a café guide.\n\nBob reads many books.", tokens=6) > 1
    (number, _), *_ = store.passages()
    fact = Triple("Ada", "wrote", "a guide")
    with store.transaction():
        store.extractions.put(number, Extraction(passage_id="x#0", triples=(fact,)), "counting:1")
    expected = line_numbers([*(passage.text for _, passage in store.passages()), "Ada wrote a guide"])
    assert remove(store) == expected


def test_lines_after_a_nul_are_noted(store: Store) -> None:
    put(store, "One.\0Two.\nThe third line.")
    assert line_numbers(["The third line."]) <= remove(store)


def test_a_text_is_fetched_once_however_many_passages_it_has(store: Store) -> None:
    assert put(store, "\n\n".join(f"Item {number} is near a café." for number in range(60)), tokens=10) > 20
    asked: list[str] = []
    store.db.set_trace_callback(asked.append)
    remove(store)
    store.db.set_trace_callback(None)
    assert not [query for query in asked if "substr" in query]
    assert len([query for query in asked if "text FROM document WHERE id = 'x'" in query]) == 1
