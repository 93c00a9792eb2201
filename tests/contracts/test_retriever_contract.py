"""Every retriever there is, held against the contract."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import pytest

from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gear import Cascade, Exact, NaiveGE, Pooled, SyncGE
from triplebeam.methods.gear.beam_search import ChainScorer
from triplebeam.methods.hipporag.hipporag import HippoRAG
from triplebeam.methods.hipporag.hipporag2 import HippoRAG2
from triplebeam.methods.hipporag.query_entities import VerbatimEntities
from triplebeam.methods.shared.facts import Fact
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.bases import BM25, Dense, Hybrid, ScaledHybrid
from triplebeam.retrieve.blend.links import TitleLinks
from triplebeam.retrieve.question_parts import TitleBonus
from triplebeam.retrieve.retriever import Retriever
from triplebeam.retrieve.scores import CachedScores
from triplebeam.testing.contracts import RetrieverContract
from triplebeam.triple import Triple
from triplebeam_research.baselines.simple import TitleLink

Build: TypeAlias = Callable[[Snapshot, Embedder], Retriever]


class ScriptedReader:
    """Always finds the same fact, nearly as it stands in the index."""

    def read(self, question: str, passage_ids: Sequence[str], gist: Sequence[Fact] = ()) -> Sequence[Fact]:
        return [Fact(Triple("Laughter in Hell", "was directed by", "Edward Cahn"))]


class LongestFirst:
    """What a user may bring: a class that has never heard of us, but for the ranking it returns."""

    def __init__(self, index: Snapshot) -> None:
        self._texts = {passage.id: passage.text for passage in index.passages}

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        return Ranking.of(Hit(id_, float(len(text))) for id_, text in self._texts.items()).top(k)


def hybrid(index: Snapshot, words: Embedder) -> Hybrid:
    return Hybrid(BM25.over_passages(index), Dense.over_passages(index, words))


def naive_ge(scorer: Callable[..., ChainScorer]) -> Build:
    return lambda index, words: NaiveGE(
        base=hybrid(index, words),
        triples=index.triples,
        scorer=scorer(triples=index.triples, embedder=words),
        width=3,
        length=3,
    )


def sync_ge(index: Snapshot, words: Embedder) -> Retriever:
    scorer = Cascade(triples=index.triples, embedder=words)
    return SyncGE(base=hybrid(index, words), triples=index.triples, scorer=scorer, reader=ScriptedReader())


def title_bonus(index: Snapshot, words: Embedder) -> Retriever:
    base = ScaledHybrid(
        sparse=BM25.over_passages(index), dense=Dense.over_passages(index, words), passage_of=index.passages.ids
    )
    return TitleBonus(base=CachedScores(base), passages=index.passages)


def title_link(index: Snapshot, words: Embedder) -> Retriever:
    links = TitleLinks(triples=index.triples, graph=index.entities, passages=index.passages)
    return TitleLink(base=Dense.over_passages(index, words), links=links, embedder=words)


def expand_users_own(index: Snapshot, words: Embedder) -> Retriever:
    scorer = Cascade(triples=index.triples, embedder=words)
    return NaiveGE(base=LongestFirst(index), triples=index.triples, scorer=scorer)


RETRIEVERS: Mapping[str, Build] = {
    "bm25": lambda index, _: BM25.over_passages(index),
    "bm25@triples": lambda index, _: BM25.over_triples(index),
    "dense": Dense.over_passages,
    "dense@triples": Dense.over_triples,
    "hybrid": hybrid,
    "hybrid@triples": lambda index, words: Hybrid(BM25.over_triples(index), Dense.over_triples(index, words)),
    "naive_ge exact": naive_ge(Exact),
    "naive_ge pooled": naive_ge(Pooled),
    "naive_ge cascade": naive_ge(Cascade),
    "sync_ge": sync_ge,
    "hipporag": lambda index, words: HippoRAG.over(index, words, VerbatimEntities(index.entities)),
    "hipporag2": HippoRAG2.over,
    "hipporag2 over bm25": lambda index, words: HippoRAG2.over(index, words, base=BM25.over_passages(index)),
    "title bonus": title_bonus,
    "title link": title_link,
    "a user's own": lambda index, _: LongestFirst(index),
    "naive_ge over a user's own": expand_users_own,
}


class TestRetrievers(RetrieverContract):
    queries = ("Who directed Laughter in Hell?", "Lake Michigan", "directed", "lake")

    @pytest.fixture(params=RETRIEVERS)
    def retriever(self, request: pytest.FixtureRequest, world: Snapshot, words: Embedder) -> Retriever:
        return RETRIEVERS[request.param](world, words)


class TestHippoRAGWithoutAnEntity(RetrieverContract):
    """It falls back on dense retrieval."""

    queries = ("nobody at all",)

    @pytest.fixture
    def retriever(self, world: Snapshot, words: Embedder) -> Retriever:
        return RETRIEVERS["hipporag"](world, words)
