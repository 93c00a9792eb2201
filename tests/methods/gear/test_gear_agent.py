"""GeAR's agent: against a transcription of Eq. 4 to 9, and through loops that a scripted model drives."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.gear_agent import gear
from oracles.reciprocal_rank_fusion import rrf
from scripted_facts import DIRECTED, LIES, LIVED, QUESTION, STARRED, facts, over
from scripted_loops import BAD, PASSAGES, Gone, Table, final, read_by, reply
from trials import examples
from triplebeam.generate.language_model import Completion
from triplebeam.methods.gear import GeAR, PassageLink
from triplebeam.methods.gear.reason import Verdict
from triplebeam.methods.shared.facts import Fact
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.testing.contracts.agents import AgentContract, Ending
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

PASSAGE_IDS = sorted(PASSAGES)


def verdict(answer: str = "", missing: str = "") -> Completion:
    return reply(answerable=bool(answer), answer=answer, why=missing)


def query(text: str) -> Completion:
    return reply(query=text)


FILM, LAKE = "Who starred in Laughter in Hell?", "On which lake lies Milwaukee?"
LINKED = {" ".join(fact): ["film"] for fact in (DIRECTED, STARRED, LIVED)} | {" ".join(LIES): ["city"]}


class TestContract(AgentContract):
    """Only the third step finds the last passage."""

    passages = PASSAGES
    question = QUESTION
    finds = MappingProxyType({QUESTION: ["director", "film"], FILM: ["film", "actor"], LAKE: ["other", "city"]})
    replies = (
        *(facts(DIRECTED), verdict(missing="Who acted in it."), query(FILM)),
        *(facts(DIRECTED, STARRED, LIVED), verdict(missing="The lake at Milwaukee."), query(LAKE)),
        *(facts(LIES), verdict(answer="Lake Michigan"), final("Lake Michigan")),
    )
    last, text, loop_text, ending = "city", "Lake Michigan", "Lake Michigan", "the facts answer the question"
    so_far = (
        ["film", "director"],  # the film stands second, but is linked to the fact that was read
        ["film", "director", "actor"],  # 1/61 each of the first two, where the actor has 1/62
        ["film", "city", "director", "other", "actor"],  # the city: second in the third list, and linked
    )
    calls = (3, 3, 2)

    at_the_last_step = Ending(
        replies=[facts(LIES), verdict(missing="x"), query("r"), facts(LIVED), verdict(missing="x"), final("")],
        ending="the last step was reached",
        queries=["q", "r"],
        parameters={"max_steps": 2},
    )
    when_it_repeats_itself = None  # it is searched for again
    when_it_may_repeat_itself = Ending(
        replies=[facts(LIES), verdict(), query("q"), facts(), verdict(), query("q"), facts(), verdict(), final("")],
        ending="the last step was reached",
        queries=["q", "q", "q"],
        parameters={"max_steps": 3},
    )
    when_nothing_is_found = Ending(
        replies=[facts(), verdict(missing="x"), query(" "), final("")],
        ending="the model gave no further query",
        finds=[],
    )
    when_replies_are_unusable = Ending(
        replies=[*[BAD] * 6, final("")],  # reading, reasoning and rewriting, each after one correction
        ending="the model gave no further query",
        problems=[3],
    )

    def make_agent(self, retriever: Any, model: Any, **parameters: Any) -> GeAR:
        return GeAR(**over(model, retriever, Table(LINKED)), **parameters)

    def make_reply(self, words: str) -> Completion:
        return reply(facts=[], answerable=False, answer="", why=words, query=words, found=True, sentence=words)

    def test_what_is_read_and_missing_is_shown(self) -> None:
        done = self.drive_whole()
        rewriting, third_reading = done.model.prompts[2].user, done.model.prompts[6].user
        assert "Laughter in Hell directed by Edward Cahn" in rewriting
        assert "Who acted in it." in rewriting
        assert f"Question: {QUESTION}" in third_reading
        assert "3. Pat Brien lived in Milwaukee" in third_reading
        assert [fact.triple for fact in done.answer.evidence] == [Triple(*t) for t in (DIRECTED, STARRED, LIVED, LIES)]


def test_an_answer_without_words_is_none() -> None:
    with Scripted([facts(LIES), reply(answerable=True, answer=" ", why="x"), final("")]) as model:
        answer = GeAR(**over(model, Table({"q": ["film"]}), Table(LINKED)), max_steps=1).answer("q")
    assert (answer.ending, answer.missing) == ("the last step was reached", ("x",))


def test_facts_are_looked_up_in_the_passages_they_were_read_in() -> None:
    with Scripted([facts(LIES), verdict(answer="Lake Michigan"), final("Lake Michigan")]) as model:
        answer = GeAR(**over(model, Table({"q": ["film", "city"]}), Table({" ".join(LIES): ["film"]}))).answer("q")
    assert model.prompts[0].template == "gear/read"
    assert [fact.span and fact.span.passage_id for fact in answer.evidence] == ["city"]
    assert answer.ranking.ids == ["film", "city"], "Eq. 9 all the same"


FACTS = [f"s{n} p o" for n in range(6)]


@settings(max_examples=examples(150), deadline=None)
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

    theirs, ours = ScriptedReader(), ScriptedReader()
    queries, G, stopped, C = gear(  # noqa: N806
        "0",
        n_max,
        lambda query: retrieved[query],
        theirs,
        lambda G, q: (len(theirs.calls) >= stops, "r"),  # noqa: N803
        lambda G, q, r: str(len(theirs.calls)),  # noqa: N803
        lambda fact: rrf([linked[fact], linked[fact]], 60),
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
    parts: dict[str, Any] = {"reader": ours, "reasoner": ScriptedReasoner(), "answerer": NoAnswer()}
    link = PassageLink(passages=links, triples=links)
    agent = GeAR(retriever=table, model=Gone(), passage_link=link, max_steps=n_max, read=gist_reads, **parts)
    answer = agent.answer("0")
    assert table.asked == queries
    assert ours.calls == theirs.calls
    assert [str(fact) for step in answer.steps for fact in read_by(step)] == G
    assert [step.so_far.ids for step in answer.steps] == stopped
    assert answer.ranking.ids == C
    assert links.asked == [fact for fact in G for _ in ("passages", "triples")], "each fact is linked once"
