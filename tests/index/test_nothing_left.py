"""After removing and compacting no byte of a document is left: every file is searched for its words and its vectors."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pytest

from triplebeam.assemble import context_of
from triplebeam.assemble.index import Index
from triplebeam.errors import IndexDamagedError
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.llm import LLMExtractor
from triplebeam.generate.completion_cache import Cached, CompletionStore
from triplebeam.generate.connect import Concurrent
from triplebeam.generate.language_model import Completion, Prompt
from triplebeam.index.arrays.rows import INT8, INT16, hash_texts, quantize
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.build.writing import open_for_write, purge
from triplebeam.index.location import Folder
from triplebeam.index.store.store import Store
from triplebeam.ingest import FolderFiles, SourceNames
from triplebeam.ingest.split import split
from triplebeam.passage import Document
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords
from triplebeam.text.lines import line_numbers
from triplebeam.triple import Triple

SECRET = "Zebulon Quarkwright hid violins near Vexmoor.\n\nHis sister Quillanthe buried 774199 coins in a crate there."
FACTS = [["Zebulon Quarkwright", "hid", "violins near Vexmoor"], ["Quillanthe", "buried", "774199 coins"]]
WORDS = ("zebulon", "quarkwright", "vexmoor", "quillanth", "774199")
HARMLESS = "Bath lies in England.\n\nThe river Avon flows through Bath."


class Reading:
    """A model that knows the facts of the secret, and of nothing else."""

    name = "reading"

    def complete(self, prompts: list[Prompt]) -> list[Completion]:
        replies = [FACTS if "Vexmoor" in prompt.user else [["Bath", "lies in", "England"]] for prompt in prompts]
        return [
            Completion(text=json.dumps({"entities": [row[0] for row in rows], "triples": rows})) for rows in replies
        ]


@pytest.fixture
def index(tmp_path: Path) -> Index:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bath.md").write_text(HARMLESS)
    (tmp_path / "docs" / "vexmoor.md").write_text(SECRET)
    settings = Settings(home=tmp_path, completions=tmp_path / "completions.sqlite")
    index = Index(Folder(tmp_path / "my.index"), settings=settings, embedder=HashedWords(64))
    sync(index)
    assert len(context_of(index).snapshot.triples) == 3
    return index


def extracting(index: Index, work: Callable[[LLMExtractor], object]) -> None:
    assert index.settings.completions
    with CompletionStore(index.settings.completions) as store:
        work(LLMExtractor(Cached(model=Reading(), store=store)))


def sync(index: Index) -> None:
    docs = index.location.state.parent / "docs"
    extracting(index, lambda extractor: index.sync(docs, docs / "bath.md", extractor=extractor))


def remove(index: Index, name: str) -> list[str]:
    """Remove the document of a file; returns its id."""
    found = [id_ for id_ in index.passages.document_ids if id_.endswith(name)]
    index.remove(*found)
    return found


def traces(index: Index) -> list[str]:
    """Where words and vectors of the secret, and the keys of its texts, are found."""
    embedder = HashedWords(64)
    facts = [" ".join(fact) for fact in FACTS]
    texts = [SECRET, f"vexmoor\n{SECRET}", *facts, *(fact[0] for fact in FACTS), *(fact[2] for fact in FACTS)]
    vectors = embedder.embed(texts)
    forms = (vectors, quantize(vectors, INT8), quantize(vectors, INT16))
    numbers = [row.tobytes() for form in forms for row in form]
    keys = [hash_texts(embedder.fingerprint, text) for text in texts]
    found = []
    for path in sorted(index.location.state.parent.rglob("*")):
        if path.is_file() and path.parent.name != "docs":
            content = path.read_bytes()
            lowered = content.lower()
            found += [f"{path.name}: {word}" for word in WORDS if word.encode() in lowered]
            found += [f"{path.name}: a vector" for row in numbers if row in content]
            found += [f"{path.name}: a key" for key in keys if key in content]
    return found


def test_it_is_found_while_it_is_there(index: Index) -> None:
    places = {trace.partition(":")[0] for trace in traces(index)}
    assert {"store.sqlite", "completions.sqlite", "passage_texts.utf8", "words.utf8", "triple_vectors.npy"} <= places
    assert "entity_keys.npy" in places


def test_nothing_is_left_of_a_removed_document(index: Index) -> None:
    """Nor of a generation that was left behind."""
    old = index.location.state / "generations" / "000000"
    old.mkdir()
    (old / "passage_texts.utf8").write_text(SECRET)
    remove(index, "vexmoor.md")
    done = index.purge()
    assert done.completions_removed == 1
    assert done.bytes_after <= done.bytes_before
    assert traces(index) == []
    assert completions(index) == 1, "replies about other documents stay"
    assert len(index.search("river Avon", method="bm25")) == 1


@pytest.mark.parametrize("text", ["", "Nothing to see here."])
def test_nothing_is_left_of_a_file_that_is_gone_or_changed(index: Index, text: str) -> None:
    path = index.location.state.parent / "docs" / "vexmoor.md"
    path.unlink()
    if text:
        path.write_text(text)
        os.utime(path, (1, 1))
    sync(index)
    index.purge()
    assert [trace for trace in traces(index) if not text or "vexmoor" not in trace] == []  # its name is still there


def die(*_: object) -> None:
    raise KeyboardInterrupt


def test_nothing_is_left_of_what_was_encoded_and_never_published(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    [removed] = remove(index, "vexmoor.md")
    builder = IndexBuilder(folder=index.location.state, embedder=HashedWords(64))
    with monkeypatch.context() as patched:
        patched.setattr("triplebeam.index.folder.publish.FolderPublisher.publish", die)
        with pytest.raises(KeyboardInterrupt):
            builder.sync(FolderFiles.of([index.location.state.parent / "docs"], SourceNames({})))
    assert (index.location.state / "encoded.sqlite").is_file()
    builder.take_back([removed])
    index.purge()
    assert traces(index) == []


def test_a_damaged_index_is_refused_and_keeps_what_is_whole(index: Index) -> None:
    [generation] = (index.location.state / "generations").iterdir()
    (generation / "passage_references.npy").unlink()
    before = sorted(path.name for path in generation.iterdir())
    with pytest.raises(IndexDamagedError, match="repair"):
        index.purge()
    assert sorted(path.name for path in generation.iterdir()) == before


def forgotten(index: Index) -> set[int]:
    """The lines by which replies are looked for when the index is compacted."""
    lines: set[int] = set()

    def forget(gone: Iterable[int]) -> int:
        lines.update(gone)
        return 0

    purge(index.location.state, forget)
    return lines


def test_what_the_new_version_or_another_document_still_has_is_not_forgotten(index: Index) -> None:
    docs = index.location.state.parent / "docs"
    (docs / "avon.md").write_text("The river Avon flows through Bath.\n\nIt is 134 km long.")
    (docs / "vexmoor.md").write_text(SECRET.replace("His sister", "His aunt"))
    sync(index)
    remove(index, "avon.md")
    gone = forgotten(index)
    first, _, second = SECRET.splitlines()
    assert line_numbers([second, "It is 134 km long."]) <= gone
    assert not line_numbers([first, HARMLESS, *map(" ".join, FACTS)]) & gone


def test_a_reply_about_an_unchanged_text_stays(index: Index) -> None:
    docs = index.location.state.parent / "docs"
    (docs / "copy.md").write_text(HARMLESS)
    sync(index)
    remove(index, "copy.md")
    before = completions(index)
    assert index.purge().completions_removed == before - 2  # the copy's own prompt had its title
    assert completions(index) == 2


def completions(index: Index) -> int:
    assert index.settings.completions
    with CompletionStore(index.settings.completions) as store:
        return store.count()


def test_a_title_that_was_changed_is_forgotten(index: Index) -> None:
    builder = IndexBuilder(folder=index.location.state, embedder=HashedWords(64))
    builder.build([Document(id="d", title="Operation Vexmoor", text="It rained.")])
    builder.build([Document(id="d", title="Weather", text="It rained.")])
    gone = forgotten(index)
    assert line_numbers(["Operation Vexmoor"]) <= gone
    assert not line_numbers(["Weather\nIt rained."]) & gone


def test_a_reply_that_quoted_a_replaced_fact_is_forgotten(index: Index) -> None:
    builder = IndexBuilder(folder=index.location.state, embedder=HashedWords(64))
    with open_for_write(index.location.state) as store, store.transaction():
        numbers = {passage.text: number for number, passage in store.passages()}
        now = Extraction(passage_id="", triples=(Triple(*FACTS[0]),))
        store.extractions.put(numbers[SECRET], now, "local:now")
    builder.build([])
    gone = forgotten(index)
    assert line_numbers([" ".join(FACTS[1])]) <= gone
    assert not line_numbers([" ".join(FACTS[0]), SECRET]) & gone


class Retelling:
    """A model that tells in its own words what it read: no line of the secret is in its facts, nor in its verdict."""

    name = "retelling"
    replies: ClassVar = {
        "gear/read": {"facts": [["the Quarkwright man", "concealed", "fiddles"]]},
        "published/reason": {"answerable": True, "answer": "the Quarkwright man", "why": "Quillanthe knew."},
        "answer": {"found": True, "answer": "the Quarkwright man", "sentence": "", "missing": ""},
    }

    def complete(self, prompts: list[Prompt]) -> list[Completion]:
        return [Completion(text=json.dumps(self.replies[prompt.template])) for prompt in prompts]


def test_nothing_is_left_of_what_an_agent_repeated_from_an_earlier_reading(index: Index) -> None:
    assert index.settings.completions
    with CompletionStore(index.settings.completions) as store:
        model = Concurrent(Cached(model=Retelling(), store=store))
        asking = Index(index.location, settings=index.settings, embedder=HashedWords(64), model=model)
        assert asking.ask("Who hid violins near Vexmoor?", method="gear:bm25").text == "the Quarkwright man"
    with closing(sqlite3.connect(index.settings.completions)) as db:
        assert ("published/reason",) in db.execute("SELECT template FROM completion").fetchall()
    remove(index, "vexmoor.md")
    index.purge()
    assert traces(index) == []
    assert completions(index) == 1


def test_of_two_documents_with_the_same_text_the_last_takes_the_replies_with_it(index: Index) -> None:
    other = Document(id="other", title="vexmoor", text=SECRET)
    extracting(index, lambda extractor: index.add_documents([other], extractor=extractor))
    assert completions(index) == 2  # the prompts are the same
    remove(index, "vexmoor.md")
    assert index.purge().completions_removed == 0
    index.remove("other")
    assert index.purge().completions_removed == 1
    assert traces(index) == []


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "store.sqlite")) as store:
        yield store


def put(store: Store, text: str, tokens: int = 200) -> int:
    """The number of passages of a document with that text."""
    document = Document(id="x", text=text)
    passages = split(document, tokens)
    with store.transaction():
        store.put_document(document, passages)
    return len(passages)


def remove_from(store: Store) -> set[int]:
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
    assert remove_from(store) == expected


def test_a_fact_that_was_extracted_again_is_forgotten_with_its_document(store: Store) -> None:
    put(store, "It rained.")
    ((number, _),) = store.passages()
    for version in ("old", "new"):
        extraction = Extraction(passage_id="x#0", triples=(Triple("A", version, "B"),))
        with store.transaction():
            store.extractions.put(number, extraction, f"local:{version}")
    assert line_numbers(["A old B", "A new B"]) <= remove_from(store)


def test_lines_after_a_nul_are_noted(store: Store) -> None:
    put(store, "One.\0Two.\nThe third line.")
    assert line_numbers(["The third line."]) <= remove_from(store)


def test_a_text_is_fetched_once_however_many_passages_it_has(store: Store) -> None:
    assert put(store, "\n\n".join(f"Item {number} is near a café." for number in range(60)), tokens=10) > 20
    asked: list[str] = []
    store.db.set_trace_callback(asked.append)
    remove_from(store)
    store.db.set_trace_callback(None)
    assert not [query for query in asked if "substr" in query]
    assert len([query for query in asked if "text FROM document WHERE id = 'x'" in query]) == 1
