"""Late interaction: MaxSim against loops, pruning against none, and what every retriever keeps."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.max_sim import max_sim
from triplebeam.index.token_vectors import TokenIndexBuilder, TokenVectorIndex

from small_world import world_documents
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, EmbedderMismatchError, IndexMissingError
from triplebeam.index.build import IndexBuilder
from triplebeam.index.snapshot import Snapshot
from triplebeam.index.view import view
from triplebeam.passage import Document
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts import RetrieverContract
from triplebeam_research.late_interaction.retrieve import LateInteraction
from word_tokens import WordTokens

ALL = 1 << 20
VOCABULARY = [f"word{number}" for number in range(60)]
queries = st.lists(st.sampled_from([*VOCABULARY, "unknown"]), min_size=1, max_size=8).map(" ".join)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> Snapshot:
    """The small world with its token vectors."""
    folder = tmp_path_factory.mktemp("late") / "small.index"
    IndexBuilder(folder=folder, embedder=words).build(world_documents())
    TokenIndexBuilder(index=Snapshot.open(folder), encoder=WordTokens(), nbits=4).build()
    return Snapshot.open(folder)


@pytest.fixture(scope="module")
def random_index(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> Snapshot:
    """Three hundred passages of one to thirty words, in eight bits."""
    folder = tmp_path_factory.mktemp("late") / "random.index"
    random = np.random.default_rng(5)
    texts = [" ".join(random.choice(VOCABULARY, random.integers(1, 31))) for _ in range(300)]
    documents = [Document(id=f"{number:03d}", text=text, is_passage=True) for number, text in enumerate(texts)]
    IndexBuilder(folder=folder, embedder=words).build(documents)
    TokenIndexBuilder(index=Snapshot.open(folder), encoder=WordTokens(), nbits=8).build()
    return Snapshot.open(folder)


@settings(max_examples=10, deadline=None)
@given(query=queries)
def test_it_is_max_sim(random_index: Snapshot, query: str) -> None:
    """Exactly over the vectors as they are kept, and nearly over those that were encoded."""
    tokens = TokenVectorIndex.open(random_index.folder)
    encoder = WordTokens()
    vectors = encoder.encode([query], "query").vectors
    rows, scores = tokens.search(vectors, nprobe=ALL, candidates=ALL)
    assert rows.tolist() == list(range(300))
    for row in range(0, 300, 29):
        kept = tokens.vectors(np.arange(tokens.starts[row], tokens.starts[row + 1]))
        assert scores[row] == pytest.approx(max_sim(vectors.tolist(), kept.tolist()), abs=1e-4)
        exact = encoder.encode([random_index.passages.at(row).searchable]).vectors
        assert scores[row] == pytest.approx(max_sim(vectors.tolist(), exact.tolist()), abs=0.05 * len(vectors))


@settings(max_examples=10, deadline=None)
@given(query=queries)
def test_probing_every_centroid_prunes_nothing(random_index: Snapshot, query: str) -> None:
    tokens = TokenVectorIndex.open(random_index.folder)
    vectors = WordTokens().encode([query], "query").vectors
    exhaustive = tokens.max_sim(vectors, np.arange(300))
    rows, scores = tokens.search(vectors, nprobe=len(tokens.codec.centroids), candidates=300)
    assert np.array_equal(scores, exhaustive[rows])
    assert len(rows) == 300


def test_pruning_keeps_the_best(random_index: Snapshot) -> None:
    encoder = WordTokens()
    pruned = LateInteraction.over_passages(random_index, encoder, nprobe=8, candidates=100)
    exhaustive = LateInteraction.over_passages(random_index, encoder, nprobe=ALL, candidates=ALL)
    for number in range(0, 300, 40):
        query = random_index.passages.at(number).text
        expected = exhaustive.retrieve(query, 5)
        assert expected[0].passage_id == f"{number:03d}"  # a passage is nearest to itself
        assert len(set(expected.ids) & set(pruned.retrieve(query, 5).ids)) >= 4


class TestLateInteraction(RetrieverContract):
    @pytest.fixture(params=[(1, 10), (4, 256)])
    def retriever(self, request: pytest.FixtureRequest, small: Snapshot) -> Retriever:
        nprobe, candidates = request.param
        return LateInteraction.over_passages(small, WordTokens(), nprobe=nprobe, candidates=candidates)


def test_equal_passages_go_by_id(tmp_path: Path, words: Embedder) -> None:
    IndexBuilder(folder=tmp_path, embedder=words).build(
        Document(id=id_, text="the same words", is_passage=True) for id_ in "dbca"
    )
    index = Snapshot.open(tmp_path)
    TokenIndexBuilder(index=index, encoder=WordTokens()).build()
    assert LateInteraction.over_passages(index, WordTokens()).retrieve("same", 2).ids == ["a", "b"]


def test_none_wanted_is_none_given(small: Snapshot) -> None:
    assert LateInteraction.over_passages(small, WordTokens()).retrieve("lake", 0) == Ranking()


def test_a_repr_names_the_experiment(small: Snapshot) -> None:
    text = repr(LateInteraction.over_passages(small, WordTokens(), nprobe=8))
    assert text.startswith("LateInteraction(encoder=")
    assert text.endswith("nprobe=8, candidates=256)")


@pytest.mark.parametrize("parameter", ["nprobe", "candidates"])
def test_numbers_that_find_nothing_are_refused(small: Snapshot, parameter: str) -> None:
    open_with: Callable[..., LateInteraction] = LateInteraction.over_passages
    with pytest.raises(BadInputError, match=f"{parameter} is 0"):
        open_with(small, WordTokens(), **{parameter: 0})


def test_without_token_vectors_the_command_is_named(world: Snapshot) -> None:
    with pytest.raises(IndexMissingError, match=r"has no token vectors: make them with `triplebeam late-index .*world"):
        LateInteraction.over_passages(world, WordTokens())


def test_another_encoder_is_refused_when_opened(small: Snapshot) -> None:
    other = WordTokens()
    other.fingerprint = "other"
    with pytest.raises(EmbedderMismatchError, match="fingerprint other"):
        LateInteraction.over_passages(small, other)


@pytest.mark.slow
def test_minilm_finds_the_passage(tmp_path: Path, words: Embedder, home: Path) -> None:
    from triplebeam.embed import load_token_encoder

    IndexBuilder(folder=tmp_path, embedder=words).build(world_documents())
    index, encoder = Snapshot.open(tmp_path), load_token_encoder("minilm", home)
    TokenIndexBuilder(index=index, encoder=encoder).build()
    ranking = LateInteraction.over_passages(index, encoder).retrieve("When did Edward Cahn die?", 1)
    assert ranking.ids == ["director"]


def test_a_view_scores_its_passages_as_the_whole_index_does(tmp_path: Path, words: Embedder) -> None:
    """The centroids are those of all passages; what is found, and its order, is what is left of the whole ranking."""
    random = np.random.default_rng(6)
    documents = [
        Document(id=f"{n:02d}", text=" ".join(random.choice(VOCABULARY, 12)), metadata={"n": str(n)}, is_passage=True)
        for n in range(60)
    ]
    IndexBuilder(folder=tmp_path / "i", embedder=words).build(documents)
    index = Snapshot.open(tmp_path / "i")
    TokenIndexBuilder(index=index, encoder=WordTokens(), nbits=8).build()
    rows = np.array([3, 7, 8, 20, 41, 59], np.int64)
    some = view(index, rows)
    whole = LateInteraction.over_passages(index, WordTokens(), nprobe=ALL, candidates=ALL)
    filtered = LateInteraction.over_passages(some, WordTokens(), nprobe=ALL, candidates=ALL)
    for query in ("word3 word7 word9", "word1", "word55 word40 word2 word8"):
        expected = [hit for hit in whole.retrieve(query, 60) if hit.passage_id in some.passages]
        assert list(filtered.retrieve(query, 60)) == expected
    narrow = LateInteraction.over_passages(some, WordTokens(), nprobe=1, candidates=2)
    assert set(narrow.retrieve("word3 word7", 6).ids) <= {"03", "07", "08", "20", "41", "59"}
    assert len(narrow.retrieve("word3", 1)) == 1
