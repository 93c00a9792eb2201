"""LangChain both ways, held against LangChain's own standard tests and our own contract."""

from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import ValidationError

from serve.adapted import QUESTION
from small_world import WORLD
from triplebeam.adapters.langchain import TriplebeamRetriever, from_langchain
from triplebeam.assemble import Index
from triplebeam.errors import BadInputError
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts import RetrieverContract


@pytest.mark.anyio
class TestStandard(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _keep(self, index: Index) -> None:
        self._index = index

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return TriplebeamRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"index": self._index}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


def test_what_cannot_be_used_is_reported_when_it_is_made(index: Index) -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        TriplebeamRetriever(index=index, k=0)


class Fixed(BaseRetriever):
    """Takes no k."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self.documents


def store() -> BaseRetriever:
    """A vector store over the world, with its default of four documents."""
    vectors = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    vectors.add_documents([Document(text, metadata={"key": id_}) for id_, (_, text) in WORLD.items()])
    return vectors.as_retriever()


class TestAVectorStoreAsBase(RetrieverContract):
    @pytest.fixture(params=["key", "none: by text"])
    def retriever(self, request: pytest.FixtureRequest, index: Index) -> Retriever:
        return from_langchain(store(), index, id_key=request.param)


class TestAVectorStoreExpanded(RetrieverContract):
    @pytest.fixture
    def retriever(self, index: Index) -> Retriever:
        return index.expand(from_langchain(store(), index))


def test_k_is_passed_on_where_it_is_taken(index: Index) -> None:
    assert len(from_langchain(store(), index).retrieve("lake", 6)) == 6
    assert len(from_langchain(store(), index, k_name=None).retrieve("lake", 6)) == 4
    fixed = Fixed(documents=[Document("", id="lake"), Document("", id="city")])
    assert from_langchain(fixed, index).retrieve("lake", 1).ids == ["lake"]


def test_a_document_that_is_no_passage_is_reported(index: Index) -> None:
    with pytest.raises(BadInputError, match=r"gave the document 'Lake Superior' .*metadata under 'id'"):
        from_langchain(Fixed(documents=[Document("Lake Superior")]), index).retrieve("lake")


def test_there_and_back(index: Index) -> None:
    """Your retriever, expanded, as a LangChain retriever again."""
    base = from_langchain(Fixed(documents=[Document("", metadata={"id": "film"})]), index)
    documents = TriplebeamRetriever(index=index, method=index.expand(base)).invoke(QUESTION)
    assert "director" in [document.id for document in documents]
