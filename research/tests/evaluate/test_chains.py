"""Chains of triples for questions, against a literal reading of their conditions."""

from collections import Counter
from itertools import pairwise

import pytest
from gold_chains import CAHN, Make

from triplebeam.errors import BadInputError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.text.names import entity_key
from triplebeam.triple import Triple
from triplebeam_research.synthesize.chains import MAX_CHAINS, MAX_PASSAGES, sample_chains


def literal_chains(index: Snapshot, hops: int) -> set[tuple[Triple, ...]]:
    """All chains of names whose passages hold no more than their own hop, by trying every sequence of triples."""
    triples = [index.triples.triple(number) for number in range(len(index.triples))]
    passage_of = index.triples.passage_of(list(range(len(triples))))

    def says(number: int, name: str) -> bool:
        text = entity_key(index.passages[passage_of[number]].searchable)
        return f" {entity_key(name).removeprefix('the ')} " in f" {text} "

    def whole(path: tuple[int, ...]) -> bool:
        entities = [triples[path[0]].subject, *(triples[number].object for number in path)]
        keys = [entity_key(entity) for entity in entities]
        return (
            len({passage_of[number] for number in path}) == hops
            and len(set(keys)) == hops + 1
            and all(
                says(number, entity) == (place in (hop, hop + 1))
                for hop, number in enumerate(path)
                for place, entity in enumerate(entities)
            )
        )

    paths: list[tuple[int, ...]] = [(number,) for number in range(len(triples))]
    for _ in range(hops - 1):
        onward = [(path, n) for path in paths for n in range(len(triples)) if n not in path]
        paths = [
            (*path, n) for path, n in onward if entity_key(triples[path[-1]].object) == entity_key(triples[n].subject)
        ]
    return {tuple(triples[number] for number in path) for path in paths if whole(path)}


class TestChains:
    @pytest.mark.parametrize("seed", range(3))
    def test_are_among_those_found_by_trying_everything(self, toy_index: Snapshot, seed: int) -> None:
        literal = {hops: literal_chains(toy_index, hops) for hops in (2, 3)}
        drawn = list(sample_chains(toy_index, seed=seed))
        assert Counter(len(chain.triples) for chain in drawn).keys() == {2, 3}
        for chain in drawn:
            assert chain.triples in literal[len(chain.triples)]

    def test_join_at_bridges_and_come_from_their_passages(self, toy_index: Snapshot) -> None:
        for chain in sample_chains(toy_index):
            assert [t.subject for t in chain.triples] + [chain.answer] == list(chain.entities)
            assert all(before.object == after.subject for before, after in pairwise(chain.triples))
            for triple, passage_id in zip(chain.triples, chain.passages, strict=True):
                own = toy_index.triples.triples_of([passage_id])
                assert triple in [toy_index.triples.triple(int(number)) for number in own]

    def test_are_spread_over_the_corpus(self, toy_index: Snapshot) -> None:
        drawn = list(sample_chains(toy_index))
        assert max(Counter(id_ for chain in drawn for id_ in chain.passages).values()) <= MAX_CHAINS
        assert max(Counter(triple for chain in drawn for triple in chain.triples).values()) == 1
        assert max(Counter(chain.start for chain in drawn).values()) == 1

    def test_are_the_same_for_the_same_seed(self, toy_index: Snapshot) -> None:
        drawn = [list(sample_chains(toy_index, seed=seed)) for seed in (0, 0, 1)]
        assert drawn[0] == drawn[1] != drawn[2]

    def test_have_the_lengths_wanted(self, toy_index: Snapshot) -> None:
        assert {len(chain.triples) for chain in sample_chains(toy_index, hops=(3,))} == {3}
        with pytest.raises(BadInputError, match="two or more"):
            next(sample_chains(toy_index, hops=(1,)))

    def test_of_the_small_world(self, world: Snapshot) -> None:
        assert CAHN in sample_chains(world, hops=(2,))

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({}, ""),
            ({"a": ("Ann Lee", "Ann Lee wed Bob Ray. Paris.")}, "the first passage names the answer"),
            ({"b": ("Bob Ray", "Bob Ray moved to Paris with Ann Lee.")}, "the last passage names the start"),
            ({"c": ("Ann Lee", "Ann Lee saw Paris.")}, "another passage about the start names the answer"),
            ({"b": ("Bob Ray (singer)", "Bob Ray moved to Paris.")}, "the title says that there are several"),
            ({"b": ("Bob Ray", "Bob Ray moved on.")}, "the passage does not name the answer"),
        ],
    )
    def test_keep_to_the_texts(self, make: Make, change: dict[str, tuple[str, str]], reason: str) -> None:
        texts = {
            "a": ("Ann Lee", "Ann Lee wed Bob Ray."),
            "b": ("Bob Ray", "Bob Ray moved to Paris."),
            "c": ("", "Rain."),
        }
        table = {
            "a": [Triple("Ann Lee", "wed", "Bob Ray")],
            "b": [Triple("Bob Ray", "moved to", "Paris")],
            "c": [Triple("Ann Lee", "saw", "Rome")],
        }
        assert bool(list(sample_chains(make(texts | change, table), hops=(2,)))) == (not reason)

    @pytest.mark.parametrize(
        ("bridge", "answer", "good"),
        [
            ("Bob Ray", "Paris", True),
            ("Bob Ray", "12 May 1901", True),
            ("Bob Ray", "about 40 paintings", True),
            ("Bob Ray", "paintings", False),
            ("Bob Ray", "a very long answer of 9 words in all", False),
            ("bob ray", "Paris", False),
            ("He", "Paris", False),
            ("May 1901", "Paris", False),
            ("1901", "Paris", False),
            ("Bob", "Paris", False),  # one word, and no title
            ("Ann Lee Junior", "Paris", False),  # the start is part of it
            ("陈云", "北京", False),
            ("陈云 先生", "北京", True),
        ],
    )
    def test_go_over_names_to_short_answers(self, make: Make, bridge: str, answer: str, good: bool) -> None:
        texts = {"a": ("", f"Ann Lee wed {bridge}. Ann Lee sang."), "b": ("", f"{bridge} had {answer}.")}
        table = {
            "a": [Triple("Ann Lee", "wed", bridge), Triple("Ann Lee", "sang", "songs")],
            "b": [Triple(bridge, "had", answer), Triple(bridge, "was", "tall")],
        }
        assert bool(list(sample_chains(make(texts, table), hops=(2,)))) == good

    def test_need_a_passage_about_the_bridge_and_one_answer(self, make: Make) -> None:
        texts = {"a": ("Ann Lee", "Ann Lee wed Bob Ray."), "b": ("", "Bob Ray saw Rome and Paris, as did Carl Fox.")}
        start = {"a": [Triple("Ann Lee", "wed", "Bob Ray")]}
        carl = [Triple("Carl Fox", "saw", "Paris"), Triple("Carl Fox", "liked", "Rome")]
        for own in (
            [Triple("Bob Ray", "saw", "Rome"), *carl],
            [Triple("Bob Ray", "saw", city) for city in ("Rome", "Paris")],
        ):
            assert not list(sample_chains(make(texts, start | {"b": own}), hops=(2,)))

    def test_do_not_go_over_what_many_passages_speak_of(self, make: Make) -> None:
        texts = {"a": ("Ann Lee", "Ann Lee wed Bob Ray."), "b": ("Bob Ray", "Bob Ray moved to Paris.")}
        table = {"a": [Triple("Ann Lee", "wed", "Bob Ray")], "b": [Triple("Bob Ray", "moved to", "Paris")]}
        others = {f"o{n}": ("", "Somebody met Bob Ray.") for n in range(MAX_PASSAGES - 1)}
        met = {id_: [Triple("somebody", f"met in {id_}", "Bob Ray")] for id_ in others}
        assert not list(sample_chains(make(texts | others, table | met), hops=(2,)))
