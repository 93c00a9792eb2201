"""The agent as it is by default: facts with their source, evidence first, few calls, and an end to vain searches."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias

import pytest

from scripted_facts import DIRECTED, LIES, LIVED, QUESTION, STARRED, agent, cited, facts, verdict
from scripted_loops import BAD, PASSAGES, Driven, Table, final, read_by, reply
from triplebeam.answer import Step
from triplebeam.generate.language_model import Completion
from triplebeam.methods.agent import EvidenceAgent
from triplebeam.methods.gear import SyncGE
from triplebeam.methods.shared.facts import Fact, with_sources
from triplebeam.methods.shared.question_answering import QuestionAnswerer
from triplebeam.passage import Passage
from triplebeam.ranking import Ranking
from triplebeam.testing.contracts.agents import AgentContract, Ending
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

FILM, LAKE = "Who starred in Laughter in Hell?", "On which lake lies Milwaukee?"
Finds: TypeAlias = Mapping[str, Sequence[str]]
LINKED = {" ".join(fact): ["other", "film"] for fact in (DIRECTED, STARRED, LIVED, LIES)}
UNLINKED = dict.fromkeys(LINKED, ())
ON_THE_LAKE = "Milwaukee lies in Wisconsin on Lake Michigan."
READ_FILM = cited((DIRECTED, 1, "a drama film directed by Edward Cahn"))


def ask(
    replies: Sequence[Completion], finds: Finds, links: Finds = UNLINKED, question: str = "q", **parameters: Any
) -> Driven:
    """Ask the agent over tables; every reply has to be asked for."""
    table = Table(finds)
    with Scripted(replies) as model:
        answer = agent(model, table, Table(links), **parameters).answer(question)
    return Driven(model, table, list(answer.steps), answer)


class TestContract(AgentContract):
    """Two calls a step: facts with their source, and a verdict that gives the next query."""

    passages = PASSAGES
    question = QUESTION
    finds = MappingProxyType(
        {QUESTION: ["director", "film", "other"], FILM: ["actor", "film"], LAKE: ["actor", "lake", "city"]}
    )
    replies = (
        cited((DIRECTED, 2, "a drama film directed by Edward Cahn")),
        verdict(missing="No document says who acted in it.", used=[1], query=FILM),
        cited(
            (STARRED, 1, "Pat Brien starred in Laughter in Hell"),
            (LIVED, 1, "Pat Brien starred in … and lived in Milwaukee"),
        ),
        verdict(missing="No document says on which lake Milwaukee lies.", used=[1, 2, 3], query=LAKE),
        cited((LIES, 2, ON_THE_LAKE), (DIRECTED, 1, "")),
        verdict(answer="Lake Michigan", used=[1, 2, 3, 4]),
        reply(sentence="It is that lake.", found=True, answer="Lake Michigan", others=["Michigan"]),
    )
    last, text, loop_text, ending = "city", "Lake Michigan", "Lake Michigan", "the facts answer the question"
    so_far = (
        ["film", "other", "director"],
        ["film", "actor", "other", "director"],
        ["film", "actor", "city", "other", "director", "lake"],
    )
    calls = (2, 2, 2)

    at_the_last_step = Ending(
        replies=[facts(LIES), verdict(query="r"), facts(LIVED), verdict(missing="x"), final("")],
        ending="the last step was reached",
        finds={"q": ["film"], "r": ["city"]},
        parameters={"max_steps": 2},
    )
    when_it_repeats_itself = Ending(
        replies=[facts(), verdict(missing="x", query="Q?"), final("")],
        ending="the next query repeats an earlier one",
        queries=["q"],
    )
    when_it_may_repeat_itself = Ending(
        replies=[facts(LIES), verdict(query="q"), verdict(query="q"), verdict(), final("")],
        ending="the last step was reached",
        queries=["q", "q", "q"],
        parameters={"stop_when_stuck": False, "max_steps": 3},
    )
    when_nothing_is_found = Ending(
        replies=[verdict(missing="x", query="r"), final("")], ending="the step brought nothing new", finds=[]
    )
    when_replies_are_unusable = Ending(
        replies=[*[BAD] * 4, final("")], ending="the model gave no further query", problems=[2]
    )

    def make_agent(self, retriever: Any, model: Any, **parameters: Any) -> EvidenceAgent:
        return agent(model, retriever, Table(LINKED), **parameters)

    def make_reply(self, words: str) -> Completion:
        return reply(facts=[], missing=words, answerable=False, answer="", query=words, found=True, sentence=words)

    def test_nothing_is_read_twice_and_known_facts_are_shown(self) -> None:
        first, third = (self.drive_whole().model.prompts[number].user for number in (0, 4))
        assert PASSAGES["actor"].text not in third, "the second step has read it"
        assert "3. Pat Brien lived in Milwaukee" in third
        assert f"Question: {QUESTION}" in third
        assert first.endswith(f"The search was for: {QUESTION}")
        assert third.endswith("The search was for: On which lake lies Milwaukee?")

    def test_each_fact_has_the_words_it_was_read_from(self) -> None:
        done = self.drive_whole()
        read = [(fact.span.passage_id, fact.span.text) for step in done.steps for fact in step.facts if fact.span]
        assert [passage for passage, _ in read] == ["film", "actor", "actor", "city"]
        assert all(words in PASSAGES[passage].text for passage, words in read)
        assert [fact.triple for fact in done.answer.evidence] == [Triple(*t) for t in (DIRECTED, STARRED, LIVED, LIES)]
        assert (done.answer.supported, done.answer.outcome, done.answer.missing) == (True, "answered", ())
        assert done.answer.others == ("Michigan",)

    def test_the_answer_is_read_from_the_best_passages_with_the_facts(self) -> None:
        last = self.drive_whole().model.prompts[-1].user
        assert last.index("[1] Laughter in Hell") < last.index("[2] Pat Brien") < last.index("[3] Milwaukee")
        assert "[5]" in last
        assert "[6]" not in last
        assert "4. Milwaukee lies on Lake Michigan" in last


@pytest.mark.parametrize(
    ("switch", "ranked", "shown"),
    [
        ({}, ["city", "film", "other"], "[1] Milwaukee"),
        ({"ranking": "fusion"}, ["film", "other", "city"], "[1] Milwaukee"),
        ({"answer_from": "fusion"}, ["city", "film", "other"], "[1] Laughter in Hell"),
    ],
)
def test_evidence_comes_first_in_the_ranking_and_in_the_reading(
    switch: dict[str, Any], ranked: list[str], shown: str
) -> None:
    """Each of the two can be switched off by itself."""
    replies = [cited((LIES, 3, ON_THE_LAKE)), verdict(answer="Lake Michigan", used=[1]), final("Lake Michigan")]
    done = ask(replies, {"q": ["film", "other", "city"]}, LINKED, answered_from=1, **switch)
    reading = done.model.prompts[-1].user
    assert done.answer.ranking.ids == ranked
    assert shown in reading
    assert ("Facts that were noted" in reading) == (shown == "[1] Milwaukee")


def test_an_answer_from_facts_is_not_read_again() -> None:
    """The verdict's answer and sentence stand; a guess, and the answer of a given answerer, is read from passages."""
    noted = cited((LIES, 1, ON_THE_LAKE))
    judged = verdict(answer="Lake Michigan", used=[1], sentence="Milwaukee lies on Lake Michigan.", others=["Michigan"])
    done = ask([noted, judged], {"q": ["city"]}, answer_from="facts")
    assert (done.answer.text, done.answer.sentence) == ("Lake Michigan", "Milwaukee lies on Lake Michigan.")
    assert (done.answer.supported, done.answer.outcome, done.answer.others) == (True, "answered", ("Michigan",))
    assert (done.answer.usage.calls, done.answer.loop_text) == (2, "Lake Michigan")
    assert not ask(
        [noted, verdict(answer="Lake Erie", used=[1])], {"q": ["city"]}, answer_from="facts"
    ).answer.supported
    for guess in (verdict(missing="Which lake?"), verdict(answer="Lake Michigan", from_memory=[LIVED])):
        found = {"q": ["city"], "Pat Brien lived in Milwaukee": []}
        assert ask([noted, guess, final("x")], found, answer_from="facts").answer.usage.calls == 3
    with Scripted([final("Lake Erie")]) as other:
        answerer = QuestionAnswerer(model=other, passages=PASSAGES)
        assert ask([noted, judged], {"q": ["city"]}, answer_from="facts", answerer=answerer).answer.text == "Lake Erie"


class TestEndings:
    """Every way out is taken, and named."""

    def run(self, replies: list[Completion], **parameters: Any) -> Driven:
        with_facts = {f"q {' '.join(read)}": ["actor"] for read in (LIES, LIVED + LIES)}
        finds = {"q": ["film"], "r": ["film", "city"], "s": ["city"], **with_facts}
        return ask(replies, finds, {" ".join(LIES): ["city"], " ".join(LIVED): ["actor"]}, **parameters)

    def test_a_repeated_query_is_searched_for_with_the_facts_once(self) -> None:
        replies = [facts(LIES), verdict(query="Q?"), facts(LIVED), verdict(query="q"), final("")]
        done = self.run(replies, fall_back=False)
        assert done.answer.ending == "the next query repeats an earlier one"
        assert done.table.asked == ["q", f"q {' '.join(LIES)}"]
        assert [read_by(step) for step in done.steps] == [(Triple(*LIES),), (Triple(*LIVED),)]

    @pytest.mark.parametrize(("used", "searched"), [([2], LIES), ([], LIVED + LIES)])
    def test_the_search_with_the_facts_has_those_of_the_chain_that_were_read_or_all(
        self, used: list[int], searched: tuple[str, ...]
    ) -> None:
        from_memory = verdict(used=used, from_memory=[["Wisconsin", "is in", "America"]], query="q")
        answered = verdict(answer="Lake Michigan", used=[2])
        done = self.run([facts(LIVED, LIES), from_memory, facts(), answered, final("Lake Michigan")])
        assert done.answer.ending == "the facts answer the question"
        assert done.table.asked == ["q", f"q {' '.join(searched)}"]

    def test_a_step_that_brings_nothing(self) -> None:
        replies = [facts(LIES), verdict(query="r"), facts(LIVED), verdict(query="s"), verdict(), final("")]
        assert self.run(replies).answer.ending == "the step brought nothing new"

    def test_an_answer_without_words_is_none(self) -> None:
        empty = reply(missing="", answerable=True, used=[1], answer=" ")
        assert self.run([facts(LIES), empty, final("")], max_steps=1).answer.ending == "the last step was reached"

    def test_nulls_and_numbers_cost_no_correction(self) -> None:
        found = reply(facts=[["Milwaukee", "founded in", 1846], ["a", "b", "c", "d"]])
        judged = reply(missing=None, answerable=True, used=None, answer=1846)
        replies = [found, judged, reply(found=True, answer=1846, sentence=None)]
        done = ask(replies, {"q": ["film"]}, {"Milwaukee founded in 1846": ["city"]})
        [step] = done.steps
        assert (done.answer.text, read_by(step)) == ("1846", (Triple("Milwaukee", "founded in", "1846"),))
        assert step.problems == ("a fact that is not a triple was ignored: ['a', 'b', 'c', 'd']",)

    def test_fact_numbers_that_do_not_exist_are_passed_over(self) -> None:
        done = self.run([facts(LIES), verdict(answer="x", used=[7, 1, 1, 0]), final("x")])
        assert [fact.triple for fact in done.answer.evidence] == [Triple(*LIES)]


class TestSources:
    """What a model says about the source of a fact is checked."""

    def read(self, *rows: Any, **parameters: Any) -> Step:
        replies = [reply(facts=list(rows)), verdict(answer="x", used=[1]), final("x")]
        links = {" ".join(map(str, fact)): () for fact in (LIES, LIVED, *(("a", "b", n) for n in range(3)))}
        [step] = ask(replies, {"q": ["film", "city"]}, links, **parameters).steps
        return step

    @pytest.mark.parametrize(
        ("triple", "number", "quotation", "found"),
        [
            pytest.param(LIES, 1, ON_THE_LAKE, "city", id="a wrong number is corrected by the quotation"),
            pytest.param(LIES, "[2]", "a lovely place", "city", id="a wrong quotation is corrected by the passage"),
            pytest.param(LIVED, 2, "Milwaukee lies in Wisconsin", None, id="what no passage says has no words"),
        ],
    )
    def test_numbers_and_quotations_correct_each_other(
        self, triple: tuple[str, str, str], number: int | str, quotation: str, found: str | None
    ) -> None:
        step = self.read({"triple": triple, "passage": number, "quotation": quotation})
        assert [fact.span and fact.span.passage_id for fact in step.facts] == [found]
        assert step.so_far.ids[0] == "city", "the passage that the model names comes first all the same"

    def test_many_facts_without_words_are_reported(self) -> None:
        unsaid = [{"triple": ["a", "b", str(n)], "passage": 9, "quotation": ""} for n in range(3)]
        step = self.read(*unsaid, fall_back=False)
        assert step.problems == ("3 of 3 facts are not supported by the model's quotations",)

    @pytest.mark.parametrize("row", [LIES, [*LIES, 2, "Milwaukee lies"], {"subject": 1}])
    def test_other_forms_of_a_fact_cost_no_correction(self, row: Any) -> None:
        step = self.read({"triple": LIVED, "passage": None, "quotation": None}, row)
        assert step.usage.calls == 2

    @pytest.mark.parametrize(
        ("also", "same"),
        [
            ("none", []),
            ("", []),
            (None, []),
            (True, []),
            ({"passage": 2}, []),
            (2, ["lake"]),
            ("2", ["lake"]),
            ("2, 4", ["lake", "film"]),
            ([4, "[2]", None], ["film", "lake"]),
            ([2, 9, 3], ["lake"]),
        ],
    )
    @pytest.mark.parametrize("side_by_side", [False, True])
    def test_other_passages_however_they_are_written(self, also: object, same: list[str], side_by_side: bool) -> None:
        said = {"triple": LIES, "passage": 3, "quotation": ON_THE_LAKE, "also": also}
        row = [*LIES, 3, ON_THE_LAKE, also] if side_by_side else said
        found = ["actor", "lake", "city", "film"]
        answer = ask([reply(facts=[row]), verdict(used=[1], answer="x"), final("x")], {"q": found}).answer
        assert answer.usage.calls == 3, "no correction"
        first = ["city", *same]
        assert answer.ranking.ids == [*first, *(id_ for id_ in found if id_ not in first)]

    def test_passages_that_say_the_same_come_after_those_of_the_chain(self) -> None:
        said = {"triple": LIES, "passage": 3, "quotation": ON_THE_LAKE, "also": [2]}
        other = {"triple": DIRECTED, "passage": 4, "quotation": "", "also": None}
        replies = [reply(facts=[other, said]), verdict(used=[2], answer="Lake Michigan"), final("x")]
        answer = ask(replies, {"q": ["actor", "lake", "city", "film"]}).answer
        assert answer.ranking.ids == ["city", "lake", "film", "actor"]

    def test_other_passages_are_kept_where_the_own_is_looked_up(self) -> None:
        fact = Fact(Triple(*LIES), also_in=("lake",))
        [found] = with_sources([fact], [PASSAGES["film"], PASSAGES["city"]])
        assert found.span
        assert (found.passage_id, found.also_in) == ("city", ("lake",))
        assert with_sources([fact], [PASSAGES["film"]]) == (fact,)


class TestSeveralSearches:
    """A step may search for more than its query; every search has its place in what is read and in the ranking."""

    FINDS = MappingProxyType({"q": ["film", "actor"], "r": ["director", "other"], "s": ["city"], "t": ["lake"]})

    def test_they_are_read_in_turn_without_what_was_asked_before(self) -> None:
        replies = [
            READ_FILM,
            verdict(used=[1], query="r", also=["Q?", " s ", "t"]),
            cited((LIES, 2, ON_THE_LAKE)),
            verdict(used=[1], answer="Lake Michigan"),
            final("Lake Michigan"),
        ]
        done = ask(replies, self.FINDS, {" ".join(DIRECTED): ["film"], " ".join(LIES): ["city"]})
        assert done.table.asked == ["q", "r", "s", "t"], "three at once, without the one that was searched for before"
        reading = done.model.prompts[2].user
        assert reading.index("[1] Edward") < reading.index("[2] Milwaukee") < reading.index("[3]")
        assert "The search was for: r / s / t" in reading
        assert "- q\n- r / s / t" in done.model.prompts[3].user
        assert done.steps[1].query == "r / s / t"
        ranked = ["film", "city", "director", "actor", "lake", "other"]
        assert done.answer.ranking.ids == ranked, "two of facts, then each search with its best by Eq. 9"

    @pytest.mark.parametrize(
        ("given", "searched"),
        [
            ({"query": "r", "also": ""}, ["r"]),
            ({"query": "r", "also": "s"}, ["r", "s"]),
            ({"query": "", "also": "s"}, ["s"]),
            ({"query": "r", "also": [{"query": "s"}, None, "t"]}, ["r", "t"]),
            ({"query": "r", "also": {"query": "s"}}, ["r"]),
            ({"query": "r", "also": ["R", "R?"]}, ["r"]),
            ({"query": "q", "also": ["q", "q", "r"]}, ["r"]),
            ({"query": "r", "also": ["s", "R?", "t"]}, ["r", "s", "t"]),
            ({"query": "q", "also": ["r", "s", "t", "u"]}, ["r", "s", "t"]),
        ],
    )
    def test_what_is_searched_for_of_what_a_verdict_gives(self, given: dict[str, Any], searched: list[str]) -> None:
        replies = [facts(), verdict(**given), facts(), verdict(answer="x"), final("x")]
        assert ask(replies, self.FINDS).table.asked == ["q", *searched]
        assert ask(replies, self.FINDS, searches=1).table.asked == ["q", searched[0]]

    def test_a_step_has_no_more_passages_than_it_may(self) -> None:
        finds = {"q": ["film"], "r": ["actor", "director"], "s": ["city", "other"]}
        replies = [facts(), verdict(query="r", also=["s"]), facts(), verdict(answer="x"), final("x")]
        assert ask(replies, finds, retrieved=2).steps[1].ranking.ids == ["actor", "city"]

    def test_what_only_the_walk_found_is_next_to_the_facts(self) -> None:
        """Eq. 3 puts it first, and leaves the last one out, which is not lost."""
        found = ["film", "actor", "director", "other", "city", "p6", "p7"]

        class Walk(SyncGE):
            def link(self, read: Sequence[Triple]) -> Any:
                return []

            def expand(self, question: str, base: Ranking, initial: Any) -> Ranking:
                return Table({question: ["lake", *base.ids[:6]]}).retrieve(question, 20)

        passages = PASSAGES | {id_: Passage(id_, "Nothing.") for id_ in ("p6", "p7")}
        nothing: Any = None
        walk: Any = Walk(base=Table({"q": found}), triples=nothing, scorer=nothing, reader=nothing)
        with Scripted([READ_FILM, verdict(used=[1], answer="x"), final("x")]) as model:
            answer = agent(model, walk, Table(UNLINKED), passages=passages).answer("q")
        assert answer.ranking.ids == ["film", "lake", *found[1:]]

    def test_what_is_near_a_fact_is_above_the_end_of_a_search(self) -> None:
        finds = {"q": ["film", "city", "lake", "director", "other"]}
        replies = [READ_FILM, verdict(used=[1], answer="x"), final("x")]
        done = ask(replies, finds, {" ".join(DIRECTED): ["film", "actor"]})
        assert set(done.answer.ranking.ids[:3]) == {"film", "city", "actor"}
        assert "[2] Milwaukee" in done.model.prompts[-1].user, "the answer is read from what the search found first"


def test_a_source_and_a_day_that_the_question_names_have_a_place() -> None:
    asked = "Which film did The Age and, on October 7, 2023, Wired praise?"
    fields = {"film": {"source": "Wired"}, "lake": {"source": "Wired", "published_at": "2023-10-07"}}
    fields |= {"other": {"source": "The Age"}, "director": {"source": "The Age"}, "city": {"source": "The Age Online"}}
    passages = {id_: replace(each, metadata=fields.get(id_, {})) for id_, each in PASSAGES.items()}
    finds = {asked: ["film", "city", "actor", "director", "lake", "other"]}
    done = ask([READ_FILM, verdict(used=[1], answer="x"), final("x")], finds, question=asked, passages=passages)
    assert done.answer.ranking.ids == ["film", "director", "lake", "city", "actor", "other"]


class TestGivingUp:
    """What two searches did not find is given up, and the answer says what is missing."""

    FINDS = MappingProxyType({"q": ["film"], "r": ["actor"], "s": ["city"], "t": ["lake"]})
    MISSING = "No document says who was the mayor of Milwaukee."

    def run(self, last: Completion) -> Driven:
        replies = [
            facts(LIVED), verdict(used=[1], missing=self.MISSING, query="r"),
            facts(), verdict(used=[1], missing=self.MISSING, query="s"),
            facts(LIES), verdict(used=[1], missing=self.MISSING, query="t"),  # a new fact, but of no use
            last,
        ]  # fmt: skip
        return ask(replies, self.FINDS)

    def test_after_two_searches(self) -> None:
        done = self.run(final(""))
        assert done.table.asked == ["q", "r", "s"]
        assert done.answer.ending == "what is missing was searched for in other words and not found"
        assert (done.answer.text, done.answer.outcome) == ("", "not_in_documents")
        assert done.answer.missing == (self.MISSING,)
        assert [fact.triple for fact in done.answer.evidence] == [Triple(*LIVED)], "what was found is shown"

    def test_with_a_guess(self) -> None:
        guess = reply(sentence="It is not said.", found=False, answer="Frank Zeidler", missing="No document says it.")
        answer = self.run(guess).answer
        assert (answer.text, answer.outcome, answer.supported) == ("Frank Zeidler", "guess", False)
        assert answer.missing == ("No document says it.",)

    @pytest.mark.parametrize(
        ("read", "used"),
        [
            pytest.param([(LIVED, LIES), (), (), ()], [[1], [1], [1, 2], [1]], id="a fact that was not needed before"),
            pytest.param([(), (), (LIES,), (LIVED,)], [[], [], [1], [1]], id="a search that helps the chain"),
        ],
    )
    def test_what_starts_the_count_again(self, read: list[tuple[Any, ...]], used: list[list[int]]) -> None:
        steps = zip(read, used, ["r", "s", "t", ""], strict=True)
        replies = [each for new, chain, query in steps for each in (facts(*new), verdict(used=chain, query=query))]
        assert ask([*replies, final("")], self.FINDS).answer.ending == "the last step was reached"


def test_everyday_knowledge_is_marked() -> None:
    bridged = verdict(answer="United States", used=[1], from_memory=[["Wisconsin", "is in", "United States"]])
    found: dict[str, list[str]] = {"q": ["city"], "Wisconsin is in United States": ["city"]}
    answer = ask([facts(LIES), bridged, final("United States")], found).answer
    assert [(str(fact.triple), fact.from_memory, bool(fact.span)) for fact in answer.evidence] == [
        ("Milwaukee lies on Lake Michigan", False, True),
        ("Wisconsin is in United States", True, False),
    ]
    assert (answer.outcome, answer.supported) == ("answered", False)


def test_everyday_knowledge_that_a_document_states_is_quoted() -> None:
    known = verdict(answer="Milwaukee", used=[], from_memory=[list(LIES)])
    found = {"q": ["city"], "Milwaukee lies on Lake Michigan": ["city"]}
    answer = ask([facts(LIVED), known, final("Milwaukee")], found).answer
    assert [(fact.from_memory, fact.span and fact.span.passage_id) for fact in answer.evidence] == [(False, "city")]
