"""Haystack both ways."""

import os
from pathlib import Path

import pytest

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"  # read when Haystack is imported: tests reach nobody

from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from serve.adapted import GRAPH, QUESTION
from small_world import WORLD
from triplebeam.adapters.haystack import TriplebeamRetriever, from_haystack
from triplebeam.assemble import Index
from triplebeam.errors import BadInputError
from triplebeam.index.folder.snapshot import Snapshot


def test_in_a_pipeline(index: Index) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", TriplebeamRetriever(index, GRAPH))
    documents = pipeline.run({"retriever": {"query": QUESTION, "top_k": 6}})["retriever"]["documents"]
    ranking = index.search(QUESTION, method=GRAPH, k=6)
    assert [(each.id, each.score) for each in documents] == [(hit.passage.id, hit.score) for hit in ranking]


def test_a_pipeline_is_saved_and_opened_again(world: Snapshot) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", TriplebeamRetriever(world.folder, "bm25", 1))
    again = Pipeline.from_dict(pipeline.to_dict(), allowed_modules=["triplebeam.adapters.haystack"])
    assert [each.id for each in again.run({"retriever": {"query": "lake"}})["retriever"]["documents"]] == ["lake"]


def test_a_filter_is_saved_with_it(world: Snapshot, index: Index) -> None:
    for retriever in (
        TriplebeamRetriever(world.folder, "bm25", where="document = 'lake'"),
        TriplebeamRetriever(index.filter("title exists").filter("document = 'lake'"), "bm25"),
    ):
        again = TriplebeamRetriever.from_dict(retriever.to_dict())
        assert [each.id for each in again.run("Milwaukee lies on Lake Michigan")["documents"]] == ["lake"]


def test_what_cannot_be_used_is_reported(index: Index, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="has no name to be saved by"):
        TriplebeamRetriever(index, index.retriever("bm25")).to_dict()


def in_memory(*documents: Document) -> InMemoryBM25Retriever:
    store = InMemoryDocumentStore()
    store.write_documents(list(documents))
    return InMemoryBM25Retriever(store)


@pytest.mark.parametrize("kind", ["id", "meta", "text"])
def test_a_retriever_of_theirs_as_base(index: Index, kind: str) -> None:
    documents = [
        Document(id=id_, content=text)
        if kind == "id"
        else Document(content=text, meta={"id": id_} if kind == "meta" else {})
        for id_, (_, text) in WORLD.items()
    ]
    base = from_haystack(in_memory(*documents), index)
    assert base.retrieve("Laughter in Hell directed", 1).ids == ["film"]
    assert "director" in index.expand(base, expansion="naive_ge[base_k=1]").retrieve("Laughter in Hell directed").ids


def test_a_document_that_is_no_passage_is_reported(index: Index) -> None:
    with pytest.raises(BadInputError, match=r"gave the document 'Lake Superior' .*metadata under 'id'"):
        from_haystack(in_memory(Document(content="Lake Superior")), index).retrieve("lake")


@pytest.mark.parametrize("where", [{"document": "lake"}, {}, ""])
def test_a_filter_that_is_none_is_refused_and_not_left_out(world: Snapshot, where: object) -> None:
    with pytest.raises(BadInputError, match="filter"):
        TriplebeamRetriever(world.folder, "bm25", where=where)
