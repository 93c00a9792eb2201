"""The agent: against a transcription of Eq. 4 to 9, and through loops that a scripted model drives."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_gear import DIRECTED, LIES, LIVED, PAPER, QUESTION, STARRED, agent, facts, query, verdict

from oracles import gear_agent
from scripted_loops import PASSAGES, Driven, Gone, Table, driven, final, read_by, reply
from triplebeam.answer import Answer
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, Usage
from triplebeam.methods.auto import Auto
from triplebeam.methods.gear import GeAR, LLMReader, PassageLink, SingleStep, SyncGE
from triplebeam.methods.gear.reason import Verdict
from triplebeam.methods.gear.score import Pooled
from triplebeam.methods.shared.facts import Fact
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.ranking import Hit, Ranking
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

PASSAGE_IDS = sorted(PASSAGES)


def ranking(ids: Sequence[str]) -> Ranking:
    return Ranking(Hit(id_, 1 / rank) for rank, id_ in enumerate(ids, start=1))


class TestThreeSteps:
    """The paper's calls. Only the third step finds the last passage."""

    @pytest.fixture
    def done(self) -> Driven:
        table = Table(
            {
                QUESTION: ["director", "film"],
                "Who starred in Laughter in Hell?": ["film", "actor"],
                "On which lake lies Milwaukee?": ["other", "city"],
            }
        )
        links = Table({" ".join(fact): ["film"] for fact in (DIRECTED, STARRED, LIVED)} | {" ".join(LIES): ["city"]})
        model = Scripted(
            [
                facts(DIRECTED),
                verdict(missing="Who acted in it.", used=[1]),
                query("Who starred in Laughter in Hell?"),
                facts(DIRECTED, STARRED, LIVED),
                verdict(missing="The lake at Milwaukee.", used=[1, 2, 3]),
                query("On which lake lies Milwaukee?"),
                facts(LIES),
                verdict(answer="Lake Michigan", used=[1, 2, 3, 4]),
                final("Lake Michigan"),
            ]
        )
        with model:
            return Driven(model, table, *driven(agent(model, table, links, **PAPER), QUESTION))

    def test_the_third_step_finds_the_last_passage(self, done: Driven) -> None:
        _, table, steps, answer = done
        assert table.asked == [QUESTION, "Who starred in Laughter in Hell?", "On which lake lies Milwaukee?"]
        assert ["city" in step.ranking.ids for step in steps] == [False, False, True]
        assert answer.text == answer.loop_text == "Lake Michigan"
        assert answer.ending == "the facts answer the question"
        assert answer.steps == tuple(steps)

    def test_each_step_tells_the_ranking_so_far(self, done: Driven) -> None:
        *_, steps, answer = done
        assert [step.so_far.ids for step in steps] == [
            ["film", "director"],  # the film stands second, but is linked to the fact that was read
            ["film", "director", "actor"],  # 1/61 each of the first two, where the actor has 1/62
            ["film", "city", "director", "other", "actor"],  # the city: second in the third list, and linked
        ]
        assert steps[-1].so_far == answer.ranking

    def test_the_gist_grows_and_holds_nothing_twice(self, done: Driven) -> None:
        *_, steps, answer = done
        assert [read_by(step) for step in steps] == [
            (Triple(*DIRECTED),),
            (Triple(*STARRED), Triple(*LIVED)),
            (Triple(*LIES),),
        ]
        assert [fact.triple for fact in answer.evidence] == [Triple(*t) for t in (DIRECTED, STARRED, LIVED, LIES)]

    def test_the_second_query_depends_on_the_first_retrieval(self, done: Driven) -> None:
        model, *_ = done
        rewrite = model.prompts[2]
        assert "Laughter in Hell directed by Edward Cahn" in rewrite.user
        assert "Who acted in it." in rewrite.user

    def test_reading_is_for_the_original_question_with_the_gist(self, done: Driven) -> None:
        model, *_ = done
        third_reading = model.prompts[6]
        assert f"Question: {QUESTION}" in third_reading.user
        assert "3. Pat Brien lived in Milwaukee" in third_reading.user
        assert "Milwaukee lies in Wisconsin" in third_reading.user, "the passages' texts are looked up"

    def test_tokens_are_counted_by_step(self, done: Driven) -> None:
        *_, steps, answer = done
        assert [step.usage.calls for step in steps] == [3, 3, 2]
        assert [step.usage.tokens_in for step in steps] == [30, 30, 20]
        assert answer.usage.calls == 9


class TestEndings:
    """Every way out is taken, and named."""

    def run(self, replies: list[Completion], **parameters: Any) -> tuple[Answer, Table]:
        with_facts = {f"q {' '.join(read)}": ["actor"] for read in (LIES, LIVED + LIES)}
        table = Table({"q": ["film"], "r": ["film", "city"], "s": ["city"], **with_facts})
        links = Table({" ".join(LIES): ["city"], " ".join(LIVED): ["actor"]})
        with Scripted(replies) as model:
            return agent(model, table, links, **(PAPER | parameters)).answer("q"), table

    def test_the_last_step(self) -> None:
        replies = [facts(LIES), verdict(missing="x"), query("r"), facts(LIVED), verdict(missing="x"), final("")]
        answer, table = self.run(replies, max_steps=2)
        assert (answer.ending, answer.text, table.asked) == ("the last step was reached", "", ["q", "r"])

    def test_a_repeated_query_without_facts(self) -> None:
        answer, table = self.run([facts(), verdict(missing="x"), query("Q?"), final("")])
        assert (answer.ending, table.asked) == ("the next query repeats an earlier one", ["q"])

    def test_a_repeated_query_is_searched_for_with_the_facts_once(self) -> None:
        replies = [facts(LIES), verdict(), query("Q?"), facts(LIVED), verdict(), query("q"), final("")]
        answer, table = self.run(replies)
        assert (answer.ending, table.asked) == ("the next query repeats an earlier one", ["q", f"q {' '.join(LIES)}"])
        assert [read_by(step) for step in answer.steps] == [(Triple(*LIES),), (Triple(*LIVED),)]

    @pytest.mark.parametrize(("used", "searched"), [([2], LIES), ([], LIVED + LIES)])
    def test_the_search_with_the_facts_has_those_of_the_chain_that_were_read_or_all(
        self, used: list[int], searched: tuple[str, ...]
    ) -> None:
        replies = [
            facts(LIVED, LIES),
            verdict(used=used, from_memory=[["Wisconsin", "is in", "America"]], query="q"),
            facts(),
            verdict(answer="Lake Michigan", used=[2]),
            final("Lake Michigan"),
        ]
        answer, table = self.run(replies, calls="few")
        assert (answer.ending, table.asked) == ("the facts answer the question", ["q", f"q {' '.join(searched)}"])

    def test_a_step_that_brings_nothing(self) -> None:
        replies = [
            facts(LIES),
            verdict(),
            query("r"),
            facts(LIVED),
            verdict(),
            query("s"),
            facts(),
            verdict(),
            final(""),
        ]
        answer, _ = self.run(replies)
        assert answer.ending == "the step brought nothing new"

    def test_the_switch_lets_it_go_on(self) -> None:
        replies = [
            facts(LIES), verdict(), query("q"), facts(), verdict(), query("q"), facts(), verdict(), final(""),
        ]  # fmt: skip
        answer, table = self.run(replies, stop_when_stuck=False, max_steps=3)
        assert (answer.ending, table.asked) == ("the last step was reached", ["q", "q", "q"])

    def test_no_query_is_given(self) -> None:
        answer, _ = self.run([facts(LIES), verdict(missing="x"), query(" "), final("")])
        assert answer.ending == "the model gave no further query"

    def test_an_answer_without_words_is_none(self) -> None:
        empty = reply(missing="", answerable=True, used=[1], answer=" ")
        answer, _ = self.run([facts(LIES), empty, final("")], max_steps=1)
        assert answer.ending == "the last step was reached"

    def test_where_the_passages_do_not_say_it_the_loops_answer_is_kept(self) -> None:
        answer, _ = self.run([facts(LIES), verdict(answer="Lake Michigan", used=[1]), final("")])
        assert (answer.text, answer.loop_text, answer.sentence) == ("Lake Michigan", "Lake Michigan", "")

    def test_nulls_and_numbers_cost_no_correction(self) -> None:
        found = reply(facts=[["Milwaukee", "founded in", 1846], ["a", "b", "c", "d"]])
        judged = reply(missing=None, answerable=True, used=None, answer=1846)
        with Scripted([found, judged, reply(found=True, answer=1846, sentence=None)]) as model:
            links = Table({"Milwaukee founded in 1846": ["city"]})
            answer = agent(model, Table({"q": ["film"]}), links).answer("q")
        assert (answer.text, read_by(answer.steps[0])) == ("1846", (Triple("Milwaukee", "founded in", "1846"),))
        assert answer.steps[0].problems == ("a fact that is no triple was passed over: ['a', 'b', 'c', 'd']",)

    def test_fact_numbers_that_do_not_exist_are_passed_over(self) -> None:
        answer, _ = self.run([facts(LIES), verdict(answer="x", used=[7, 1, 1, 0]), final("x")])
        assert [fact.triple for fact in answer.evidence] == [Triple(*LIES)]

    def test_replies_that_cannot_be_used_are_reported_and_do_not_stop_it(self) -> None:
        bad = Completion(text="no idea", usage=Usage(calls=1))
        answer, _ = self.run([bad, bad, bad, bad, bad, bad, final("")])
        (step,) = answer.steps
        assert len(step.problems) == 3, "reading, reasoning and rewriting, each after one correction"
        assert step.usage.calls == 6
        assert answer.ending == "the model gave no further query"


FACTS = [f"s{n} p o" for n in range(6)]


@settings(max_examples=150, deadline=None)
@given(data=st.data(), n_max=st.integers(1, 5), gist_reads=st.integers(1, 4))
def test_agrees_with_equations_4_to_9(data: st.DataObject, n_max: int, gist_reads: int) -> None:
    lists = st.lists(st.sampled_from(PASSAGE_IDS), unique=True, max_size=5)
    retrieved = {str(n): data.draw(lists) for n in range(6)}
    linked = {fact: data.draw(lists) for fact in FACTS}
    read = [data.draw(st.lists(st.sampled_from(FACTS), max_size=4)) for _ in range(5)]
    stops = data.draw(st.integers(1, 6))

    class ScriptedReader:
        def __init__(self) -> None:
            self.calls: list[tuple[list[str], str, list[str]]] = []

        def __call__(self, C: list[str], q: str, G: list[str]) -> list[str]:  # noqa: N803
            self.calls.append((list(C), q, list(G)))
            return read[len(self.calls) - 1]

        def read(
            self, question: str, passage_ids: Sequence[str], gist: Sequence[Fact] = (), searched: str = ""
        ) -> list[Fact]:
            found = self(list(passage_ids), question, [str(fact.triple) for fact in gist])
            return [Fact(Triple(*fact.split())) for fact in found]

    def reason(G: list[str], q: str) -> tuple[bool, str]:  # noqa: N803
        return len(ours.calls or theirs.calls) >= stops, "r"

    theirs, ours = ScriptedReader(), ScriptedReader()
    queries, G, stopped, C = gear_agent.gear(  # noqa: N806
        "0",
        n_max,
        lambda query: retrieved[query],
        theirs,
        lambda G, q: (len(theirs.calls) >= stops, "r"),  # noqa: N803
        lambda G, q, r: str(len(theirs.calls)),  # noqa: N803
        lambda fact: gear_agent.rrf([linked[fact], linked[fact]]),
        gist_reads,
    )

    class ScriptedReasoner:
        def reason(self, gist: object, question: str, searched: object) -> Verdict:
            return Verdict(len(ours.calls) >= stops, "r", "a" if len(ours.calls) >= stops else "")

        def rewrite(self, gist: object, question: str, missing: str, searched: object) -> str:
            assert missing == "r"
            return str(len(ours.calls))

    class NoAnswer:
        def answer(self, question: str, passage_ids: Sequence[str], facts: Sequence[Fact] = (), /) -> ReadAnswer:
            return ReadAnswer()

    table, links = Table(retrieved), Table(linked)
    answer = GeAR(
        retriever=table,
        model=Gone(),
        reader=ours,
        reasoner=ScriptedReasoner(),  # type: ignore[arg-type]
        passage_link=PassageLink(passages=links, triples=links),
        answerer=NoAnswer(),
        max_steps=n_max,
        stop_when_stuck=False,
        **PAPER | {"read": gist_reads},
    ).answer("0")
    assert table.asked == queries
    assert ours.calls == theirs.calls
    assert [str(fact) for step in answer.steps for fact in read_by(step)] == G
    assert [step.so_far.ids for step in answer.steps] == stopped
    assert answer.ranking.ids == C
    assert links.asked == [fact for fact in G for _ in ("passages", "triples")], "each fact is linked once"


class TestEffort:
    """One step where it is enough, the agent where it is not."""

    def single(self, world: Any, words: Any, model: Scripted) -> SingleStep:
        accounted = Accounted(model)
        sync = SyncGE(
            base=Table({"When did the director die?": ["film"]}),
            triples=world.triples,
            scorer=Pooled(triples=world.triples, embedder=words),
            reader=LLMReader(model=accounted, passages=PASSAGES),
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
        class Never(GeAR):
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
        then = [facts(LIVED), verdict(missing="Where."), query("Where does Milwaukee lie?")]
        then += [facts(LIES), verdict(answer="1963", used=[1]), final("1963")]
        with Scripted([*first, *then]) as model:
            auto = Auto(first=self.single(world, words, model), then=agent(model, table, links, **PAPER))
            answer = auto.answer(question)
        assert answer.text == "1963"
        assert [step.number for step in answer.steps] == [1, 2, 3]
        assert answer.usage.calls == 8
        assert answer.ending == "one step did not answer it; then the facts answer the question"
        cheap, *expensive = (step.so_far for step in answer.steps)
        assert "film" in cheap.ids
        assert [ranking.ids for ranking in expensive] == [["actor", "director"], ["city", "actor", "director", "lake"]]
        assert expensive[-1] == answer.ranking, "the second agent's alone: it starts afresh"
