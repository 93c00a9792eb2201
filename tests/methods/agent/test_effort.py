"""`auto` and `single_step`: one step where it is enough, the agent where it is not."""

from typing import Any

from scripted_facts import DIRECTED, LIES, LIVED, agent, facts, verdict
from scripted_loops import PASSAGES, Table, final
from triplebeam.generate.accounting import Accounted
from triplebeam.methods.agent import Auto, EvidenceAgent, SingleStep
from triplebeam.methods.agent.read import QuotingReader
from triplebeam.methods.gear import SyncGE
from triplebeam.methods.gear.beam_search import Pooled
from triplebeam.testing.scripted import Scripted


class TestEffort:
    """One step where it is enough, the agent where it is not."""

    def single(self, world: Any, words: Any, model: Scripted) -> SingleStep:
        accounted = Accounted(model)
        sync = SyncGE(
            base=Table({"When did the director die?": ["film"]}),
            triples=world.triples,
            scorer=Pooled(triples=world.triples, embedder=words),
            reader=QuotingReader(model=accounted, passages=PASSAGES),
        )
        return SingleStep(retriever=sync, model=accounted)

    def test_one_step_takes_two_calls(self, world: Any, words: Any) -> None:
        with Scripted([facts(DIRECTED), final("25 August 1963")]) as model:
            answer = self.single(world, words, model).answer("When did the director die?")
        assert answer.text == "25 August 1963"
        assert answer.usage.calls == 2
        assert "director" in answer.ranking.ids, "the walk from the fact that was read"
        assert [step.so_far for step in answer.steps] == [answer.ranking]

    def test_the_second_agent_works_only_when_it_must(self, world: Any, words: Any) -> None:
        class Never(EvidenceAgent):
            def steps(self, question: str) -> Any:
                raise AssertionError("one step was enough")

        with Scripted([facts(DIRECTED), final("25 August 1963")]) as model:
            expensive = agent(model, Table({}))
            never = Never(**{name: getattr(expensive, name) for name in expensive.__dataclass_fields__})
            answer = Auto(first=self.single(world, words, model), then=never).answer("When did the director die?")
        assert answer.usage.calls == 2

    def test_the_second_agent_works_when_one_step_does_not_answer(self, world: Any, words: Any) -> None:
        question = "When did the director die?"
        table = Table({question: ["director"], "Where does Milwaukee lie?": ["city", "lake"]})
        links = Table({" ".join(LIVED): ["actor"], " ".join(LIES): ["city"]})
        first = [facts(DIRECTED), final("")]
        then = [facts(LIVED), verdict(missing="Where.", query="Where does Milwaukee lie?")]
        then += [facts(LIES), verdict(answer="1963", used=[1]), final("1963")]
        with Scripted([*first, *then]) as model:
            auto = Auto(first=self.single(world, words, model), then=agent(model, table, links))
            answer = auto.answer(question)
        assert answer.text == "1963"
        assert [step.number for step in answer.steps] == [1, 2, 3]
        assert answer.usage.calls == 7
        assert answer.ending == "one step did not answer it; then the facts answer the question"
        cheap, *expensive = (step.so_far for step in answer.steps)
        assert "film" in cheap.ids
        assert [ranking.ids for ranking in expensive] == [["actor", "director"], ["city", "actor", "director", "lake"]]
        assert expensive[-1] == answer.ranking, "the second agent's alone: it starts afresh"
