"""LlamaIndex both ways."""

import asyncio
import threading
from pathlib import Path

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import Document, MetadataMode, NodeWithScore, QueryBundle, TextNode

from serve.adapted import GRAPH, QUESTION, Watched
from small_world import WORLD
from triplebeam.assemble import Index
from triplebeam.errors import BadInputError, IndexMissingError
from triplebeam.index.snapshot import Snapshot
from triplebeam.retrieve.retriever import Retriever
from triplebeam.serve.llama_index import TriplebeamRetriever, from_llama_index
from triplebeam.testing.contracts import RetrieverContract


def test_a_node_says_what_it_is_and_why_it_is_here(index: Index) -> None:
    found = TriplebeamRetriever(index, GRAPH, similarity_top_k=6).retrieve(QUESTION)
    ranking = index.search(QUESTION, GRAPH, 6)
    assert [(each.node.node_id, each.score) for each in found] == [(hit.passage_id, hit.score) for hit in ranking]
    film = found[ranking.ids.index("film")].node
    assert film.get_content() == WORLD["film"][1]
    assert ["Laughter in Hell", "directed by", "Edward Cahn"] in [
        fact for chain in film.metadata["chains"] for fact in chain
    ]
    assert film.get_content(MetadataMode.LLM) == f"title: Laughter in Hell\n\n{WORLD['film'][1]}"


def test_an_index_folder_will_do(world: Snapshot) -> None:
    (found,) = TriplebeamRetriever(str(world.folder), "bm25", 1).retrieve(QueryBundle("lake"))
    assert found.node.node_id == "lake"


def test_what_cannot_be_used_is_reported(index: Index, tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError):
        TriplebeamRetriever(tmp_path)
    with pytest.raises(BadInputError, match="k is 0"):
        TriplebeamRetriever(index, similarity_top_k=0).retrieve("lake")
    with pytest.raises(BadInputError, match="did you mean 'hybrid'"):
        TriplebeamRetriever(index, "hybird").retrieve("lake")


def test_asynchronously_it_searches_in_a_thread(index: Index) -> None:
    watched = Watched(index)
    found = asyncio.run(TriplebeamRetriever(index, watched).aretrieve("Great Lakes"))
    assert found[0].node.node_id == "lake"
    assert watched.threads != [threading.get_ident()]


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
