"""KGP over the small world: a scripted model walks from passage to passage."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from scripted_loops import BAD, Gone, Table, driven, final, reply
from small_graphs import edge_lists, graph_of
from triplebeam.answer import Answer, Step
from triplebeam.errors import EndpointError
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel
from triplebeam.index.snapshot import Snapshot
from triplebeam.methods.shared.question_answering import QuestionAnswerer
from triplebeam.passage import Passage
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.kgp import KGP

QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
ACTOR, CITY, LAKE = "Somebody starred in Laughter in Hell.", "Milwaukee lies somewhere.", "Lake Michigan is a lake."
EDGES = [("film", "director"), ("film", "actor"), ("actor", "city"), ("city", "lake")]
SCORES = {
    QUESTION: {"film": 0.5, "director": 0.4},
    ACTOR: {"actor": 0.9, "director": 0.3},
    CITY: {"city": 0.8},
    LAKE: {"lake": 0.7},
}


class Similarity:
    """Made-up scores by query; what a query does not name has none to speak of."""

    def __init__(self, world: Snapshot) -> None:
        self.passages = world.passages

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        raise AssertionError("only scores are asked for")

    def scores(self, query: str) -> NDArray[np.float32]:
        table = SCORES[query]
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


class TestFourSteps:
    """The lake is three passages away from the seed, and nothing but the walk leads there."""

    @pytest.fixture
    def done(self, world: Snapshot) -> tuple[Scripted, list[Step], Answer]:
        with Scripted([evidence(ACTOR), evidence(CITY), evidence(LAKE), final("Michigan")]) as model:
            return model, *driven(agent(world, model, Table({QUESTION: ["film"]}), branches=1), QUESTION)

    def test_the_last_step_finds_the_last_passage(self, done: tuple[Scripted, list[Step], Answer]) -> None:
        _, steps, answer = done
        assert [step.query for step in steps] == [QUESTION, ACTOR, CITY, LAKE]
        assert [step.ranking.ids for step in steps] == [["film"], ["actor"], ["city"], ["lake"]]
        assert (answer.text, answer.ending) == ("Michigan", "no path leads to another passage")

    def test_what_is_needed_next_depends_on_the_path(self, done: tuple[Scripted, list[Step], Answer]) -> None:
        first, second, third, _ = (prompt.user for prompt in done[0].prompts)
        assert "directed by Edward Cahn" in first
        assert "Pat Brien starred" not in first
        assert "[2] Pat Brien" in second
        assert "[3] Milwaukee" in third
        assert all(f"Question: {QUESTION}" in user for user in (first, second, third))

    def test_each_step_tells_the_ranking_so_far(self, done: tuple[Scripted, list[Step], Answer]) -> None:
        _, steps, answer = done
        assert [step.so_far.ids for step in steps] == [
            ["film"],
            ["actor", "film"],
            ["actor", "city", "film"],
            ["actor", "city", "lake", "film"],
        ]
        assert steps[-1].so_far == answer.ranking
        assert answer.ranking[3].score == pytest.approx(0.5), "a seed's similarity is to the question"

    def test_the_seeds_cost_no_call(self, done: tuple[Scripted, list[Step], Answer]) -> None:
        _, steps, answer = done
        assert [step.usage.calls for step in steps] == [0, 1, 1, 1]
        assert answer.usage.calls == 4


class TestTheQueue:
    def test_first_in_first_out(self, world: Snapshot) -> None:
        """Both seeds go on before a path of two passages does; what was collected is not collected again."""
        table = Table({QUESTION: ["city", "film"]})
        with Scripted([evidence(LAKE), evidence(ACTOR), final("x")]) as model:
            steps, answer = driven(agent(world, model, table), QUESTION)
        assert [step.ranking.ids for step in steps] == [["city", "film"], ["lake", "actor"], ["director"]]
        assert answer.ending == "no path leads to another passage"

    def test_a_path_whose_neighbours_are_collected_asks_nothing(self, world: Snapshot) -> None:
        table = Table({QUESTION: ["film", "director", "actor", "city", "lake"]})
        with Scripted([final("x")]) as model:
            steps, answer = driven(agent(world, model, table), QUESTION)
        assert (len(steps), answer.ending) == (1, "no path leads to another passage")

    def test_only_edges_that_are_asked_for(self, world: Snapshot) -> None:
        with Scripted([final("x")]) as model:
            answer = agent(world, model, Table({QUESTION: ["film"]}), edges=("structural",)).answer(QUESTION)
        assert answer.ranking.ids == ["film"]


class TestEndings:
    """Every way out is taken, and named."""

    def run(self, world: Snapshot, replies: list[Completion], **parameters: Any) -> Answer:
        with Scripted(replies) as model:
            return agent(world, model, Table({QUESTION: ["film"]}), **parameters).answer(QUESTION)

    def test_enough_are_collected(self, world: Snapshot) -> None:
        answer = self.run(world, [evidence(ACTOR), final("x")], collected=2)
        assert (answer.ending, answer.ranking.ids) == ("as many passages were collected as wanted", ["actor", "film"])
        assert self.run(world, [final("x")], collected=1).ending == "as many passages were collected as wanted"

    def test_the_last_step(self, world: Snapshot) -> None:
        answer = self.run(world, [evidence(ACTOR), final("x")], max_steps=2, branches=1)
        assert (answer.ending, len(answer.steps)) == ("the last step was reached", 2)

    @pytest.mark.parametrize("nothing", ["", " ", None])
    def test_a_path_that_needs_nothing_is_left(self, world: Snapshot, nothing: str | None) -> None:
        answer = self.run(world, [evidence(nothing), final("x")])
        assert (answer.ending, answer.ranking.ids) == ("no path leads to another passage", ["film"])
        assert [(step.query, len(step.ranking)) for step in answer.steps] == [(QUESTION, 1), ("", 0)]

    def test_replies_that_cannot_be_used_are_reported_and_do_not_stop_it(self, world: Snapshot) -> None:
        answer = self.run(world, [BAD, BAD, BAD, BAD])
        assert [len(step.problems) for step in answer.steps] == [0, 1]
        assert answer.ending.startswith("no path leads to another passage; ")

    def test_nothing_is_found(self, world: Snapshot) -> None:
        with Scripted([final("")]) as model:
            answer = agent(world, model, Table({QUESTION: []})).answer(QUESTION)
        assert (answer.text, len(answer.ranking)) == ("", 0)

    def test_an_endpoint_that_is_gone_is_an_error(self, world: Snapshot) -> None:
        with pytest.raises(EndpointError, match="does not answer"):
            agent(world, Gone(), Table({QUESTION: ["film"]})).answer(QUESTION)


class Rows:
    """As many passages as wanted, each with the score of its number."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def ids(self, rows: NDArray[np.int64]) -> list[str]:
        return [f"p{row:02d}" for row in rows]

    def row(self, passage_id: str) -> int:
        return int(passage_id[1:])

    def __getitem__(self, passage_id: str) -> Passage:
        return Passage(passage_id, "text")

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        return Ranking.from_scores({f"p{row:02d}": float(row) for row in range(self.count)}).top(k)

    def scores(self, query: str) -> NDArray[np.float32]:
        return np.arange(self.count, dtype=np.float32)


@settings(max_examples=80, deadline=None)
@given(
    data=st.data(),
    nodes=st.integers(1, 10),
    seeds=st.integers(1, 4),
    branches=st.integers(1, 3),
    collected=st.integers(1, 12),
    max_steps=st.integers(1, 8),
)
def test_what_is_collected_hangs_together(
    data: st.DataObject, nodes: int, seeds: int, branches: int, collected: int, max_steps: int
) -> None:
    rows, edges = Rows(nodes), data.draw(edge_lists(nodes))
    steps, answer = driven(
        KGP(
            retriever=rows,
            similarity=rows,
            graph=graph_of(nodes, [], edges),
            passages=rows,  # type: ignore[arg-type]
            model=Scripted([evidence("needed")] * max_steps),
            answerer=QuestionAnswerer(model=Scripted([final("end")]), passages=rows),
            seeds=seeds,
            branches=branches,
            collected=collected,
            max_steps=max_steps,
        ),
        "q",
    )
    assert len(steps) <= max_steps
    assert len(answer.ranking) <= collected
    found = [rows.row(id_) for step in steps for id_ in step.ranking.ids]
    assert len(found) == len(set(found)) == len(answer.ranking), "each passage once"
    joined = {*edges, *((b, a) for a, b in edges)}
    for number, step in enumerate(steps[1:], start=1):
        assert 1 <= len(step.ranking) <= branches
        before = [rows.row(id_) for earlier in steps[:number] for id_ in earlier.ranking.ids]
        assert all(any((old, rows.row(id_)) in joined for old in before) for id_ in step.ranking.ids)
