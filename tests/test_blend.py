"""Blend: lists fused by weight, parts that can be left out, and reasons that stay."""

import pytest

from triplebeam.assemble import Collection
from triplebeam.blend import Blend, Part
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.opened import Index
from triplebeam.retrieve.given import GivenRanking
from triplebeam.settings import Settings

FIRST, SECOND = GivenRanking({"q": ["a", "b"]}), GivenRanking({"q": ["b", "c"]})


def test_ranks_count_by_weight() -> None:
    even = Blend(parts={"one": Part(FIRST), "two": Part(SECOND)}, constant=1).retrieve("q")
    assert [(hit.passage_id, hit.score) for hit in even] == [
        ("b", pytest.approx(1 / 3 + 1 / 2)),
        ("a", pytest.approx(1 / 2)),
        ("c", pytest.approx(1 / 3)),
    ]
    heavy = Blend(parts={"one": Part(FIRST, 9.0), "two": Part(SECOND)}, constant=1).retrieve("q", k=1)
    assert heavy.ids == ["a"]


def test_the_shipped_blend_finds_both_hops_and_says_why(world: Index, words: Embedder) -> None:
    ranking = Collection(world, Settings(), words).search(
        "When did the director of Laughter in Hell die?", "blend", k=3
    )
    assert {"film", "director"} <= set(ranking.ids)
    assert any(hit.chains for hit in ranking)


@pytest.mark.parametrize("part", ["gnn_ret", "triples", "names", "titles"])
def test_each_part_can_be_left_out(world: Index, words: Embedder, part: str) -> None:
    blend = Collection(world, Settings(), words).retriever(f"blend[without={part}]")
    assert isinstance(blend, Blend)
    assert len(blend.parts) == 3
    assert part not in blend.parts
    assert blend.retrieve("Laughter in Hell").ids


def test_a_part_that_is_not_there(world: Index, words: Embedder) -> None:
    with pytest.raises(BadInputError, match="did you mean 'titles'"):
        Collection(world, Settings(), words).retriever("blend[without=title]")
