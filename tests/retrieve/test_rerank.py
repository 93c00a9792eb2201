"""The bridge reader: what is read, beside which bridge, and what becomes of the ranking."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from triplebeam.assemble.index import IndexReader
from triplebeam.assemble.method import Method
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, ModelMissingError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document, Passage
from triplebeam.ranking import Hit, Hop, Ranking
from triplebeam.retrieve.bases import BM25
from triplebeam.retrieve.bridge.reader import BridgeReader, Reading, TokenizedPassage, cut_excerpt, place_terms
from triplebeam.retrieve.bridge.rerank import BRIDGE, Rerank, keep_tenth
from triplebeam.retrieve.retriever import Retriever
from triplebeam.serve.cli import search
from triplebeam.serve.cli.app import app
from triplebeam.testing.contracts import RetrieverContract
from triplebeam.text.terms import query_words, text_words
from triplebeam.weights import GRANITE, ensure
from triplebeam.where import parse

TOY = {
    "uranus": "Uranus was found by William Herschel with a telescope in Bath.",
    "herschel": "William Herschel was born at Hanover to Isaak.",
    "neptune": "Neptune was found by Galle with a telescope.",
    "bath": "Baths are warm, and telescope shops are many.",
    "galle": "Galle was born at Radis.",
}
#: As the reader knows passages: a title and more than a sentence.
URANUS = "Uranus\nUranus is the seventh planet from the Sun. It was discovered in 1781 by William Herschel in Bath."
HERSCHEL = (
    "William Herschel\nWilliam Herschel was an astronomer and composer. He was born in Hanover, one of ten children."
)
GALLE = "Johann Galle\nJohann Galle was an astronomer at the observatory of Berlin. He was born in Radis."
QUESTION = "Where was the man born who found Uranus?"


@dataclass
class CharacterReader:
    """Reads a token per character, and prefers candidates that have a letter more often than others."""

    letter: str = "I"

    def tokenize(self, passage: Passage, stemmer: str) -> TokenizedPassage:
        text = passage.searchable
        spans = [(at, at + 1) for at in range(len(text))]
        return place_terms(text, passage.title, [ord(each) for each in text], spans, stemmer)

    def score(self, question: str, readings: Sequence[Reading]) -> NDArray[np.float32]:
        return np.array([9.0 * list(each.candidate).count(ord(self.letter)) for each in readings], np.float32)


def open_index(folder: Path, texts: dict[str, str], words: Embedder, visible: Collection[str] = ()) -> Snapshot:
    IndexBuilder(folder=folder, embedder=words).build(
        Document(id=id_, text=text, is_passage=True, metadata={"shown": str(id_ in visible)})
        for id_, text in texts.items()
    )
    return Snapshot.open(folder)


def rerank(index: Snapshot, words: Embedder, **parameters: float) -> Rerank:
    return replace(
        Rerank(
            base=BM25.over_passages(index),
            reader=CharacterReader(),
            rare=Rerank.follow_over(index.passage_terms, index.passages),
            vectors=index.passage_vectors,
            embedder=words,
        ),
        **parameters,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> Snapshot:
    return open_index(tmp_path_factory.mktemp("rerank") / "index", TOY, words)


def expected_candidates(
    index: Snapshot, words: Embedder, query: str, rows: list[int], reached: int
) -> list[tuple[int, int]]:
    """Rows and bridges by the letter: every pair of passages is compared, term by term."""
    terms = [set(text_words(passage.term_text)) for passage in index.passages]
    having = {term: sum(term in each for each in terms) for each in terms for term in each}
    rarity = {
        term: np.log1p((len(terms) - number + 0.5) / (number + 0.5))
        for term, number in having.items()
        if 2 <= number <= 30 and term not in query_words(query)
    }

    def shared(one: int, other: int) -> float:
        return sum(rarity.get(term, 0.0) for term in terms[one] & terms[other]) if one != other else -1.0

    (vector,) = words.embed([query], kind="query")
    best = {row: max(shared(hit, row) for hit in rows[:3]) for row in range(len(terms)) if row not in rows}
    far = [row for row, most in best.items() if most > 0]
    near = {row: float(index.passage_vectors.get_vectors(np.array([row]))[0] @ vector) for row in far}
    far.sort(key=lambda row: -(near[row] + 0.1 * best[row]))
    chosen = [*rows, *far[:reached]]
    bridges = [max(rows[:3], key=lambda hit, row=row: shared(hit, row)) for row in chosen]  # type: ignore[misc]
    return list(zip(chosen, bridges, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_candidates_are_counted_by_hand(seed: int, tmp_path: Path, words: Embedder) -> None:
    random = Random(seed)
    named = [f"zo{letter}{other}" for letter in "bdfgklmnprst" for other in "aeiou"]
    texts = {str(number): " ".join(random.choices(named, k=9)) for number in range(40)}
    index = open_index(tmp_path, texts, words)
    for _ in range(5):
        query = " ".join(random.choices(named, k=3))
        rows = random.sample(range(40), 6)
        found = rerank(index, words, reached=5).choose_candidates(query, rows)
        expected = expected_candidates(index, words, query, rows, 5)
        assert [(each.row, each.bridge) for each in found] == expected


def test_a_passage_that_a_rare_name_leads_to_is_raised_and_says_so(toy: Snapshot, words: Embedder) -> None:
    method = rerank(toy, words, depth=1, weight=2.0)
    assert method.base.retrieve(QUESTION, 1).ids == ["uranus"]
    best = method.retrieve(QUESTION, 5)[0]
    assert (best.passage_id, [part for part, _ in best.found_by]) == ("herschel", [BRIDGE])
    assert best.hops[0] in (Hop("uranus", "William"), Hop("uranus", "Herschel"))


def test_over_a_view_it_ranks_as_over_the_visible_passages_alone(tmp_path: Path, words: Embedder) -> None:
    visible = {id_: text for id_, text in TOY.items() if id_ != "neptune"}
    view = open_index(tmp_path / "all", TOY, words, visible).filter(parse('shown = "True"'))
    alone = open_index(tmp_path / "visible", visible, words, visible)
    assert rerank(view, words).retrieve(QUESTION, 5) == rerank(alone, words).retrieve(QUESTION, 5)


def test_without_weight_the_order_of_the_base_stays(toy: Snapshot, words: Embedder) -> None:
    method = rerank(toy, words, weight=0.0)
    base, ranking = method.base.retrieve(QUESTION, 5), method.retrieve(QUESTION, 5)
    assert ranking.ids[: len(base)] == base.ids
    assert not any(hit.hops for hit in ranking[: len(base)])


def test_the_reader_counts_more_where_passages_have_topics_of_their_own(toy: Snapshot, words: Embedder) -> None:
    def gain(share: float) -> float:
        found = rerank(toy, words, share=share).retrieve(QUESTION, 5)
        before = rerank(toy, words, share=share, weight=0.0).retrieve(QUESTION, 5)
        scores = {hit.passage_id: hit.score for hit in before}
        return max(hit.score - scores[hit.passage_id] for hit in found if hit.passage_id in scores)

    assert gain(1.0) == pytest.approx(gain(0.0) * 2, rel=1e-4)


def test_what_the_tail_put_in_the_tenth_place_does_not_fall_below_it() -> None:
    rows = list(range(12))
    total = {row: 1.0 - row / 100 for row in rows} | {9: 0.1}
    for name, place in (("documents", 9), ("terms", 9), ("plain", 11)):
        found = Ranking(Hit(str(row), -float(row), found_by=((name if row == 9 else "plain", 1),)) for row in rows)
        scores = dict(total)
        keep_tenth(found, rows, scores)
        assert sorted(rows, key=lambda row: -scores[row]).index(9) == place


@pytest.mark.parametrize("wrong", [{"weight": -1.0}, {"depth": 0}, {"reached": 0}])
def test_parameters_are_checked(wrong: dict[str, float], toy: Snapshot, words: Embedder) -> None:
    with pytest.raises(BadInputError, match=next(iter(wrong))):
        rerank(toy, words, **wrong)
    assert rerank(toy, words).retrieve("qqq xxx") == Ranking(), "what the base does not find is not read"


def test_an_excerpt_is_the_title_and_the_window_that_is_worth_most() -> None:
    terms = ["title", *["of"] * 30, "rare", *["of"] * 30]
    passage = TokenizedPassage(list(range(len(terms))), 1, terms)
    assert cut_excerpt(passage, 11, {"rare": 3.0}) == [0, *range(27, 37)]
    assert cut_excerpt(passage, 11, {}) == list(range(11))
    assert cut_excerpt(passage, 62, {"rare": 3.0}) == list(range(62))
    # A word of several tokens counts once.
    spans = [(0, 3), (3, 8), (8, 9), (10, 12)]
    assert place_terms("Herschel, Ur", "", [1, 2, 3, 4], spans, "english").terms == ["herschel", "", "", "ur"]


class TestRerank(RetrieverContract):
    @pytest.fixture
    def retriever(self, world: Snapshot, words: Embedder) -> Retriever:
        return rerank(world, words)


def test_the_packaged_adapter_prefers_what_its_bridge_leads_to_and_says_the_same_each_time(home: Path) -> None:
    try:
        folder = ensure(GRANITE, home, offline=True)
    except ModelMissingError as error:
        pytest.skip(str(error))

    def read(reader: BridgeReader) -> list[float]:
        pairs = [(URANUS, HERSCHEL), (GALLE, HERSCHEL), (URANUS, GALLE)]
        tokens = [[reader.tokenize(Passage("x", text), "english").ids for text in pair] for pair in pairs]
        return reader.score(QUESTION, [Reading(*pair) for pair in tokens]).tolist()  # type: ignore[no-any-return]

    led, unled, other = read(BridgeReader(folder))
    assert led > unled + 0.3
    assert led > other + 0.3
    assert read(BridgeReader(folder)) == [led, unled, other]


def test_the_command_reads_again_where_it_is_asked_to(toy: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    monkeypatch.setattr(IndexReader, "search", lambda index, question, k, method: searched.append(method))
    monkeypatch.setattr(search, "show_passages", lambda *given, **options: None)
    for options in ([], ["--rerank"], ["-m", "bm25", "--rerank"]):
        done = CliRunner().invoke(app, ["search", str(toy.folder), QUESTION, *options])
        assert done.exit_code == 0, done.output
    assert searched == ["blend", "blend+rerank", "bm25+rerank"]
    method = Method.parse("hybrid+rerank[weight=0.5,depth=12,reached=5]")
    assert (method.parts[1].values, method.uses_model) == ({"weight": 0.5, "depth": 12, "reached": 5}, False)
