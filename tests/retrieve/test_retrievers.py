"""Retrievers over random little collections, many queries at once, and reciprocal rank fusion by exact fractions."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.reciprocal_rank_fusion import rrf, rrf_scores
from triplebeam.assemble import Index, open_index
from triplebeam.embed.embedder import Embedder
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.arrays.rows import quantize
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.vectors import VectorIndex, write_vectors
from triplebeam.passage import Document
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.bases import BM25, Dense, Hybrid, in_turn, reciprocal_rank_fusion
from triplebeam.retrieve.retriever import BATCH, retrieve_many
from triplebeam.retrieve.scores import rank_passages
from triplebeam.settings import Settings
from triplebeam.triple import Triple

BASES = ("bm25", "dense", "hybrid", "hybrid@triples")
METHODS = (*BASES, "hybrid+naive_ge[width=2]", "bm25+naive_ge[scorer=pooled,length=3]")
BASE_DEPTH = 15

# Few words, so that passages share them, tie, and repeat each other.
phrases = st.lists(st.sampled_from(["lake", "Hell", "film", "river", "Cahn", "1963"]), min_size=1, max_size=4).map(
    " ".join
)
triples = st.lists(st.tuples(phrases, phrases, phrases).map(list), max_size=4)
corpora = st.dictionaries(st.text("abXY", min_size=1, max_size=3), st.tuples(phrases, triples), min_size=1, max_size=20)


@contextmanager
def collection(corpus: dict[str, tuple[str, list[list[str]]]], embedder: Embedder) -> Iterator[Index]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [json.dumps({"passage_id": id_, "triples": given_triples}) for id_, (_, given_triples) in corpus.items()]
        (folder / "triples.jsonl").write_text("\n".join(rows), encoding="utf-8")
        builder = IndexBuilder(
            folder=folder / "index", embedder=embedder, extractor=TriplesFile(folder / "triples.jsonl")
        )
        builder.build(Document(id=id_, text=text, is_passage=True) for id_, (text, _) in corpus.items())
        yield open_index(folder / "index", embedder=embedder, settings=Settings())


@settings(max_examples=15, deadline=None)
@given(corpora, phrases)
def test_an_index_opened_again_answers_as_before_and_fewer_are_the_head_of_more(
    words: Embedder, corpus: dict[str, tuple[str, list[list[str]]]], query: str
) -> None:
    """Up to the depth of the base; also where passages tie, since one rule settles every tie."""
    with collection(corpus, words) as first:
        second = open_index(first.location, embedder=words, settings=Settings())
        for method in METHODS:
            longest = first.search(query, method=method, k=BASE_DEPTH)
            assert longest == second.search(query, method=method, k=BASE_DEPTH)
            assert set(longest.ids) <= set(corpus)
            for k in (1, 2, 3, 5, 8):
                assert tuple(first.search(query, method=method, k=k)) == longest[:k]


def test_ties_at_the_border_go_by_id_and_not_by_row(tmp_path: Path, words: Embedder) -> None:
    documents = [Document(id=id_, text="the same words", is_passage=True) for id_ in "dbca"]
    IndexBuilder(folder=tmp_path, embedder=words).build(documents)
    index = Snapshot.open(tmp_path)
    for retriever in (BM25.over_passages(index), Dense.over_passages(index, words)):
        assert retriever.retrieve("same", 2).ids == ["a", "b"]


def test_a_passage_has_the_score_of_its_best_triple(world: Snapshot, words: Embedder) -> None:
    ranking = Dense.over_triples(world, words).retrieve("Edward Cahn died on 25 August 1963", 5)
    assert ranking[0].passage_id == "director"
    assert ranking[0].score > 0.999
    assert len(ranking) == 5  # of nine triples; "other" has none
    assert BM25.over_passages(world).retrieve("xylophone") == Ranking(), "words that nobody uses find nothing"
    assert rank_passages(Mock(side_effect=AssertionError), lambda rows: [], 0) == Ranking(), "nothing is searched"


class OneByOne:
    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        self.asked.append((query, k))
        return Ranking(Hit(f"{query} {rank}", 1 / rank) for rank in range(1, 51)).top(k)


class Batches(OneByOne):
    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def retrieve_many(self, queries: Sequence[str], k: int = 10) -> list[Ranking]:
        self.sizes.append(len(queries))
        return [self.retrieve(query, k) for query in queries]


QUERIES = [f"query {number}" for number in range(2 * BATCH + 3)]


def test_batches_are_cut_and_stay_in_order_and_what_has_none_goes_one_by_one() -> None:
    retriever, alone = Batches(), retrieve_many(OneByOne(), QUERIES, 2)
    assert retrieve_many(retriever, QUERIES, 2) == alone
    assert [ranking.ids[0] for ranking in alone] == [f"{query} 1" for query in QUERIES]
    assert retriever.sizes == [BATCH, BATCH, 3]


def test_the_queries_of_a_batch_are_encoded_in_one_call(world: Snapshot, words: Embedder) -> None:
    calls: list[int] = []

    class Counting:
        name, fingerprint, dimension = words.name, words.fingerprint, words.dimension

        def embed(self, texts: Sequence[str], kind: str = "passage") -> object:
            calls.append(len(texts))
            return words.embed(texts)

    dense = Dense.over_passages(world, Counting())  # type: ignore[arg-type]
    retrieve_many(Hybrid(dense, OneByOne()), QUERIES[:5])
    assert calls == [5]


@pytest.mark.parametrize("exact_up_to", [10_000, 100])
def test_many_vectors_find_what_each_finds_alone(exact_up_to: int) -> None:
    """Where all rows are compared, and where one-bit codes choose them."""
    random = np.random.default_rng(0)
    rows = random.standard_normal((600, 32)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    write_vectors(arrays := MemoryArrays(), "vectors", quantize(rows), exact_up_to)
    index, queries = VectorIndex(arrays, "vectors"), random.standard_normal((5, 32)).astype(np.float32)
    for k in (0, 3, 600):
        for (found, cosines), query in zip(index.nearest_many(queries, k), queries, strict=True):
            alone, expected = index.nearest(query, k)
            np.testing.assert_array_equal(found, alone)
            np.testing.assert_allclose(cosines, expected, rtol=1e-5, atol=1e-6)


lists = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=4)


def ranking(ids: list[str]) -> Ranking:
    return Ranking(Hit(id_, 1 / rank) for rank, id_ in enumerate(ids, start=1))


@given(lists, st.sampled_from([0, 1, 60]))
def test_agrees_with_the_formula(ids: list[list[str]], constant: int) -> None:
    """Sums that are equal as fractions, of other terms, may differ in the last bit: then the order is not compared."""
    fused, exact = reciprocal_rank_fusion([ranking(each) for each in ids], constant), rrf_scores(ids, constant)
    assert {hit.passage_id: hit.score for hit in fused} == pytest.approx(
        {d: float(score) for d, score in exact.items()}
    )
    if len(set(exact.values())) == len(exact):
        assert fused.ids == rrf(ids, constant)


@given(lists)
def test_the_order_of_the_lists_does_not_matter(ids: list[list[str]]) -> None:
    rankings = [ranking(each) for each in ids]
    assert reciprocal_rank_fusion(rankings) == reciprocal_rank_fusion(rankings[::-1])


def test_chains_are_kept_once_and_lists_may_be_taken_in_turn() -> None:
    chain = (Triple("a", "b", "c"),)
    one, two = Ranking([Hit("p", 1.0, (chain,))]), Ranking([Hit("p", 0.5, (chain,)), Hit("q", 0.1)])
    assert reciprocal_rank_fusion([one, two])[0].chains == (chain,)
    assert in_turn([["a", "b", "c"], [], ["b", "d"]]) == ["a", "b", "d", "c"]
    assert in_turn([]) == []
