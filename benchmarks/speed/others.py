"""The same work by others: term search, dense search, PageRank and the beam search, each checked against ours."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from speed.clock import seconds
from triplebeam.assemble import Index, context_of
from triplebeam.methods.gear import Pooled
from triplebeam.methods.gear.beam_search import DiverseTripleBeamSearch
from triplebeam.retrieve.bases import BM25, Dense
from triplebeam.retrieve.personalized_pagerank import PersonalizedPageRank, Reset
from triplebeam.text.names import entity_key
from triplebeam.text.terms import query_words, text_words

K = 10


class Compared(NamedTuple):
    """Median seconds of both, and how well they agree."""

    what: str
    ours: float
    theirs: float
    agreement: str


def compare(collection: Index, questions: list[str]) -> Iterator[Compared]:
    """Every comparison; the slow ones over a few questions."""
    yield _bm25(collection, questions)
    vectors = context_of(collection).embedder.embed(questions, kind="query")
    passages, triples = context_of(collection).snapshot.passage_vectors.rows, context_of(collection).snapshot.triples
    dense = Dense.over_passages(context_of(collection).snapshot, context_of(collection).embedder)
    yield _dense("NumPy, passages", np.array(passages), lambda q, v: dense.retrieve(q, K), questions, vectors)
    everything = triples.vectors(np.arange(len(triples)))
    yield _dense("NumPy, triples", everything, lambda q, v: triples.search(v, K), questions, vectors)
    yield from _pagerank(collection, questions[:3])
    yield _beam_search(collection, questions[:5])


def _bm25(collection: Index, questions: list[str]) -> Compared:
    import bm25s

    passages = [collection.passages.at(row) for row in range(len(collection.passages))]
    theirs = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    theirs.index([text_words(passage.term_text) for passage in passages], show_progress=False)
    ours = BM25.over_passages(context_of(collection).snapshot)

    def search(question: str) -> list[str]:
        rows, _ = theirs.retrieve([query_words(question)], k=min(K, len(passages)), show_progress=False)
        return [passages[row].id for row in rows[0].tolist()]

    shared = [len(set(search(q)) & set(ours.retrieve(q, K).ids)) / K for q in questions]
    return Compared(
        "bm25s",
        median(seconds(lambda q=q: ours.retrieve(q, K)) for q in questions),
        median(seconds(lambda q=q: search(q)) for q in questions),
        f"{100 * sum(shared) / len(shared):.0f} % of the best {K} the same",
    )


def _dense(
    what: str, rows: NDArray[np.float32], ours: Any, questions: list[str], vectors: NDArray[np.float32]
) -> Compared:
    def search(vector: NDArray[np.float32]) -> NDArray[np.int64]:
        cosines = rows @ vector
        best = np.argpartition(-cosines, min(K, len(rows) - 1))[:K]
        return best[np.argsort(-cosines[best])]

    asked = list(zip(questions, vectors, strict=True))
    return Compared(
        what,
        median(seconds(lambda q=q, v=v: ours(q, v)) for q, v in asked),
        median(seconds(lambda v=v: search(v)) for _, v in asked),
        "exact, too",
    )


@contextmanager
def _recorded_walks() -> Iterator[list[tuple[PersonalizedPageRank, Reset]]]:
    """Return the walks that are made while this lasts, with what they are reset to."""
    original, walks = PersonalizedPageRank.probabilities, []

    def record(self: PersonalizedPageRank, resets: Sequence[Reset]) -> NDArray[Any]:
        walks.extend((self, reset) for reset in resets)
        return original(self, resets)

    PersonalizedPageRank.probabilities = record  # type: ignore[method-assign]
    try:
        yield walks
    finally:
        PersonalizedPageRank.probabilities = original  # type: ignore[method-assign]


def _pagerank(collection: Index, questions: list[str]) -> Iterator[Compared]:
    import networkx
    from scipy.sparse import csr_matrix
    from sknetwork.ranking import PageRank

    retriever = collection.retriever("hipporag2")
    with _recorded_walks() as walks:
        for question in questions:
            retriever.retrieve(question)
    walk = replace(walks[0][0], wanted_from=0)
    # scikit-network has another idea of a node without edges, so nothing is reset to one.
    joined = np.asarray(walk.weights.sum(axis=0)) > 0
    resets = []
    for _, (nodes, weights) in walks:
        resets.append(np.zeros(len(joined)))
        resets[-1][nodes] = weights * joined[nodes]
    graph, matrix = networkx.from_scipy_sparse_array(walk.weights), csr_matrix(walk.weights)
    ranking = PageRank(damping_factor=walk.damping, solver="piteration", n_iter=100, tol=walk.tolerance)
    tolerance = walk.tolerance / len(joined)  # networkx takes it times the nodes

    def by_networkx(reset: NDArray[np.float64]) -> NDArray[np.float64]:
        wanted = dict(enumerate(reset.tolist()))
        return np.array(list(networkx.pagerank(graph, walk.damping, wanted, tol=tolerance).values()))

    def by_scikit_network(reset: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = ranking.fit_predict(matrix, weights=reset)
        return found

    def by_ours(reset: NDArray[np.float64]) -> NDArray[Any]:
        nodes = np.flatnonzero(reset)
        return walk.probabilities([Reset(nodes, reset[nodes])])[:, 0]

    engines = {"networkx": by_networkx, "scikit-network": by_scikit_network}
    for name, engine in engines.items():
        theirs = median(seconds(lambda reset=reset, engine=engine: engine(reset)) for reset in resets)
        difference = np.abs(engine(resets[0]) - by_ours(resets[0])).sum()
        ours = median(seconds(lambda reset=reset: by_ours(reset)) for reset in resets)
        agreement = f"sum of absolute differences {difference:.0e}"
        yield Compared(f"{name}'s PageRank", ours, theirs, agreement)


def _beam_search(collection: Index, questions: list[str]) -> Compared:
    from oracles.diverse_triple_beam_search import diverse_triple_beam_search

    store, width = context_of(collection).triples, 10
    scorer = Pooled(triples=store, embedder=context_of(collection).embedder)
    search = DiverseTripleBeamSearch(triples=store, scorer=scorer, width=width)
    vectors = store.vectors(np.arange(len(store)))
    of_entity: dict[str, list[int]] = defaultdict(list)
    ends = [{entity_key(t.subject): None, entity_key(t.object): None} for t in map(store.triple, range(len(store)))]
    for triple_id, keys in enumerate(ends):
        for key in keys:
            of_entity[key].append(triple_id)

    def plainly(query: NDArray[np.float32], initial: list[int]) -> list[tuple[int, ...]]:
        def score(chain: tuple[int, ...]) -> float:
            mean = vectors[list(chain)].mean(axis=0)
            return float(mean @ query / np.linalg.norm(mean))

        def neighbours(triple_id: int) -> list[int]:
            near = sorted({other for key in ends[triple_id] for other in of_entity[key]} - {triple_id})
            return sorted(near, key=lambda other: -float(vectors[other] @ query))[:100]

        found = diverse_triple_beam_search(initial, width, 2, 2 * width, score, neighbours)
        return [chain for _, chain in found]

    base = collection.retriever("hybrid")
    starts = [
        (query, store.triples_of(base.retrieve(question, 15).ids))
        for question, query in zip(
            questions, context_of(collection).embedder.embed(questions, kind="query"), strict=True
        )
    ]
    same = [
        len(set(plainly(q, s.tolist())) & set(map(tuple, search.search(q, s).chains.tolist()))) / width
        for q, s in starts
    ]
    return Compared(
        "Algorithm 1 in plain Python",
        median(seconds(lambda q=q, s=s: search.search(q, s)) for q, s in starts),
        median(seconds(lambda q=q, s=s: plainly(q, s.tolist())) for q, s in starts),
        f"{100 * sum(same) / len(same):.0f} % of the chains the same",
    )
