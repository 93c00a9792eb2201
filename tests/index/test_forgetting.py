"""Exact forgetting: an index remembers what is in it, and not how it came to be.

After any history of adding, changing and removing documents, and of correcting their triples, an index is, file by file
and byte by byte, the one that is built from what is left; so every retriever and both graphs return the same ids in the
same order with the same scores.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trials import examples
from triplebeam.assemble import Context, IndexReader
from triplebeam.index.build.writing import purge
from triplebeam.index.folder.manifest import generation_folder, is_index, read_manifest
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.store.corrections import Corrections
from triplebeam.passage import Document
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords
from written_facts import written_builder

NAMES = ("Ada Lovelace", "ADA LOVELACE", "Ada Lovelace of London", "Bath", "bath", "Lake Bath", "the Lake Bath", "1781")
PREDICATES = ("lives in", "knows", "was born in")
METHODS = (
    *("bm25", "dense", "hybrid", "scaled_hybrid", "hybrid+naive_ge", "gnn_ret", "scaled_hybrid+gnn_ret"),
    *("gnn_ret[beta=0.9]", "hipporag[entities=verbatim]", "hipporag2", "title_link", "blend"),
)
QUESTIONS = ("Where does Ada Lovelace live?", "Who knows Bath?", "What happened in 1781 at the lake?")

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


def rankings(folder: Path) -> dict[tuple[str, str], list[tuple[str, float]]]:
    index = IndexReader(Context(Snapshot.open(folder), Settings(), HashedWords()))
    return {
        (method, question): [(hit.passage_id, hit.score) for hit in index.retriever(method).retrieve(question, 10)]
        for method in METHODS
        for question in QUESTIONS
    }


@settings(max_examples=examples(40, 15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=histories)
def test_a_history_leaves_no_trace(history: list[Step], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("history")
    left = play(folder / "lived", history)
    written_builder(folder / "new").build(left)
    written_builder(folder / "new").correct(
        Corrections.of(([step for step in history if isinstance(step, tuple)] or [()])[-1])
    )
    lived, new = files(folder / "lived"), files(folder / "new")
    assert lived.keys() == new.keys()
    assert [name for name in lived if lived[name] != new[name]] == []
    one, two = read_manifest(folder / "lived"), read_manifest(folder / "new")
    for of in ("counts", "passage_graph", "ownership", "triples_by_extractor", "extractor", "corrections"):
        assert getattr(one, of) == getattr(two, of)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(written=st.lists(documents, min_size=2, max_size=8, unique_by=lambda document: document.id), data=st.data())
def test_the_order_in_which_documents_came_leaves_no_trace(
    written: list[Document], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("order")
    written_builder(folder / "one").build(written)
    written_builder(folder / "two").build(data.draw(st.permutations(written)))
    assert files(folder / "one") == files(folder / "two")


some_documents = st.lists(documents, min_size=1, max_size=5)


@settings(max_examples=examples(8, 4), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(kept=some_documents, removed=some_documents)
def test_every_retriever_and_both_graphs_forget(
    kept: list[Document], removed: list[Document], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Index A and B, remove and purge B: what is left is an index of A."""
    folder = tmp_path_factory.mktemp("forget")
    others = {each.id: Document(id=f"other-{each.id}", title=each.title, text=each.text) for each in removed}
    written_builder(folder / "a").build({each.id: each for each in kept}.values())
    written_builder(folder / "ab").build([*{each.id: each for each in kept}.values(), *others.values()])
    written_builder(folder / "ab").remove({each.id for each in others.values()})
    purge(folder / "ab")
    assert rankings(folder / "ab") == rankings(folder / "a")
    one, two = Snapshot.open(folder / "ab"), Snapshot.open(folder / "a")
    assert (one.entities.weights(with_passages=True) != two.entities.weights(with_passages=True)).nnz == 0
    for kind, edges in one.passage_graph.edges.items():
        for mine, other in zip(edges, two.passage_graph.edges[kind], strict=True):
            np.testing.assert_array_equal(mine, other)


def test_everything_may_go_and_come_back(tmp_path: Path) -> None:
    document = Document(id="only", text="Bath | is | here")
    written_builder(tmp_path / "i").build([document])
    once = files(tmp_path / "i")
    written_builder(tmp_path / "i").remove(["only"])
    assert not is_index(tmp_path / "i")
    written_builder(tmp_path / "i").build([document])
    assert files(tmp_path / "i") == once
