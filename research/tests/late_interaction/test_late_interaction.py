"""Late interaction: MaxSim against loops, and what every retriever keeps."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from max_sim import max_sim
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot, view
from triplebeam.passage import Document
from triplebeam.retrieve.bases import BM25, Dense, Hybrid
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts import RetrieverContract
from triplebeam_research.late_interaction import LateInteraction, load_token_encoder
from word_tokens import WordTokens

ALL = 1 << 20
VOCABULARY = [f"word{number}" for number in range(60)]
queries = st.lists(st.sampled_from([*VOCABULARY, "unknown"]), min_size=1, max_size=8).map(" ".join)


def over(index: Snapshot, words: Embedder, candidates: int = 100) -> LateInteraction:
    base = Hybrid(BM25.over_passages(index), Dense.over_passages(index, words))
    return LateInteraction(base=base, encoder=WordTokens(), passages=index.passages, candidates=candidates)


@pytest.fixture(scope="module")
def random_index(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> Snapshot:
    """Return a hundred passages of one to thirty words."""
    folder = tmp_path_factory.mktemp("late") / "random.index"
    random = np.random.default_rng(5)
    texts = [" ".join(random.choice(VOCABULARY, random.integers(1, 31))) for _ in range(100)]
    documents = [Document(id=f"{number:03d}", text=text, is_passage=True) for number, text in enumerate(texts)]
    IndexBuilder(folder=folder, embedder=words).build(documents)
    return Snapshot.open(folder)


@settings(max_examples=10, deadline=None)
@given(query=queries)
def test_it_is_max_sim(random_index: Snapshot, words: Embedder, query: str) -> None:
    """With as many candidates as passages, every passage has the score of Eq. 3."""
    encoder = WordTokens()
    asked = encoder.encode([query], "query").vectors.tolist()
    ranking = over(random_index, words, ALL).retrieve(query, ALL)
    assert len(ranking) == 100
    for hit in ranking[::11]:
        passage = encoder.encode([random_index.passages[hit.passage_id].searchable]).vectors.tolist()
        assert hit.score == pytest.approx(max_sim(asked, passage), abs=1e-4)


def test_candidates_are_those_of_the_base(random_index: Snapshot, words: Embedder) -> None:
    few = over(random_index, words, 10)
    found = few.retrieve("word3 word7", 5).ids
    assert set(found) <= set(few.base.retrieve("word3 word7", 10).ids)
    whole = [id_ for id_ in over(random_index, words, ALL).retrieve("word3 word7", ALL).ids if id_ in found]
    assert found == whole


class TestLateInteraction(RetrieverContract):
    @pytest.fixture(params=[10, 256])
    def retriever(self, request: pytest.FixtureRequest, world: Snapshot, words: Embedder) -> Retriever:
        return over(world, words, request.param)


def test_equal_passages_go_by_id(tmp_path: Path, words: Embedder) -> None:
    IndexBuilder(folder=tmp_path, embedder=words).build(
        Document(id=id_, text="the same words", is_passage=True) for id_ in "dbca"
    )
    late = over(Snapshot.open(tmp_path), words)
    with pytest.raises(BadInputError, match="candidates is 0"):
        replace(late, candidates=0)
    assert (late.retrieve("same", 2).ids, late.retrieve("same", 0).ids) == (["a", "b"], [])


def test_a_passage_is_encoded_once(world: Snapshot, words: Embedder) -> None:
    late = over(world, words)
    first = late.retrieve("lake", 3)
    before = len(late.encoder.encoded)  # type: ignore[attr-defined]
    assert late.retrieve("lake", 3) == first
    assert len(late.encoder.encoded) == before + 1, "the query"  # type: ignore[attr-defined]


@pytest.mark.slow
def test_minilm_finds_the_passage(world: Snapshot, home: Path) -> None:
    encoder = load_token_encoder("minilm", home)
    late = LateInteraction(base=BM25.over_passages(world), encoder=encoder, passages=world.passages)
    assert late.retrieve("When did Edward Cahn die?", 1).ids == ["director"]


def test_a_view_scores_its_passages_as_the_whole_index_does(random_index: Snapshot, words: Embedder) -> None:
    some = view(random_index, np.array([3, 7, 8, 20, 41, 59], np.int64))
    for query in ("word3 word7 word9", "word1", "word55 word40 word2 word8"):
        whole = over(random_index, words, ALL).retrieve(query, ALL)
        expected = [(hit.passage_id, hit.score) for hit in whole if hit.passage_id in some.passages]
        found = [(hit.passage_id, hit.score) for hit in over(some, words, ALL).retrieve(query, ALL)]
        assert [id_ for id_, _ in found] == [id_ for id_, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-4)
