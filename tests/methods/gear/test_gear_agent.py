"""GeAR's agent: against a transcription of Eq. 4 to 9, and through loops that a scripted model drives."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import gear_agent
from scripted_facts import DIRECTED, LIES, LIVED, QUESTION, STARRED, facts, over
from scripted_loops import BAD, PASSAGES, Driven, Gone, Table, driven, final, read_by, reply
from triplebeam.answer import Answer
from triplebeam.generate.language_model import Completion
from triplebeam.methods.gear import GeAR, PassageLink
from triplebeam.methods.gear.reason import Verdict
from triplebeam.methods.shared.facts import Fact
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

PASSAGE_IDS = sorted(PASSAGES)


def verdict(answer: str = "", missing: str = "") -> Completion:
    return reply(answerable=bool(answer), answer=answer, why=missing)


def query(text: str) -> Completion:
    return reply(query=text)


class TestThreeSteps:
    """Only the third step finds the last passage."""

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
                verdict(missing="Who acted in it."),
                query("Who starred in Laughter in Hell?"),
                facts(DIRECTED, STARRED, LIVED),
                verdict(missing="The lake at Milwaukee."),
                query("On which lake lies Milwaukee?"),
                facts(LIES),
                verdict(answer="Lake Michigan"),
                final("Lake Michigan"),
            ]
        )
        with model:
            return Driven(model, table, *driven(GeAR(**over(model, table, links)), QUESTION))

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
        table = Table({"q": ["film"], "r": ["film", "city"]})
        links = Table({" ".join(LIES): ["city"], " ".join(LIVED): ["actor"]})
        with Scripted(replies) as model:
            return GeAR(**over(model, table, links), **parameters).answer("q"), table

    def test_the_last_step(self) -> None:
        replies = [facts(LIES), verdict(missing="x"), query("r"), facts(LIVED), verdict(missing="x"), final("")]
        answer, table = self.run(replies, max_steps=2)
        assert (answer.ending, answer.text, table.asked) == ("the last step was reached", "", ["q", "r"])
        assert answer.missing == ("x",)

    def test_a_repeated_query_is_searched_for_again(self) -> None:
        replies = [facts(LIES), verdict(), query("q"), facts(), verdict(), query("q"), facts(), verdict(), final("")]
        answer, table = self.run(replies, max_steps=3)
        assert (answer.ending, table.asked) == ("the last step was reached", ["q", "q", "q"])

    def test_no_query_is_given(self) -> None:
        answer, _ = self.run([facts(LIES), verdict(missing="x"), query(" "), final("")])
        assert answer.ending == "the model gave no further query"

    def test_an_answer_without_words_is_none(self) -> None:
        empty = reply(answerable=True, answer=" ", why="")
        answer, _ = self.run([facts(LIES), empty, final("")], max_steps=1)
        assert answer.ending == "the last step was reached"

    def test_where_the_passages_do_not_say_it_the_loops_answer_is_kept(self) -> None:
        answer, _ = self.run([facts(LIES), verdict(answer="Lake Michigan"), final("")])
        assert (answer.text, answer.loop_text, answer.sentence) == ("Lake Michigan", "Lake Michigan", "")

    def test_facts_are_looked_up_in_the_passages_they_were_read_in(self) -> None:
        with Scripted([facts(LIES), verdict(answer="Lake Michigan"), final("Lake Michigan")]) as model:
            answer = GeAR(**over(model, Table({"q": ["film", "city"]}), Table({" ".join(LIES): ["film"]}))).answer("q")
        assert model.prompts[0].template == "gear/read"
        assert [fact.span and fact.span.passage_id for fact in answer.evidence] == ["city"]
        assert answer.ranking.ids == ["film", "city"], "Eq. 9 all the same"

    def test_replies_that_cannot_be_used_are_reported_and_do_not_stop_it(self) -> None:
        answer, _ = self.run([BAD] * 6 + [final("")])
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

        def read(self, question: str, passage_ids: Sequence[str], gist: Sequence[Fact] = ()) -> list[Fact]:
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
        def reason(self, gist: object, question: str) -> Verdict:
            return Verdict(len(ours.calls) >= stops, "r", "a" if len(ours.calls) >= stops else "")

        def rewrite(self, gist: object, question: str, missing: str) -> str:
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
        read=gist_reads,
    ).answer("0")
    assert table.asked == queries
    assert ours.calls == theirs.calls
    assert [str(fact) for step in answer.steps for fact in read_by(step)] == G
    assert [step.so_far.ids for step in answer.steps] == stopped
    assert answer.ranking.ids == C
    assert links.asked == [fact for fact in G for _ in ("passages", "triples")], "each fact is linked once"
