"""The store of triples and the scorers over it, held against their contracts."""

from pathlib import Path

import pytest

from triplebeam.embed.embedder import Embedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.source import TripleStore
from triplebeam.methods.gear import Cascade, Exact, Pooled
from triplebeam.methods.gear.beam_search import ChainScorer
from triplebeam.passage import Document
from triplebeam.testing.contracts import ChainScorerContract, TripleStoreContract


@pytest.fixture
def passage_ids(world: Snapshot) -> list[str]:
    return world.passages.ids(range(len(world.passages)))


@pytest.fixture
def store(world: Snapshot) -> TripleStore:
    return world.triples


@pytest.fixture
def embedder(words: Embedder) -> Embedder:
    return words


class TestTripleGraph(TripleStoreContract):
    """The index on disk."""


class TestEmptyTripleGraph(TripleStoreContract):
    """An index that was built without an extractor."""

    @pytest.fixture
    def store(self, tmp_path: Path, words: Embedder) -> TripleStore:
        IndexBuilder(folder=tmp_path, embedder=words).build(
            [Document(id="a", text="one"), Document(id="b", text="two")]
        )
        return Snapshot.open(tmp_path).triples

    @pytest.fixture
    def passage_ids(self) -> list[str]:
        return ["a#0", "b#0"]


class TestScorers(ChainScorerContract):
    @pytest.fixture(params=[Exact, Pooled, Cascade])
    def scorer(self, request: pytest.FixtureRequest, store: TripleStore, words: Embedder) -> ChainScorer:
        made: ChainScorer = request.param(triples=store, embedder=words)
        return made


class TestShortCascade(ChainScorerContract):
    @pytest.fixture
    def scorer(self, store: TripleStore, words: Embedder) -> ChainScorer:
        return Cascade(triples=store, embedder=words, shortlist=1)
