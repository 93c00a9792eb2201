"""Blend: lists fused by weight, parts that can be left out, reasons that stay, and indexes that have little."""

from collections.abc import Callable
from pathlib import Path

import pytest

from small_world import TRIPLES, WORLD, TableExtractor
from triplebeam.assemble import Index
from triplebeam.blend import Blend, Part
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.build import IndexBuilder
from triplebeam.index.snapshot import Snapshot
from triplebeam.passage import Document
from triplebeam.ranking import Ranking
from triplebeam.retrieve.fixed_ranking import FixedRanking
from triplebeam.retrieve.retriever import Retriever
from triplebeam.settings import Settings
from triplebeam.testing.contracts import RetrieverContract
from triplebeam.triple import Triple

FIRST, SECOND = FixedRanking({"q": ["a", "b"]}), FixedRanking({"q": ["b", "c"]})
QUESTION = "When did the director of Laughter in Hell die?"


def test_ranks_count_by_weight() -> None:
    even = Blend(parts={"one": Part(FIRST), "two": Part(SECOND)}, constant=1).retrieve("q")
    assert [(hit.passage_id, hit.score) for hit in even] == [
        ("b", pytest.approx(1 / 3 + 1 / 2)),
        ("a", pytest.approx(1 / 2)),
        ("c", pytest.approx(1 / 3)),
    ]
    heavy = Blend(parts={"one": Part(FIRST, 9.0), "two": Part(SECOND)}, constant=1).retrieve("q", k=1)
    assert heavy.ids == ["a"]


def test_a_hit_says_which_parts_list_it_and_where() -> None:
    ranking = Blend(parts={"one": Part(FIRST), "two": Part(SECOND)}, constant=1).retrieve("q")
    assert [hit.found_by for hit in ranking] == [(("one", 2), ("two", 1)), (("one", 1),), (("two", 2),)]


class TestBlendContract(RetrieverContract):
    queries = (QUESTION, "Lake Michigan", "laughter")

    @pytest.fixture
    def retriever(self, world: Snapshot, words: Embedder) -> Retriever:
        return Index.of(world, Settings(), words).retriever("blend")


def test_the_shipped_blend_finds_both_hops_and_says_why(world: Snapshot, words: Embedder) -> None:
    ranking = Index.of(world, Settings(), words).search(QUESTION, k=3)
    by_id = {hit.passage_id: hit for hit in ranking}
    assert {"film", "director"} <= set(by_id)
    assert "titles" in dict(by_id["director"].found_by)
    assert (Triple("Laughter in Hell", "directed by", "Edward Cahn"),) in by_id["director"].chains


@pytest.mark.parametrize("part", ["messages", "triples", "names", "titles"])
def test_each_part_can_be_left_out(world: Snapshot, words: Embedder, part: str) -> None:
    blend = Index.of(world, Settings(), words).retriever(f"blend[without={part}]")
    assert isinstance(blend, Blend)
    assert len(blend.parts) + (blend.links is not None) == 3
    ranking = blend.retrieve(QUESTION)
    assert ranking.ids
    assert all(part not in dict(hit.found_by) for hit in ranking)


def test_a_part_that_is_not_there(world: Snapshot, words: Embedder) -> None:
    with pytest.raises(BadInputError, match="did you mean 'titles'"):
        Index.of(world, Settings(), words).retriever("blend[without=title]")


@pytest.fixture
def search(tmp_path: Path, words: Embedder) -> Callable[..., Ranking]:
    """A search with the default method over an index made for the occasion."""

    def run(question: str, documents: list[Document], extractor: TableExtractor | None) -> Ranking:
        folder = tmp_path / "my.index"
        IndexBuilder(folder=folder, embedder=words, extractor=extractor).build(documents)
        return Index(folder, Settings(), words).search(question)

    return run


def documents(titled: bool = True) -> list[Document]:
    return [
        Document(id=id_, title=title if titled else "", text=text, is_passage=True)
        for id_, (title, text) in WORLD.items()
    ]


def test_without_triples_the_passages_are_found_all_the_same(search: Callable[..., Ranking]) -> None:
    ranking = search(QUESTION, documents(), None)
    assert ranking.ids[0] == "film"
    assert {part for hit in ranking for part, _ in hit.found_by} == {"messages"}


def test_extractions_without_a_triple_are_no_graph(search: Callable[..., Ranking]) -> None:
    assert search(QUESTION, documents(), TableExtractor({})).ids[0] == "film"


def test_without_titles_the_walks_find_both_hops(search: Callable[..., Ranking]) -> None:
    ranking = search(QUESTION, documents(titled=False), TableExtractor(TRIPLES))
    assert {"film", "director"} <= set(ranking.ids[:3])
    assert all("titles" not in dict(hit.found_by) for hit in ranking)


def test_a_question_that_names_nothing(search: Callable[..., Ranking]) -> None:
    ranking = search("who writes books?", documents(), TableExtractor(TRIPLES))
    assert "other" in ranking.ids
    assert all("names" not in dict(hit.found_by) for hit in ranking)


def test_one_passage_is_a_corpus(search: Callable[..., Ranking]) -> None:
    assert search(QUESTION, documents()[:1], TableExtractor(TRIPLES)).ids == ["film"]
