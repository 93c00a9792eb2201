"""Every retriever there is, held against the contract."""

from collections.abc import Sequence

import pytest

from scripted_loops import reply
from triplebeam.assemble import Context, IndexReader
from triplebeam.embed.embedder import Embedder
from triplebeam.generate.language_model import Completion, Prompt
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.hipporag.hipporag2 import HippoRAG2
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.bases import BM25
from triplebeam.retrieve.retriever import Retriever
from triplebeam.settings import Settings
from triplebeam.testing.contracts import RetrieverContract

METHODS = (
    "blend",
    *(f"{base}{over}" for base in ("bm25", "dense", "hybrid") for over in ("", "@triples")),
    *(f"hybrid+naive_ge[scorer={scorer},width=3,length=3]" for scorer in ("exact", "pooled", "cascade")),
    "hybrid+sync_ge",
    "hipporag[entities=verbatim]",
    "hipporag2",
    "scaled_hybrid[title_bonus=1.0]",
    "title_link",
)


class FactReader:
    """A model that always finds the same fact, nearly as it stands in the index."""

    name = "reader"

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [reply(facts=[["Laughter in Hell", "was directed by", "Edward Cahn"]]) for _ in prompts]


class LongestFirst:
    """What a user may bring: a class that has never heard of us, but for the ranking it returns."""

    def __init__(self, index: Snapshot) -> None:
        self._texts = {passage.id: passage.text for passage in index.passages}

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        return Ranking.of(Hit(id_, float(len(text))) for id_, text in self._texts.items()).top(k)


@pytest.fixture
def index(world: Snapshot, words: Embedder) -> IndexReader:
    return IndexReader(Context(world, Settings(model=None), words, FactReader()))


class TestRetrievers(RetrieverContract):
    queries = ("Who directed Laughter in Hell?", "Lake Michigan", "directed", "lake")

    @pytest.fixture(params=METHODS)
    def retriever(self, request: pytest.FixtureRequest, index: IndexReader) -> Retriever:
        return index.retriever(request.param)


class TestUsersOwn(RetrieverContract):
    @pytest.fixture(params=["alone", "expanded", "hipporag2 over bm25"])
    def retriever(
        self, request: pytest.FixtureRequest, index: IndexReader, world: Snapshot, words: Embedder
    ) -> Retriever:
        if request.param == "hipporag2 over bm25":
            return HippoRAG2.over(world, words, base=BM25.over_passages(world))
        own = LongestFirst(world)
        return own if request.param == "alone" else index.expand(own)


class TestHippoRAGWithoutAnEntity(RetrieverContract):
    """It falls back on dense retrieval."""

    queries = ("nobody at all",)

    @pytest.fixture
    def retriever(self, index: IndexReader) -> Retriever:
        return index.retriever("hipporag[entities=verbatim]")
