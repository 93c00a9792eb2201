"""Both HippoRAGs, held against the retriever's contract."""

import pytest

from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.hipporag.hipporag import HippoRAG
from triplebeam.methods.hipporag.hipporag2 import HippoRAG2
from triplebeam.methods.hipporag.query_entities import VerbatimEntities
from triplebeam.retrieve.bases import BM25, Dense
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts import RetrieverContract


class TestHippoRAG(RetrieverContract):
    queries = ("Who directed Laughter in Hell?", "Lake Michigan", "nobody at all")

    @pytest.fixture
    def retriever(self, world: Snapshot, words: Embedder) -> Retriever:
        return HippoRAG.over(world, words, VerbatimEntities(world.entities))


class TestHippoRAG2(RetrieverContract):
    @pytest.fixture(params=["dense", "bm25"])
    def retriever(self, request: pytest.FixtureRequest, world: Snapshot, words: Embedder) -> Retriever:
        bases = {"dense": Dense.over_passages(world, words), "bm25": BM25.over_passages(world)}
        return HippoRAG2.over(world, words, base=bases[request.param])
