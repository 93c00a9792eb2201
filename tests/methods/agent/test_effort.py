"""One step where it is enough, the agent where it is not: `read`, `single_step` and `auto`."""

from typing import Any

import pytest

from scripted_facts import DIRECTED, LIES, LIVED, agent, facts, verdict
from scripted_loops import PASSAGES, Table, final
from triplebeam.answer import Answer
from triplebeam.generate.accounting import Accounted
from triplebeam.methods.agent import Auto, SingleStep
from triplebeam.methods.agent.read import QuotingReader
from triplebeam.methods.gear import SyncGE
from triplebeam.methods.gear.beam_search import Pooled
from triplebeam.methods.read_once import ReadOnce
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

QUESTION = "When did the director of Laughter in Hell die?"
RANKED = ["film", "director", "actor", "city", "lake", "other"]


def ask(**parameters: int) -> tuple[Answer, list[str]]:
    """Return the answer, and the passages that were shown for it."""
    with Scripted([final("1963")]) as model:
        answer = ReadOnce(retriever=Table({QUESTION: RANKED}), model=Accounted(model), **parameters).answer(QUESTION)
    return answer, [id_ for id_ in RANKED if PASSAGES[id_].text in model.prompts[0].user]


def test_the_best_five_are_read() -> None:
    answer, shown = ask()
    assert (answer.text, answer.sentence) == ("1963", "It is 1963.")
    assert shown == RANKED[:5]
    assert (answer.ending, answer.usage.calls) == ("one step was asked for", 1)
    assert not answer.supported, "no fact was read, so none supports it"


@pytest.mark.parametrize(
    ("limits", "found", "read"), [({"retrieved": 3, "answered_from": 1}, 3, 1), ({"tokens": 50}, 2, 2)]
)
def test_the_step_is_the_retrieval_within_a_number_or_a_budget(limits: dict[str, int], found: int, read: int) -> None:
    answer, shown = ask(**limits)
    [step] = answer.steps
    assert (step.number, step.query) == (1, QUESTION)
    assert step.ranking == step.so_far == answer.ranking
    assert (answer.ranking.ids, shown) == (RANKED[:found], RANKED[:read])


class TestEffort:
    def single(self, world: Any, words: Any, model: Scripted) -> SingleStep:
        accounted = Accounted(model)
        scorer = Pooled(triples=world.triples, embedder=words)
        reader = QuotingReader(model=accounted, passages=PASSAGES)
        sync = SyncGE(base=Table({QUESTION: ["film"]}), triples=world.triples, scorer=scorer, reader=reader)
        return SingleStep(retriever=sync, model=accounted)

    def test_one_step_takes_two_calls(self, world: Any, words: Any) -> None:
        with Scripted([facts(DIRECTED), final("25 August 1963")]) as model:
            answer = self.single(world, words, model).answer(QUESTION)
        assert answer.text == "25 August 1963"
        assert answer.usage.calls == 2
        assert "director" in answer.ranking.ids, "the walk from the fact that was read"
        assert [(step.so_far, step.usage.calls) for step in answer.steps] == [(answer.ranking, 1)]

    def test_what_a_weak_model_invents_is_left_out(self, world: Any, words: Any) -> None:
        invented = facts(*(Triple("Laughter in Hell", "won", f"prize {n}") for n in range(3)))
        with Scripted([invented, final("1963")]) as model:
            answer = self.single(world, words, model).answer(QUESTION)
        assert (answer.text, answer.evidence, answer.ranking.ids) == ("1963", (), ["film"])
        assert "most facts that the model noted are not in the passages, so the answer is read" in answer.ending

    def test_the_second_agent_works_only_when_it_must(self, world: Any, words: Any) -> None:
        with Scripted([facts(DIRECTED), final("25 August 1963")]) as model:
            auto = Auto(first=self.single(world, words, model), then=agent(model, Table({})))  # which knows no query
            assert auto.answer(QUESTION).usage.calls == 2

    def test_the_second_agent_works_when_one_step_does_not_answer(self, world: Any, words: Any) -> None:
        table = Table({QUESTION: ["director"], "Where does Milwaukee lie?": ["city", "lake"]})
        links = Table({" ".join(LIVED): ["actor"], " ".join(LIES): ["city"]})
        first = [facts(DIRECTED), final("")]
        then = [facts(LIVED), verdict(missing="Where.", query="Where does Milwaukee lie?")]
        then += [facts(LIES), verdict(answer="1963", used=[1]), final("1963")]
        with Scripted([*first, *then]) as model:
            auto = Auto(first=self.single(world, words, model), then=agent(model, table, links))
            answer = auto.answer(QUESTION)
        assert answer.text == "1963"
        assert [step.number for step in answer.steps] == [1, 2, 3]
        assert answer.usage.calls == 7
        assert answer.ending == "one step did not answer it; then the facts answer the question"
        cheap, *expensive = (step.so_far for step in answer.steps)
        assert "film" in cheap.ids
        assert [ranking.ids for ranking in expensive] == [["actor", "director"], ["city", "actor", "director", "lake"]]
        assert expensive[-1] == answer.ranking, "the second agent's alone: it starts afresh"
