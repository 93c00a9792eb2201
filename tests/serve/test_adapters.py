"""LangChain, LlamaIndex and Haystack, both ways; held against LangChain's own standard tests and our own contract."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document as LangChainDocument
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests
from llama_index.core.base.base_retriever import BaseRetriever as LlamaRetriever
from llama_index.core.schema import Document as LlamaDocument
from llama_index.core.schema import MetadataMode, NodeRelationship, NodeWithScore, QueryBundle, TextNode
from pydantic import ValidationError

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"  # read when Haystack is imported: tests reach nobody

from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from serve.asking.served_world import QUESTION
from small_world import WORLD
from triplebeam.adapters import haystack, langchain, llama_index
from triplebeam.assemble import Index
from triplebeam.errors import BadInputError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts import RetrieverContract


@pytest.mark.anyio
class TestStandard(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _keep(self, index: Index) -> None:
        self._index = index

    @property
    def retriever_constructor(self) -> type[LangChainRetriever]:
        return langchain.TriplebeamRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"index": self._index}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


def test_what_cannot_be_used_is_reported_when_it_is_made(index: Index) -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        langchain.TriplebeamRetriever(index=index, k=0)


class FixedDocuments(LangChainRetriever):
    """Takes no k."""

    documents: list[LangChainDocument]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[LangChainDocument]:
        return self.documents


def store() -> LangChainRetriever:
    """A vector store over the world, with its default of four documents."""
    vectors = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    vectors.add_documents([LangChainDocument(text, metadata={"key": id_}) for id_, (_, text) in WORLD.items()])
    return vectors.as_retriever()


class TestAVectorStoreAsBase(RetrieverContract):
    @pytest.fixture(params=["key", "none: by text"])
    def retriever(self, request: pytest.FixtureRequest, index: Index) -> Retriever:
        return langchain.from_langchain(store(), index, id_key=request.param)


def test_k_is_passed_on_where_it_is_taken(index: Index) -> None:
    assert len(langchain.from_langchain(store(), index).retrieve("lake", 6)) == 6
    assert len(langchain.from_langchain(store(), index, k_name=None).retrieve("lake", 6)) == 4
    fixed = FixedDocuments(documents=[LangChainDocument("", id="lake"), LangChainDocument("", id="city")])
    assert langchain.from_langchain(fixed, index).retrieve("lake", 1).ids == ["lake"]


def test_there_and_back(index: Index) -> None:
    """Your retriever, expanded, as a LangChain retriever again."""
    base = langchain.from_langchain(FixedDocuments(documents=[LangChainDocument("", metadata={"id": "film"})]), index)
    documents = langchain.TriplebeamRetriever(index=index, method=index.expand(base)).invoke(QUESTION)
    assert "director" in [document.id for document in documents]


def test_a_model_is_shown_the_title_and_the_text(index: Index) -> None:
    (film,) = llama_index.TriplebeamRetriever(index, "bm25", 1).retrieve(QueryBundle("Laughter in Hell"))
    assert film.node.get_content(MetadataMode.LLM) == f"title: Laughter in Hell\n\n{WORLD['film'][1]}"


class FixedNodes(LlamaRetriever):
    """Always the same nodes."""

    def __init__(self, *nodes: TextNode) -> None:
        super().__init__()
        self.nodes = nodes

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=node) for node in self.nodes]


def of_document(id_: str) -> TextNode:
    source = LlamaDocument(id_=id_).as_related_node_info()
    return TextNode(text="a part", relationships={NodeRelationship.SOURCE: source})


NODES: Mapping[str, Callable[[str], TextNode]] = {
    "node": lambda id_: TextNode(id_=id_, text="cut otherwise"),
    "metadata": lambda id_: TextNode(text="cut otherwise", metadata={"id": id_}),
    "document": of_document,
    "text": lambda id_: TextNode(text=WORLD[id_][1]),
}


class TestNodesAsBase(RetrieverContract):
    @pytest.fixture(params=NODES)
    def retriever(self, request: pytest.FixtureRequest, index: Index) -> Retriever:
        return llama_index.from_llama_index(FixedNodes(*map(NODES[request.param], WORLD)), index)


def test_a_pipeline_is_saved_and_opened_again(world: Snapshot) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", haystack.TriplebeamRetriever(world.folder, "bm25", 1))
    again = Pipeline.from_dict(pipeline.to_dict(), allowed_modules=["triplebeam.adapters.haystack"])
    assert [each.id for each in again.run({"retriever": {"query": "lake"}})["retriever"]["documents"]] == ["lake"]
    more = {"retriever": {"query": "Milwaukee lies on Lake Michigan", "top_k": 2}}
    assert len(again.run(more)["retriever"]["documents"]) == 2


def test_a_filter_is_saved_with_it(world: Snapshot, index: Index) -> None:
    for retriever in (
        haystack.TriplebeamRetriever(world.folder, "bm25", where="document = 'lake'"),
        haystack.TriplebeamRetriever(index.filter("title exists").filter("document = 'lake'"), "bm25"),
    ):
        again = haystack.TriplebeamRetriever.from_dict(retriever.to_dict())
        assert [each.id for each in again.run("Milwaukee lies on Lake Michigan")["documents"]] == ["lake"]


def test_a_retriever_without_a_name_is_not_saved(index: Index) -> None:
    with pytest.raises(BadInputError, match="has no name to be saved by"):
        haystack.TriplebeamRetriever(index, index.retriever("bm25")).to_dict()


def in_memory(*documents: Document) -> InMemoryBM25Retriever:
    store = InMemoryDocumentStore()
    store.write_documents(list(documents))
    return InMemoryBM25Retriever(store)


@pytest.mark.parametrize(
    "name", [lambda id_: {"id": id_}, lambda id_: {"meta": {"id": id_}}, lambda id_: {}], ids=["id", "meta", "text"]
)
def test_a_retriever_of_theirs_as_base(index: Index, name: Callable[[str], dict[str, Any]]) -> None:
    documents = [Document(content=text, **name(id_)) for id_, (_, text) in WORLD.items()]
    base = haystack.from_haystack(in_memory(*documents), index)
    assert base.retrieve("Laughter in Hell directed", 1).ids == ["film"]
    assert "director" in index.expand(base, expansion="naive_ge[base_k=1]").retrieve("Laughter in Hell directed").ids


@pytest.mark.parametrize("where", [{"document": "lake"}, {}, ""])
def test_a_filter_that_is_none_is_refused_and_not_left_out(world: Snapshot, where: object) -> None:
    with pytest.raises(BadInputError, match="filter"):
        haystack.TriplebeamRetriever(world.folder, "bm25", where=where)


def test_a_document_that_is_no_passage_is_reported(index: Index) -> None:
    sea = "Lake Superior"
    for base in (
        langchain.from_langchain(FixedDocuments(documents=[LangChainDocument(sea)]), index),
        llama_index.from_llama_index(FixedNodes(TextNode(text=sea)), index),
        haystack.from_haystack(in_memory(Document(content=sea)), index),
    ):
        with pytest.raises(BadInputError, match=r"gave the document 'Lake Superior' .*metadata under 'id'"):
            base.retrieve("lake")
