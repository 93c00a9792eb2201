"""The agent as it is by default: facts with their source, evidence first, few calls, and an end to vain searches."""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from scripted_facts import DIRECTED, LIES, LIVED, QUESTION, STARRED, agent, cited, facts, verdict
from scripted_loops import BAD, PASSAGES, Table, final, read_by, reply
from triplebeam.answer import Answer, Step
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion
from triplebeam.methods.agent import EvidenceAgent
from triplebeam.methods.gear import PassageLink, SyncGE
from triplebeam.methods.shared.facts import Fact, with_sources
from triplebeam.passage import Passage
from triplebeam.ranking import Ranking
from triplebeam.testing.contracts.agents import AgentContract, Ending
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

FILM, LAKE = "Who starred in Laughter in Hell?", "On which lake lies Milwaukee?"
LINKED = {" ".join(fact): ["other", "film"] for fact in (DIRECTED, STARRED, LIVED, LIES)}


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
        cited((LIES, 2, "Milwaukee lies in Wisconsin on Lake Michigan."), (DIRECTED, 1, "")),
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
        third = self.drive_whole().model.prompts[4].user
        assert PASSAGES["actor"].text not in third, "the second step has read it"
        assert "3. Pat Brien lived in Milwaukee" in third
        assert f"Question: {QUESTION}" in third
        assert "The search was for: On which lake lies Milwaukee?" in third

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


class TestSwitches:
    """Each of our changes can be switched off by itself."""

    def run(self, **parameters: Any) -> tuple[Answer, Scripted]:
        found = cited((LIES, 3, "Milwaukee lies in Wisconsin on Lake Michigan."))
        links = Table({" ".join(LIES): ["other", "film"]})
        replies = [found, verdict(answer="Lake Michigan", used=[1]), final("Lake Michigan")]
        with Scripted(replies) as model:
            table = Table({"q": ["film", "other", "city"]})
            return agent(model, table, links, answered_from=1, **parameters).answer("q"), model

    def test_evidence_first(self) -> None:
        answer, model = self.run()
        assert answer.ranking.ids[0] == "city"
        assert "[1] Milwaukee" in model.prompts[-1].user

    def test_the_order_of_the_fusion(self) -> None:
        answer, model = self.run(ranking="fusion")
        assert answer.ranking.ids == ["film", "other", "city"]
        assert "[1] Milwaukee" in model.prompts[-1].user, "the answer is still read from the evidence"

    def test_the_answer_from_the_fusion(self) -> None:
        answer, model = self.run(answer_from="fusion")
        assert answer.ranking.ids[0] == "city"
        assert "[1] Laughter in Hell" in model.prompts[-1].user
        assert "Facts that were noted" not in model.prompts[-1].user

    def test_a_reader_is_always_shown_what_was_searched_for(self) -> None:
        replies = [cited(), verdict(missing="m", query="other"), cited(), verdict(missing="m"), final("")]
        with Scripted(replies) as model:
            table = Table({"q": ["film"], "other": ["city"]})
            agent(model, table, max_steps=2).answer("q")
        reading = [prompt.user for prompt in model.prompts if prompt.template == "gear/read_and_quote"]
        assert [user.rpartition("The search was for: ")[2] for user in reading] == ["q", "other"]


class TestEndings:
    """Every way out is taken, and named."""

    def run(self, replies: list[Completion], **parameters: Any) -> tuple[Answer, Table]:
        with_facts = {f"q {' '.join(read)}": ["actor"] for read in (LIES, LIVED + LIES)}
        table = Table({"q": ["film"], "r": ["film", "city"], "s": ["city"], **with_facts})
        links = Table({" ".join(LIES): ["city"], " ".join(LIVED): ["actor"]})
        with Scripted(replies) as model:
            return agent(model, table, links, **parameters).answer("q"), table

    def test_a_repeated_query_is_searched_for_with_the_facts_once(self) -> None:
        replies = [facts(LIES), verdict(query="Q?"), facts(LIVED), verdict(query="q"), final("")]
        answer, table = self.run(replies, fall_back=False)
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
        answer, table = self.run(replies)
        assert (answer.ending, table.asked) == ("the facts answer the question", ["q", f"q {' '.join(searched)}"])

    def test_a_step_that_brings_nothing(self) -> None:
        replies = [facts(LIES), verdict(query="r"), facts(LIVED), verdict(query="s"), verdict(), final("")]
        answer, _ = self.run(replies)
        assert answer.ending == "the step brought nothing new"

    def test_an_answer_without_words_is_none(self) -> None:
        empty = reply(missing="", answerable=True, used=[1], answer=" ")
        answer, _ = self.run([facts(LIES), empty, final("")], max_steps=1)
        assert answer.ending == "the last step was reached"

    def test_nulls_and_numbers_cost_no_correction(self) -> None:
        found = reply(facts=[["Milwaukee", "founded in", 1846], ["a", "b", "c", "d"]])
        judged = reply(missing=None, answerable=True, used=None, answer=1846)
        with Scripted([found, judged, reply(found=True, answer=1846, sentence=None)]) as model:
            links = Table({"Milwaukee founded in 1846": ["city"]})
            answer = agent(model, Table({"q": ["film"]}), links).answer("q")
        assert (answer.text, read_by(answer.steps[0])) == ("1846", (Triple("Milwaukee", "founded in", "1846"),))
        assert answer.steps[0].problems == ("a fact that is not a triple was ignored: ['a', 'b', 'c', 'd']",)

    def test_fact_numbers_that_do_not_exist_are_passed_over(self) -> None:
        answer, _ = self.run([facts(LIES), verdict(answer="x", used=[7, 1, 1, 0]), final("x")])
        assert [fact.triple for fact in answer.evidence] == [Triple(*LIES)]


class TestSources:
    """What a model says about the source of a fact is checked."""

    def read(self, *rows: Any) -> Step:
        with Scripted([reply(facts=list(rows)), verdict(answer="x", used=[1]), final("x")]) as model:
            links = Table({" ".join(LIES): [], " ".join(LIVED): [], "a b c": []})
            [step] = agent(model, Table({"q": ["film", "city"]}), links).answer("q").steps
        return step

    def test_a_wrong_number_is_corrected_by_the_quotation(self) -> None:
        [fact] = self.read(
            {"triple": LIES, "passage": 1, "quotation": "Milwaukee lies in Wisconsin on Lake Michigan"}
        ).facts
        assert fact.span
        assert fact.span.passage_id == "city"

    def test_a_wrong_quotation_is_corrected_by_the_passage(self) -> None:
        [fact] = self.read({"triple": LIES, "passage": "[2]", "quotation": "a lovely place by the water"}).facts
        assert fact.span
        assert fact.span.passage_id == "city"

    def test_a_fact_that_no_passage_says_has_no_words(self) -> None:
        step = self.read({"triple": LIVED, "passage": 2, "quotation": "Milwaukee lies in Wisconsin"})
        assert [fact.span for fact in step.facts] == [None]
        assert step.so_far.ids[0] == "city", "the passage that the model names comes first all the same"

    def test_many_of_them_are_reported(self) -> None:
        unsaid = [{"triple": ["a", "b", str(n)], "passage": 9, "quotation": ""} for n in range(3)]
        with Scripted([reply(facts=unsaid), verdict(answer="x"), final("x")]) as model:
            links = Table({f"a b {n}": [] for n in range(3)})
            [step] = agent(model, Table({"q": ["film"]}), links, fall_back=False).answer("q").steps
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
        ],
    )
    @pytest.mark.parametrize("side_by_side", [False, True])
    def test_other_passages_however_they_are_written(self, also: object, same: list[str], side_by_side: bool) -> None:
        words = "Milwaukee lies in Wisconsin on Lake Michigan."
        said = {"triple": LIES, "passage": 3, "quotation": words, "also": also}
        row = [*LIES, 3, words, also] if side_by_side else said
        with Scripted([reply(facts=[row]), verdict(used=[1], answer="x"), final("x")]) as model:
            table = Table({"q": ["actor", "lake", "city", "film"]})
            answer = agent(model, table, Table({" ".join(LIES): []})).answer("q")
        assert answer.usage.calls == 3, "no correction"
        first = ["city", *same]
        assert answer.ranking.ids == [*first, *(id_ for id_ in table.table["q"] if id_ not in first)]

    def test_other_passages_are_kept_where_the_own_is_looked_up(self) -> None:
        fact = Fact(Triple(*LIES), also_in=("lake",))
        [found] = with_sources([fact], [PASSAGES["film"], PASSAGES["city"]])
        assert found.span
        assert (found.passage_id, found.also_in) == ("city", ("lake",))
        assert with_sources([fact], [PASSAGES["film"]]) == (fact,)


class TestSeveralSearches:
    """A step may search for more than its query; every search has its place in what is read and in the ranking."""

    def run(self, **parameters: Any) -> tuple[Answer, Scripted, Table]:
        table = Table({"q": ["film", "actor"], "r": ["director", "other"], "s": ["city"], "t": ["lake"]})
        links = Table({" ".join(DIRECTED): ["film"], " ".join(LIES): ["city"]})
        replies = [
            cited((DIRECTED, 1, "a drama film directed by Edward Cahn")),
            verdict(used=[1], query="r", also=["Q?", " s ", "t"]),
            cited((LIES, 2, "Milwaukee lies in Wisconsin on Lake Michigan.")),
            verdict(used=[1], answer="Lake Michigan"),
            final("Lake Michigan"),
        ]
        with Scripted(replies) as model:
            return agent(model, table, links, **parameters).answer("q"), model, table

    def test_they_are_read_in_turn_without_what_was_asked_before(self) -> None:
        answer, model, table = self.run()
        assert table.asked == ["q", "r", "s", "t"], "three at once, without the one that was searched for before"
        reading = model.prompts[2].user
        assert reading.index("[1] Edward") < reading.index("[2] Milwaukee") < reading.index("[3]")
        assert "The search was for: r / s / t" in reading
        assert "- q\n- r / s / t" in model.prompts[3].user
        assert answer.steps[1].query == "r / s / t"

    def test_one_search_alone(self) -> None:
        *_, table = self.run(searches=1)
        assert table.asked == ["q", "r"]

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
        table = Table({"q": ["film"], "r": ["actor"], "s": ["city"], "t": ["lake"]})
        replies = [facts(), verdict(**given), facts(), verdict(answer="x"), final("x")]
        with Scripted(replies) as model:
            agent(model, table).answer("q")
        assert table.asked == ["q", *searched]

    def test_a_step_has_no_more_passages_than_it_may(self) -> None:
        table = Table({"q": ["film"], "r": ["actor", "director"], "s": ["city", "other"]})
        replies = [facts(), verdict(query="r", also=["s"]), facts(), verdict(answer="x"), final("x")]
        with Scripted(replies) as model:
            answer = agent(model, table, retrieved=2).answer("q")
        assert answer.steps[1].ranking.ids == ["actor", "city"]

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
        walk = Walk(base=Table({"q": found}), triples=nothing, scorer=nothing, reader=nothing)
        link = PassageLink(passages=Table({" ".join(DIRECTED): []}))
        read = cited((DIRECTED, 1, "a drama film directed by Edward Cahn"))
        with Scripted([read, verdict(used=[1], answer="x"), final("x")]) as model:
            answer = EvidenceAgent(retriever=walk, model=Accounted(model), passages=passages, passage_link=link).answer(
                "q"
            )
        assert answer.ranking.ids == ["film", "lake", *found[1:]]

    def test_each_search_is_in_the_ranking_with_its_best(self) -> None:
        answer, *_ = self.run()
        assert answer.ranking.ids == ["film", "city", "director", "actor", "lake", "other"], "two of facts, then Eq. 9"

    def test_what_is_near_a_fact_is_above_the_end_of_a_search(self) -> None:
        found = Table({"q": ["film", "city", "lake", "director", "other"]})
        links = Table({" ".join(DIRECTED): ["film", "actor"]})
        read = cited((DIRECTED, 1, "a drama film directed by Edward Cahn"))
        with Scripted([read, verdict(used=[1], answer="x"), final("x")]) as model:
            answer = agent(model, found, links).answer("q")
        assert set(answer.ranking.ids[:3]) == {"film", "city", "actor"}
        assert "[2] Milwaukee" in model.prompts[-1].user, "the answer is read from what the search found first"


def test_a_source_and_a_day_that_the_question_names_have_a_place() -> None:
    asked = "Which film did The Age and, on October 7, 2023, Wired praise?"
    fields = {"film": {"source": "Wired"}, "lake": {"source": "Wired", "published_at": "2023-10-07"}}
    fields |= {"other": {"source": "The Age"}, "director": {"source": "The Age"}, "city": {"source": "The Age Online"}}
    passages = {id_: replace(each, metadata=fields.get(id_, {})) for id_, each in PASSAGES.items()}
    found = Table({asked: ["film", "city", "actor", "director", "lake", "other"]})
    read = cited((DIRECTED, 1, "a drama film directed by Edward Cahn"))
    with Scripted([read, verdict(used=[1], answer="x"), final("x")]) as model:
        answer = agent(model, found, Table({" ".join(DIRECTED): []}), passages=passages).answer(asked)
    assert answer.ranking.ids == ["film", "director", "lake", "city", "actor", "other"]


def test_passages_that_say_the_same_come_after_those_of_the_chain() -> None:
    said = {
        "triple": LIES,
        "passage": 3,
        "quotation": "Milwaukee lies in Wisconsin on Lake Michigan.",
        "also": [2, 9, 3],
    }
    other = {"triple": DIRECTED, "passage": 4, "quotation": "", "also": None}
    with Scripted([reply(facts=[other, said]), verdict(used=[2], answer="Lake Michigan"), final("x")]) as model:
        links = Table({" ".join(LIES): [], " ".join(DIRECTED): []})
        answer = agent(model, Table({"q": ["actor", "lake", "city", "film"]}), links).answer("q")
    assert answer.ranking.ids == ["city", "lake", "film", "actor"]


class TestGivingUp:
    """What two searches did not find is given up, and the answer says what is missing."""

    def run(self, last: Completion, **parameters: Any) -> tuple[Answer, Table]:
        table = Table({"q": ["film"], "r": ["actor"], "s": ["city"], "t": ["lake"]})
        links = Table({" ".join(LIES): [], " ".join(LIVED): []})
        lacking = "No document says who was the mayor of Milwaukee."
        replies = [
            facts(LIVED),
            verdict(used=[1], missing=lacking, query="r"),
            facts(),
            verdict(used=[1], missing=lacking, query="s"),
            facts(LIES),  # a new fact, but of no use
            verdict(used=[1], missing=lacking, query="t"),
            last,
        ]
        with Scripted(replies) as model:
            return agent(model, table, links, **parameters).answer("q"), table

    def test_after_two_searches(self) -> None:
        answer, table = self.run(final(""))
        assert table.asked == ["q", "r", "s"]
        assert answer.ending == "what is missing was searched for in other words and not found"
        assert (answer.text, answer.outcome) == ("", "not_in_documents")
        assert answer.missing == ("No document says who was the mayor of Milwaukee.",)
        assert [fact.triple for fact in answer.evidence] == [Triple(*LIVED)], "what was found is shown"

    def test_with_a_guess(self) -> None:
        guess = reply(sentence="It is not said.", found=False, answer="Frank Zeidler", missing="No document says it.")
        answer, _ = self.run(guess)
        assert (answer.text, answer.outcome, answer.supported) == ("Frank Zeidler", "guess", False)
        assert answer.missing == ("No document says it.",)

    def test_a_fact_that_was_not_needed_before_starts_the_count_again(self) -> None:
        table = Table({"q": ["film"], "r": ["actor"], "s": ["city"], "t": ["lake"]})
        links = Table({" ".join(LIES): [], " ".join(LIVED): []})
        replies = [
            facts(LIVED, LIES), verdict(used=[1], query="r"),
            facts(), verdict(used=[1], query="s"),
            facts(), verdict(used=[1, 2], query="t"),
            facts(), verdict(used=[1]), final(""),
        ]  # fmt: skip
        with Scripted(replies) as model:
            answer = agent(model, table, links).answer("q")
        assert answer.ending == "the last step was reached"

    def test_a_search_that_helps_the_chain_starts_the_count_again(self) -> None:
        table = Table({"q": ["film"], "r": ["actor"], "s": ["city"], "t": ["lake"]})
        links = Table({" ".join(LIES): [], " ".join(LIVED): []})
        replies = [
            facts(), verdict(query="r"),
            facts(), verdict(query="s"),
            facts(LIES), verdict(used=[1], query="t"),
            facts(LIVED), verdict(used=[1]), final(""),
        ]  # fmt: skip
        with Scripted(replies) as model:
            answer = agent(model, table, links).answer("q")
        assert answer.ending == "the last step was reached"


def test_everyday_knowledge_is_marked() -> None:
    bridged = verdict(answer="United States", used=[1], from_memory=[["Wisconsin", "is in", "United States"]])
    with Scripted([facts(LIES), bridged, final("United States")]) as model:
        links = Table({" ".join(LIES): ["city"]})
        answer = agent(model, Table({"q": ["city"]}), links).answer("q")
    assert [(str(fact.triple), fact.from_memory, bool(fact.span)) for fact in answer.evidence] == [
        ("Milwaukee lies on Lake Michigan", False, True),
        ("Wisconsin is in United States", True, False),
    ]
    assert (answer.outcome, answer.supported) == ("answered", False)
