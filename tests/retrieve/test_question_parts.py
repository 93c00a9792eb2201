"""Parts of a question: titles it names, clauses it is cut into, and scores that two parts of a blend share."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from small_world import WordEmbedder
from triplebeam.embed.embedder import CachedEmbedder, Embedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bases import BM25, Dense, ScaledHybrid
from triplebeam.retrieve.question_parts import Clauses, TitleBonus, clauses
from triplebeam.retrieve.scores import CachedScores

PLANETS = {
    "god": ("Mercury (mythology)", "A god of trade and travellers."),
    "planet": ("Mercury (planet)", "The smallest planet, next to the Sun."),
    "singer": ("Freddie Mercury", "He sang in a band."),
    "who": ("Who", "A pronoun."),
}


def scaled_hybrid(index: Snapshot, words: Embedder) -> ScaledHybrid:
    return ScaledHybrid(
        sparse=BM25.over_passages(index), dense=Dense.over_passages(index, words), passage_of=index.passages.ids
    )


@pytest.fixture(scope="module")
def planets(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    folder: Path = tmp_path_factory.mktemp("planets") / "my.index"
    documents = (Document(id=id_, title=title, text=text, is_passage=True) for id_, (title, text) in PLANETS.items())
    IndexBuilder(folder=folder, embedder=WordEmbedder()).build(documents)
    return Snapshot.open(folder)


def called_by(index: Snapshot, words: Embedder, query: str) -> set[str]:
    """Who comes out on top of all others by a bonus that no score makes up for."""
    base = scaled_hybrid(index, words)
    scores = TitleBonus(base=base, passages=index.passages, bonus=9.0).scores(query)
    return set() if (scores == base.scores(query)).all() else set(index.passages.ids(np.flatnonzero(scores > 0.85)))


@pytest.mark.parametrize(
    ("query", "called"),
    [
        ("How large is Mercury?", {"god", "planet"}),
        ("How large is MERCURY (planet)?", {"planet"}),
        ("Where was Freddie Mercury born?", {"singer"}),  # the longest name has its words to itself
        ("Who sang it?", set()),  # a function word is no name
        ("How large is Venus?", set()),
    ],
)
def test_a_title_in_the_query_counts(planets: Snapshot, words: Embedder, query: str, called: set[str]) -> None:
    assert called_by(planets, words, query) == called


def test_of_many_passages_with_one_title_the_best_have_the_bonus(words: Embedder, tmp_path: Path) -> None:
    """A manual of 12 passages: its title says which manual is meant, and not which passage."""
    texts = ["the valve of the pump", "the pump", *(f"chapter {number}" for number in range(10))]
    documents = [
        Document(id=str(n), title="Heron Handbook", text=text, is_passage=True) for n, text in enumerate(texts)
    ]
    other = Document(id="other", title="Notes", text="a valve", is_passage=True)
    IndexBuilder(folder=tmp_path / "my.index", embedder=words).build([*documents, other])
    index, query = Snapshot.open(tmp_path / "my.index"), "the valve of the pump in the Heron Handbook"
    base = scaled_hybrid(index, words)
    before = base.scores(query)
    scores = TitleBonus(base=base, passages=index.passages, bonus=9.0, most=2).scores(query)
    raised = set(index.passages.ids(np.flatnonzero(scores > 0.5)))
    assert raised == set(index.passages.ids(np.argsort(-before, kind="stable")[:2])) == {"0", "1"}
    sixth = TitleBonus(base=base, passages=index.passages, bonus=1.2, most=2).scores(query)
    expected = before + np.where(np.isin(np.arange(len(before)), index.passages.rows(["0", "1"])), 1.2 / 6, 0)
    assert sixth == pytest.approx((expected - expected.min()) / (expected.max() - expected.min()), abs=1e-6)
    for_all = TitleBonus(base=base, passages=index.passages, bonus=9.0).scores(query)
    assert np.count_nonzero(for_all > 0.5) == len(documents)


class Counting:
    """A score for each letter."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        return Ranking()

    def scores(self, query: str) -> NDArray[np.float32]:
        self.asked.append(query)
        return np.array([len(query), 0], np.float32)


def asked(queries: Sequence[Sequence[str]], *, in_parts: bool = False) -> list[str]:
    base = Counting()
    cached = CachedScores(base, in_parts)
    for batch in queries:
        assert cached.scores_many(batch).tolist() == [[len(query), 0] for query in batch]
    return base.asked


def test_the_last_batch_is_remembered_and_cannot_be_written_to() -> None:
    assert asked([["a", "bb"], ["a", "bb"]]) == ["a", "bb"]
    assert asked([["a"], ["bb"], ["a"]]) == ["a", "bb", "a"]
    assert asked([["a", "bb"], ["a"]]) == ["a", "bb", "a"]
    assert asked([["a", "bb"], ["bb"], ["bb", "a"], ["bb", "ccc"]], in_parts=True) == ["a", "bb", "bb", "ccc"]
    scores = CachedScores(Counting()).scores("a")
    with pytest.raises(ValueError, match="read-only"):
        scores[0] = 5


TWO = "Which film did Edward Cahn direct, and which lake does Milwaukee lie on?"


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (TWO, ["Which film did Edward Cahn direct", "which lake does Milwaukee lie on"]),
        ("Who is older than the director of Jaws?", []),
        ("Is the first one older than the second one was?", ["Is the first one older", "the second one was"]),
        ("What is the shehna, and how is it played in Goa?", ["What is the shehna", "how is it played in Goa"]),
        ("Which command lists old snapshots, and which one deletes them?", []),
        ("Which command lists old snapshots, and what is it that they are for?", []),
        (
            "Which tool lists old snapshots, and which one deletes broken snapshots?",
            ["Which tool lists old snapshots", "which one deletes broken snapshots"],
        ),
        ("Which river is the longest, and which is in Germany?", ["Which river is the longest", "which is in Germany"]),
        ("Which film won most prizes, and was it in 1994?", ["Which film won most prizes", "was it in 1994"]),
        ("Compared to what the Times said, was it right or wrong?", []),
        ("Band members of the Andes or Orinoco bands", []),
        ("She left the band in 1990; after that she sang alone.", ["She left the band in 1990", "that she sang alone"]),
        ("", []),
    ],
)
def test_a_question_is_cut_at_its_borders(question: str, parts: list[str]) -> None:
    assert clauses(question) == parts


def scaled(scores: Sequence[float]) -> np.ndarray:
    values = np.array(scores)
    return (values - values.min()) / (values.max() - values.min())


def test_the_best_clause_is_added_to_the_fourth_power(world: Snapshot, words: Embedder) -> None:
    base = scaled_hybrid(world, words)
    sparse, dense = base.sparse, base.dense
    raised = Clauses(base=base, sparse=sparse, dense=dense)
    best = np.max([(scaled(sparse.scores(part)) + scaled(dense.scores(part))) / 2 for part in clauses(TWO)], axis=0)
    np.testing.assert_allclose(raised.scores(TWO), base.scores(TWO) + 0.2 * best**4, rtol=1e-5)
    one = "Who directed Laughter in Hell?"
    np.testing.assert_array_equal(raised.scores(one), base.scores(one))
    both = raised.scores_many([one, TWO, one])
    np.testing.assert_allclose(both, [raised.scores(one), raised.scores(TWO), raised.scores(one)], rtol=1e-5)


def test_question_and_clauses_are_compared_together(world: Snapshot, words: Embedder) -> None:
    batches: list[list[str]] = []

    class Recording(Dense):
        def scores_many(self, queries: Sequence[str]) -> NDArray[np.float32]:
            batches.append(list(queries))
            return super().scores_many(queries)

    sparse, dense = BM25.over_passages(world), Dense.over_passages(world, words)
    near = CachedScores(Recording(**dense.__dict__), in_parts=True)
    apart, together = (
        Clauses(
            base=ScaledHybrid(sparse=sparse, dense=vectors, passage_of=world.passages.ids),
            sparse=sparse,
            dense=dense,
            near=cached,
        )
        for vectors, cached in ((dense, None), (near, near))
    )
    one = "Who directed Laughter in Hell?"
    np.testing.assert_allclose(together.scores_many([one, TWO]), apart.scores_many([one, TWO]), rtol=1e-5)
    assert batches == [[one, TWO, *clauses(TWO)]]
    np.testing.assert_allclose(near.scores_many([TWO, one]), dense.scores_many([TWO, one]), rtol=1e-5)


def test_question_and_clauses_are_encoded_together(world: Snapshot, words: Embedder) -> None:
    batches: list[list[str]] = []

    class Recording:
        name, fingerprint, dimension = words.name, words.fingerprint, words.dimension

        def embed(self, texts: Sequence[str], kind: str = "passage") -> object:
            batches.append(list(texts))
            return words.embed(texts)

    base = scaled_hybrid(world, CachedEmbedder(Recording()))  # type: ignore[arg-type]
    Clauses(base=base, sparse=base.sparse, dense=base.dense).scores(TWO)
    assert batches == [[TWO, *clauses(TWO)]]
