"""KGP over the small world: a scripted model walks from passage to passage."""

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from scripted_loops import BAD, PASSAGES, Table, driven, final, reply
from small_graphs import edge_lists, graph_of
from trials import examples
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.shared.question_answering import QuestionAnswerer
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts.agents import AgentContract, Ending
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.kgp import KGP

QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
ACTOR, CITY, LAKE = "Somebody starred in Laughter in Hell.", "Milwaukee lies somewhere.", "Lake Michigan is a lake."
NO_PATH = "no path leads to another passage"
EDGES = [("film", "director"), ("film", "actor"), ("actor", "city"), ("city", "lake")]
SCORES = {
    QUESTION: {"film": 0.5, "director": 0.4},
    ACTOR: {"actor": 0.9, "director": 0.3},
    CITY: {"city": 0.8},
    LAKE: {"lake": 0.7},
    "needed": {id_: 1.0 + place for place, id_ in enumerate(PASSAGES)},
}


class Similarity:
    """Made-up scores by query; what a query does not name has none to speak of."""

    def __init__(self, world: Snapshot) -> None:
        self.passages = world.passages

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        raise AssertionError("only scores are asked for")

    def scores(self, query: str) -> NDArray[np.float32]:
        table = SCORES.get(query, {})
        return np.array([table.get(id_, 0.0) for id_ in self.passages.ids(range(len(self.passages)))], np.float32)


def agent(world: Snapshot, model: LanguageModel, retriever: Retriever, **parameters: Any) -> KGP:
    rows = [(world.passages.row(one), world.passages.row(other)) for one, other in EDGES]
    return KGP(
        retriever=retriever,
        similarity=Similarity(world),
        graph=graph_of(len(world.passages), [], rows),
        passages=world.passages,
        model=Accounted(model),
        **parameters,
    )


def evidence(text: str | None) -> Completion:
    return reply(evidence=text)


class TestContract(AgentContract):
    """The lake is three passages away from the seed, and nothing but the walk leads there."""

    passages = PASSAGES
    question = QUESTION
    finds = MappingProxyType({QUESTION: ["film"]})
    queries = (QUESTION, ACTOR, CITY, LAKE)
    replies = (evidence(ACTOR), evidence(CITY), evidence(LAKE), final("Michigan"))
    last, text, loop_text, ending = "lake", "Michigan", "", NO_PATH
    so_far = (["film"], ["actor", "film"], ["actor", "city", "film"], ["actor", "city", "lake", "film"])
    calls = (0, 1, 1, 1)  # the seeds cost no call
    parameters = MappingProxyType({"branches": 1})

    at_the_last_step = Ending(
        question=QUESTION,
        replies=[evidence(ACTOR), final("x")],
        ending="the last step was reached",
        text="x",
        parameters={"max_steps": 2, "branches": 1},
    )
    when_it_repeats_itself = when_it_may_repeat_itself = None  # only the seeds are searched for
    when_nothing_is_found = Ending(replies=[final("")], ending=NO_PATH, finds=[])
    when_replies_are_unusable = Ending(replies=[BAD] * 4, ending=f"{NO_PATH};", problems=[0, 1])

    @pytest.fixture(autouse=True)
    def over(self, world: Snapshot) -> None:
        self.world = world

    def make_agent(self, retriever: Any, model: Any, **parameters: Any) -> KGP:
        return agent(self.world, model, retriever, **parameters)

    def make_reply(self, words: str) -> Completion:
        return reply(evidence=words, found=True, answer=words, sentence=words)


@pytest.mark.parametrize(
    ("seeds", "replies", "parameters", "found"),
    [
        # Both seeds go on before a path of two passages does; what was collected is not collected again.
        (["city", "film"], [LAKE, ACTOR], {}, [["city", "film"], ["lake", "actor"], ["director"]]),
        # A path whose neighbours are collected asks nothing.
        ([*PASSAGES][:5], [], {}, [[*PASSAGES][:5]]),
        (["film"], [], {"edges": ("structural",)}, [["film"]]),
        (["film"], [ACTOR], {"collected": 2}, [["film"], ["actor"]]),
        (["film"], [], {"collected": 1}, [["film"]]),
        *((["film"], [nothing], {}, [["film"], []]) for nothing in ("", " ", None)),
    ],
)
def test_what_each_step_collects_and_why_the_last_is_the_last(
    world: Snapshot, seeds: list[str], replies: list[str], parameters: dict[str, Any], found: list[list[str]]
) -> None:
    with Scripted([*map(evidence, replies), final("x")]) as model:
        steps, answer = driven(agent(world, model, Table({QUESTION: seeds}), **parameters), QUESTION)
    assert [step.ranking.ids for step in steps] == found
    enough = "as many passages were collected as wanted"
    assert answer.ending == (enough if "collected" in parameters else NO_PATH)
    assert set(answer.ranking.ids) == {id_ for ids in found for id_ in ids}
    assert all(step.query == "" for step in steps if not step.ranking)


@settings(max_examples=examples(80), deadline=None)
@given(
    edges=edge_lists(len(PASSAGES)),
    seeds=st.lists(st.sampled_from([*PASSAGES]), min_size=1, max_size=4, unique=True),
    branches=st.integers(1, 3),
    collected=st.integers(1, 8),
    max_steps=st.integers(1, 8),
)
def test_what_is_collected_hangs_together(
    world: Snapshot, edges: list[tuple[int, int]], seeds: list[str], branches: int, collected: int, max_steps: int
) -> None:
    limits = {"branches": branches, "collected": collected, "max_steps": max_steps}
    walking = agent(world, Scripted([evidence("needed")] * max_steps), Table({"q": seeds}), **limits)
    answerer = QuestionAnswerer(model=Scripted([final("end")]), passages=PASSAGES)
    steps, answer = driven(replace(walking, graph=graph_of(len(PASSAGES), [], edges), answerer=answerer), "q")
    assert len(steps) <= max_steps
    assert len(answer.ranking) <= collected
    found = [world.passages.row(id_) for step in steps for id_ in step.ranking.ids]
    assert len(found) == len(set(found)) == len(answer.ranking), "each passage once"
    joined = {*edges, *((two, one) for one, two in edges)}
    for number, step in enumerate(steps[1:], start=1):
        assert 1 <= len(step.ranking) <= branches
        before = [world.passages.row(id_) for earlier in steps[:number] for id_ in earlier.ranking.ids]
        assert all(any((old, world.passages.row(id_)) in joined for old in before) for id_ in step.ranking.ids)
