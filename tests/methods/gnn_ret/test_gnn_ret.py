"""GNN-Ret: Eq. 1, 2 and 4 against their transcription; what the graph adds to a base, the budget, the reasons."""

from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import gnn_ret as oracle
from small_graphs import edge_lists, graph_of, neighbours_of
from trials import examples
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.folder.passage_graph import (
    KINDS,
    PAPER_KINDS,
    EdgeKind,
    PassageGraph,
    build_passage_graph,
    document_labels,
    triple_keywords,
)
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gnn_ret.propagate import Message, MessagePassing, distances_of, integrate_steps, nearest
from triplebeam.methods.gnn_ret.retrieve import GNNRet, RecurrentGNNRet
from triplebeam.methods.shared.reading import retrieve_within, within_tokens
from triplebeam.passage import Passage
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.bases import BM25, Dense, ScaledHybrid
from triplebeam.retrieve.retriever import Retriever, ScoringRetriever
from triplebeam.retrieve.scores import min_max
from triplebeam.testing.contracts import RetrieverContract
from triplebeam.triple import Triple

MESSAGES = {"min": min, "mean": fmean}


@settings(max_examples=examples(200), deadline=None)
@given(
    data=st.data(),
    nodes=st.integers(1, 12),
    alpha=st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), max_size=3),
    relevant=st.integers(1, 14),
    message=st.sampled_from(["min", "mean"]),
    kinds=st.sampled_from([("structural",), ("keyword",), ("links",), PAPER_KINDS, KINDS, ()]),
)
def test_agrees_with_the_paper(
    data: st.DataObject, nodes: int, alpha: list[float], relevant: int, message: Message, kinds: tuple[EdgeKind, ...]
) -> None:
    edges: dict[EdgeKind, list[tuple[int, int]]] = {kind: data.draw(edge_lists(nodes)) for kind in KINDS}
    # Coarse, so that ties happen.
    distances = data.draw(st.lists(st.integers(0, 8).map(lambda n: n / 8), min_size=nodes, max_size=nodes))
    layers = oracle.gnn(distances, neighbours_of(nodes, edges, kinds), alpha, relevant, MESSAGES[message])
    passing = MessagePassing(graph=graph_of(nodes, *edges.values()), relevant=relevant, message=message, edges=kinds)
    propagated = passing.propagate(np.array(distances), alpha)
    assert len(propagated.hidden) == len(layers)
    for hidden, layer in zip(propagated.hidden, layers, strict=True):
        assert hidden == pytest.approx(layer.h)
    for sent, layer in zip(propagated.messages, layers[1:], strict=True):
        assert set(sent.receivers.tolist()) == layer.S_K
        assert [int(sent.senders[start]) for start in sent.starts] == [layer.sender[i] for i in sent.receivers]


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(0, 1000), st.integers(1, 4), st.floats(0, 1))
def test_steps_are_mixed_as_in_eq_4(seed: int, count: int, beta: float) -> None:
    steps = np.random.default_rng(seed).random((count, 5))
    integrated = None
    for step, expected in zip(steps, oracle.rgnn(steps.tolist(), beta), strict=True):
        integrated = integrate_steps(step, integrated, beta)
        assert integrated == pytest.approx(expected)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.integers(0, 5).map(float), max_size=12), st.integers(0, 15))
def test_the_nearest_come_first_ties_by_row(distances: list[float], k: int) -> None:
    assert nearest(np.array(distances), k).tolist() == oracle.smallest(distances, k)


def test_scores_become_distances() -> None:
    scores = np.array([3.0, 1.0, 2.0], np.float32)
    assert distances_of(scores, "scaled").tolist() == [0.0, 1.0, 0.5]
    assert distances_of(scores / 4, "cosine").tolist() == [0.25, 0.75, 0.5]
    assert distances_of(np.full(3, 7, np.float32), "scaled").tolist() == [1.0, 1.0, 1.0]


@settings(max_examples=examples(50), deadline=None)
@given(edges=edge_lists(8), seed=st.integers(0, 1000), alpha=st.lists(st.floats(0, 1), max_size=3))
def test_scale_does_not_matter_to_the_order(edges: list[tuple[int, int]], seed: int, alpha: list[float]) -> None:
    distances = np.random.default_rng(seed).random(8)
    passing = MessagePassing(graph=graph_of(8, [], edges), relevant=3)
    plain, scaled = (passing.propagate(d, alpha).distances for d in (distances, 3 * distances + 1))
    assert scaled == pytest.approx(3 * plain + 1)


QUERY = "Laughter in Hell is a drama film directed by"


@pytest.fixture(scope="module")
def graph(world: Snapshot) -> PassageGraph:
    folder = world.folder / "generations" / world.manifest.generation
    labels = document_labels(list(world.passages.documents), list(world.passages.titles))
    pairs = triple_keywords(np.load(folder / "triple_entities.npy"), np.load(folder / "triple_passages.npy"))
    return build_passage_graph(labels, [passage.position for passage in world.passages], *pairs)


@pytest.fixture(params=["dense", "bm25", "hybrid"])
def base(request: pytest.FixtureRequest, world: Snapshot, words: Embedder) -> ScoringRetriever:
    bm25, dense = BM25.over_passages(world), Dense.over_passages(world, words)
    hybrid = ScaledHybrid(sparse=bm25, dense=dense, passage_of=world.passages.ids)
    return {"dense": dense, "bm25": bm25, "hybrid": hybrid}[request.param]


@pytest.fixture
def gnn_ret(base: ScoringRetriever, graph: PassageGraph, world: Snapshot) -> GNNRet:
    return GNNRet(base=base, graph=graph, passages=world.passages, distance="scaled", relevant=2)


class TestGNNRet(RetrieverContract):
    @pytest.fixture(params=[(0.5,), (0.5, 0.5, 0.5), ()])
    def retriever(self, request: pytest.FixtureRequest, gnn_ret: GNNRet, world: Snapshot) -> Retriever:
        return replace(gnn_ret, alpha=request.param, triples=world.triples)


class TestScaledHybrid(RetrieverContract):
    @pytest.fixture
    def retriever(self, world: Snapshot, words: Embedder) -> Retriever:
        bm25, dense = BM25.over_passages(world), Dense.over_passages(world, words)
        return ScaledHybrid(sparse=bm25, dense=dense, passage_of=world.passages.ids)


def test_scores_agree_with_the_ranking(base: ScoringRetriever, world: Snapshot) -> None:
    scores = base.scores(QUERY)
    assert (scores.dtype, len(scores)) == (np.float32, len(world.passages))
    for hit in base.retrieve(QUERY, 4):
        assert scores[world.passages.row(hit.passage_id)] == pytest.approx(hit.score)


def test_over_triples_there_is_no_score_for_every_passage(world: Snapshot, words: Embedder) -> None:
    for retriever in (BM25.over_triples(world), Dense.over_triples(world, words)):
        with pytest.raises(BadInputError, match="over triples has no score for every passage"):
            retriever.scores(QUERY)


@pytest.fixture
def over_bm25(graph: PassageGraph, world: Snapshot) -> GNNRet:
    base = BM25.over_passages(world)
    return GNNRet(base=base, graph=graph, passages=world.passages, relevant=1, distance="scaled", triples=world.triples)


def test_the_director_comes_through_the_film(over_bm25: GNNRet) -> None:
    assert "director" not in over_bm25.base.retrieve("Laughter drama", 2).ids
    assert over_bm25.retrieve("Laughter drama", 2).ids[0] == "film"
    assert "director" in over_bm25.retrieve("Laughter drama", 3).ids
    structural = replace(over_bm25, edges=("structural",))  # of which this world has none
    assert structural.retrieve("Laughter drama").ids == replace(over_bm25, alpha=()).retrieve("Laughter drama").ids


def test_a_hit_shows_the_keyword_it_came_by(over_bm25: GNNRet) -> None:
    chains = {hit.passage_id: hit.chains for hit in over_bm25.retrieve("Laughter drama")}
    directed = Triple("Laughter in Hell", "directed by", "Edward Cahn")
    assert chains["director"] == ((directed, Triple("Edward Cahn", "was", "film director")),)
    assert chains["film"] == chains["lake"] == ()


def test_a_keyword_is_the_reason_only_where_it_made_the_edge(over_bm25: GNNRet, world: Snapshot) -> None:
    """Film and director share an entity; here they are neighbours in a document and nothing else."""
    film, director = world.passages.row("film"), world.passages.row("director")
    gnn_ret = replace(over_bm25, graph=graph_of(len(world.passages), [(film, director)], []))
    ranking = gnn_ret.retrieve("Laughter drama")
    assert "director" in ranking.top(2).ids
    assert not any(hit.chains for hit in ranking)
    both = graph_of(len(world.passages), [(film, director)], [(film, director)])
    assert any(hit.chains for hit in replace(gnn_ret, graph=both).retrieve("Laughter drama"))
    assert not any(hit.chains for hit in replace(gnn_ret, graph=both, edges=("structural",)).retrieve("Laughter drama"))


def test_what_cannot_be_is_refused(gnn_ret: GNNRet, graph: PassageGraph) -> None:
    for wrong, message in (({"alpha": (2.0,)}, "alpha must be between"), ({"relevant": 0}, "relevant is 0")):
        with pytest.raises(BadInputError, match=message):
            replace(gnn_ret, **wrong)
    with pytest.raises(BadInputError, match=r"beta is 1\.5: it must lie between 0 and 1"):
        RecurrentGNNRet(gnn_ret=gnn_ret, beta=1.5)
    nothing = np.zeros(0, np.int64)
    with pytest.raises(BadInputError, match="1 passages and the index 6"):
        replace(gnn_ret, graph=build_passage_graph(["a"], [0], nothing, nothing))


def test_as_many_passages_as_fit(gnn_ret: GNNRet, world: Snapshot) -> None:
    def length(text: str) -> int:
        return len(text.split())

    ranking = gnn_ret.retrieve(QUERY, 6)
    lengths = [length(world.passages[id_].searchable) for id_ in ranking.ids]
    for number in range(1, 7):
        tokens = sum(lengths[:number])
        assert retrieve_within(gnn_ret, QUERY, world.passages, tokens, length) == ranking.top(number)
        assert within_tokens(ranking, world.passages, tokens + 1, length) == ranking.top(number)
    assert retrieve_within(gnn_ret, QUERY, world.passages) == ranking
    assert within_tokens(ranking, world.passages, 1, length) == ranking.top(1)  # the best in any case


def test_a_budget_asks_for_more_until_it_is_full() -> None:
    asked: list[int] = []

    class Counting:
        def retrieve(self, query: str, k: int = 10) -> Ranking:
            asked.append(k)
            return Ranking(Hit(f"{row:03d}", 1.0) for row in range(k))

    texts = {f"{row:03d}": Passage(f"{row:03d}", "word") for row in range(64)}
    assert len(retrieve_within(Counting(), QUERY, texts, 50, lambda text: 1)) == 50
    assert asked == [16, 32, 64]


def test_equal_scores_are_scaled_to_nothing() -> None:
    assert min_max(np.full(3, 2.5, np.float32)).tolist() == [0, 0, 0]
    assert min_max(np.zeros(0, np.float32)).tolist() == []
    assert min_max(np.array([2, 4, 3], np.float32)).tolist() == [0, 1, 0.5]


LAKE = "On which lake is Milwaukee?"


class TestRecurrence(RetrieverContract):
    """RGNN-Ret's retriever: what a query hears of those before it."""

    @pytest.fixture
    def retriever(self, over_bm25: GNNRet) -> Retriever:
        return RecurrentGNNRet(gnn_ret=over_bm25)

    def test_alone_it_is_gnn_ret(self, over_bm25: GNNRet) -> None:
        alone = RecurrentGNNRet(gnn_ret=over_bm25)
        assert any(hit.chains for hit in alone.retrieve("Laughter drama")), "with GNN-Ret's reasons"
        for query in ("Laughter drama", LAKE, "Laughter drama"):
            assert alone.retrieve(query, 4) == over_bm25.retrieve(query, 4)

    def test_the_same_query_again_is_the_same_step(self, over_bm25: GNNRet) -> None:
        steps = RecurrentGNNRet(gnn_ret=over_bm25, beta=0.5).begin()
        steps.retrieve("Laughter drama")
        assert steps.retrieve(LAKE, 6).top(3) == steps.retrieve(LAKE, 3) == steps.retrieve(LAKE, 6).top(3)

    def test_questions_do_not_hear_of_each_other(self, over_bm25: GNNRet) -> None:
        recurrent = RecurrentGNNRet(gnn_ret=over_bm25, beta=0.5)
        one, other = recurrent.begin(), recurrent.begin()
        one.retrieve("Laughter drama")
        assert other.retrieve(LAKE).ids == over_bm25.retrieve(LAKE).ids
        assert one.retrieve(LAKE).ids != over_bm25.retrieve(LAKE).ids
