"""Every retriever there is, held against the contract."""

from collections.abc import Sequence

import pytest

from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gear import Cascade, Exact, NaiveGE, Pooled, SyncGE
from triplebeam.methods.gear.beam_search import ChainScorer
from triplebeam.methods.shared.facts import Fact
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.bases import BM25, Dense, Hybrid
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts import RetrieverContract
from triplebeam.triple import Triple


def hybrid(index: Snapshot, embedder: Embedder, over: str = "passages") -> Hybrid:
    if over == "triples":
        return Hybrid(BM25.over_triples(index), Dense.over_triples(index, embedder))
    return Hybrid(BM25.over_passages(index), Dense.over_passages(index, embedder))


class TestBM25(RetrieverContract):
    queries = ("directed", "lake", "Laughter in Hell")

    @pytest.fixture(params=["passages", "triples"])
    def retriever(self, request: pytest.FixtureRequest, world: Snapshot) -> Retriever:
        return BM25.over_triples(world) if request.param == "triples" else BM25.over_passages(world)


class TestDense(RetrieverContract):
    @pytest.fixture(params=["passages", "triples"])
    def retriever(self, request: pytest.FixtureRequest, world: Snapshot, words: Embedder) -> Retriever:
        return Dense.over_triples(world, words) if request.param == "triples" else Dense.over_passages(world, words)


class TestHybrid(RetrieverContract):
    @pytest.fixture(params=["passages", "triples"])
    def retriever(self, request: pytest.FixtureRequest, world: Snapshot, words: Embedder) -> Retriever:
        return hybrid(world, words, request.param)


class TestNaiveGE(RetrieverContract):
    @pytest.fixture(params=[Exact, Pooled, Cascade])
    def retriever(self, request: pytest.FixtureRequest, world: Snapshot, words: Embedder) -> Retriever:
        scorer: ChainScorer = request.param(triples=world.triples, embedder=words)
        return NaiveGE(base=hybrid(world, words), triples=world.triples, scorer=scorer, width=3, length=3)


class ScriptedReader:
    """Always finds the same fact, nearly as it stands in the index."""

    def read(
        self, question: str, passage_ids: Sequence[str], gist: Sequence[Fact] = (), searched: str = ""
    ) -> Sequence[Fact]:
        return [Fact(Triple("Laughter in Hell", "was directed by", "Edward Cahn"))]


class TestSyncGE(RetrieverContract):
    @pytest.fixture
    def retriever(self, world: Snapshot, words: Embedder) -> Retriever:
        scorer = Cascade(triples=world.triples, embedder=words)
        return SyncGE(base=hybrid(world, words), triples=world.triples, scorer=scorer, reader=ScriptedReader())


class LongestFirst:
    """What a user may bring: a class that has never heard of us, but for the ranking it returns."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        return Ranking.of(Hit(id_, float(len(text))) for id_, text in self._texts.items()).top(k)


@pytest.fixture
def longest_first(world: Snapshot) -> LongestFirst:
    return LongestFirst(
        {passage.id: passage.text for passage in map(world.passages.read_row, range(len(world.passages)))}
    )


class TestUsersOwn(RetrieverContract):
    @pytest.fixture
    def retriever(self, longest_first: LongestFirst) -> Retriever:
        return longest_first


class TestNaiveGEOverUsersOwn(RetrieverContract):
    @pytest.fixture
    def retriever(self, longest_first: LongestFirst, world: Snapshot, words: Embedder) -> Retriever:
        return NaiveGE(base=longest_first, triples=world.triples, scorer=Cascade(triples=world.triples, embedder=words))
