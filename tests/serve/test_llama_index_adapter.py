"""LlamaIndex both ways."""

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import Document, MetadataMode, NodeWithScore, QueryBundle, TextNode

from serve.adapted import QUESTION
from small_world import WORLD
from triplebeam.adapters.llama_index import TriplebeamRetriever, from_llama_index
from triplebeam.assemble import Index
from triplebeam.errors import BadInputError
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts import RetrieverContract


def test_a_model_is_shown_the_title_and_the_text(index: Index) -> None:
    (film,) = TriplebeamRetriever(index, "bm25", 1).retrieve(QueryBundle("Laughter in Hell"))
    assert film.node.get_content(MetadataMode.LLM) == f"title: Laughter in Hell\n\n{WORLD['film'][1]}"


class Fixed(BaseRetriever):
    """Always the same nodes."""

    def __init__(self, *nodes: TextNode) -> None:
        super().__init__()
        self.nodes = nodes

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=node) for node in self.nodes]


def nodes(kind: str) -> list[TextNode]:
    if kind == "node":
        return [TextNode(id_=id_, text="cut otherwise") for id_ in WORLD]
    if kind == "metadata":
        return [TextNode(text="cut otherwise", metadata={"id": id_}) for id_ in WORLD]
    if kind == "document":
        from llama_index.core.schema import NodeRelationship

        return [
            TextNode(text="a part", relationships={NodeRelationship.SOURCE: Document(id_=id_).as_related_node_info()})
            for id_ in WORLD
        ]
    return [TextNode(text=text) for _, text in WORLD.values()]


class TestNodesAsBase(RetrieverContract):
    @pytest.fixture(params=["node", "metadata", "document", "text"])
    def retriever(self, request: pytest.FixtureRequest, index: Index) -> Retriever:
        return from_llama_index(Fixed(*nodes(request.param)), index)


def test_expanded_it_finds_what_it_did_not(index: Index) -> None:
    base = from_llama_index(Fixed(TextNode(id_="film")), index)
    assert base.retrieve(QUESTION).ids == ["film"]
    assert "director" in index.expand(base).retrieve(QUESTION).ids


def test_a_node_that_is_no_passage_is_reported(index: Index) -> None:
    with pytest.raises(BadInputError, match=r"gave the document 'Lake Superior' .*metadata under 'id'"):
        from_llama_index(Fixed(TextNode(text="Lake Superior")), index).retrieve("lake")
