"""Exact forgetting: an index remembers what is in it, and not how it came to be.

After any history of adding, changing and removing documents in any order, and of correcting their triples, an index is,
file by file and byte by byte, the one that is built from what is left; so every retriever and both graphs return the
same ids in the same order with the same scores.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trials import examples
from triplebeam.index.build.writing import purge
from triplebeam.index.folder.manifest import generation_folder, is_index, read_manifest
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.store.corrections import Corrections
from triplebeam.passage import Document
from written_facts import written_builder

NAMES = ("Ada Lovelace", "ADA LOVELACE", "Ada Lovelace of London", "Bath", "bath", "Lake Bath", "the Lake Bath", "1781")
PREDICATES = ("lives in", "knows", "was born in")

facts = st.tuples(st.sampled_from(NAMES), st.sampled_from(PREDICATES), st.sampled_from(NAMES))
texts = st.lists(facts, min_size=1, max_size=4).map(lambda rows: "\n".join(" | ".join(row) for row in rows))
ids = st.sampled_from([f"d{number}" for number in range(8)])
documents = st.builds(
    lambda id_, text, title, mentioned: Document(id=id_, title=title, text=f"{text}\nseen: {mentioned}"),
    ids,
    texts,
    st.sampled_from(["", "Bath", "Ada Lovelace", "Notes"]),
    st.sampled_from(NAMES),
)
parts = st.tuples(*(st.sampled_from((*of, "*")) for of in (NAMES, PREDICATES, NAMES))).filter(
    lambda each: set(each) != {"*"}
)
Rows = tuple[Mapping[str, object], ...]
#: All corrections from now on. The one name that others are merged into is no other's alias.
corrections = st.lists(
    st.one_of(
        parts.map(lambda triple: {"drop": list(triple)}),
        st.builds(lambda triple, id_: {"add": list(triple), "document": id_}, facts, ids),
        st.builds(lambda triple, id_: {"add": list(triple), "passage": f"{id_}#0"}, facts, ids),
        st.lists(st.sampled_from(NAMES), min_size=1).map(lambda names: {"merge": names, "into": "Ada of Bath"}),
    ),
    max_size=4,
).map(tuple)
#: Documents to add or change, the ids of documents to remove, or corrections.
Step = list[Document] | set[str] | Rows
steps = st.one_of(st.lists(documents, min_size=1, max_size=4), st.sets(ids, min_size=1), corrections)
histories = st.lists(steps, max_size=6)


def play(folder: Path, history: Sequence[Step]) -> list[Document]:
    """What is left of a history, in the order in which the index has it."""
    left: dict[str, Document] = {}
    written_builder(folder).build([Document(id="first", text="Bath | is | here")])
    left["first"] = Document(id="first", text="Bath | is | here")
    for step in history:
        if isinstance(step, set):
            written_builder(folder).remove(sorted(step))
            left = {id_: document for id_, document in left.items() if id_ not in step}
        elif isinstance(step, tuple):
            written_builder(folder).correct(Corrections.of(step))
        else:
            written_builder(folder).build(step)
            left |= {document.id: document for document in step}
    return [left[id_] for id_ in Snapshot.open(folder).passages.document_ids]


def files(folder: Path) -> dict[str, bytes]:
    generation = generation_folder(folder, read_manifest(folder).generation)
    return {
        path.relative_to(generation).as_posix(): path.read_bytes() for path in generation.rglob("*") if path.is_file()
    }


@settings(max_examples=examples(40, 20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=histories)
def test_a_history_leaves_no_trace(history: list[Step], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("history")
    left = play(folder / "lived", history)
    written_builder(folder / "new").build(left)
    written_builder(folder / "new").correct(
        Corrections.of(([step for step in history if isinstance(step, tuple)] or [()])[-1])
    )
    assert_same(folder / "lived", folder / "new")
    for name in ("lived", "new"):
        purge(folder / name)
    assert_same(folder / "lived", folder / "new")


def assert_same(one: Path, two: Path) -> None:
    lived, new = files(one), files(two)
    assert lived.keys() == new.keys()
    assert [name for name in lived if lived[name] != new[name]] == []
    for of in ("counts", "passage_graph", "ownership", "triples_by_extractor", "extractor", "corrections", "share"):
        assert getattr(read_manifest(one), of) == getattr(read_manifest(two), of)


def test_everything_may_go_and_come_back(tmp_path: Path) -> None:
    document = Document(id="only", text="Bath | is | here")
    written_builder(tmp_path / "i").build([document])
    once = files(tmp_path / "i")
    written_builder(tmp_path / "i").remove(["only"])
    assert not is_index(tmp_path / "i")
    written_builder(tmp_path / "i").build([document])
    assert files(tmp_path / "i") == once
