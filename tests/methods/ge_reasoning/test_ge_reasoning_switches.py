"""GE-Reasoning where the graph is wrong, the book closed, samples disagree, or a part is switched off."""

from collections.abc import Sequence
from typing import Any

import pytest
from scripted_question_graphs import (
    CHAIN,
    LAKE,
    LIES,
    LIVED,
    QUESTION,
    STARRED,
    WHERE,
    WHO,
    agent,
    asks,
    drive,
    extracts,
    first_lines,
    graph,
    helpful,
    make_grounded,
    reads,
    says,
)

from scripted_loops import Table, final, read_by, reply
from triplebeam.answer import Answer, Step
from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import Completion
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple


class TestWrongGraphs:
    CIRCLE = (["#1", "father", "#2"], ["#2", "son", "#1"])

    @pytest.mark.parametrize("wrong", [graph(CIRCLE), graph([["a", "b", "c"]]), graph([]), reply(x=1)])
    def test_one_retrieval_instead(self, wrong: Completion) -> None:
        table = Table({"q": ["film", "director"]})
        with Scripted([wrong, wrong, final("Cahn")]) as model:
            [step], answer = drive(agent(model, table), "q")
        assert step.thought.startswith("no question graph could be used: the question itself is searched for")
        assert (len(step.problems), step.ranking.ids, step.usage.calls) == (1, ["film", "director"], 2)
        assert "directed by Edward Cahn" in model.prompts[-1].user
        assert (answer.text, answer.ending) == ("Cahn", "no question graph could be used")
        assert answer.ranking.ids == ["film", "director"]

    def test_a_direct_answer_without_a_retriever(self) -> None:
        with Scripted([graph([]), graph([]), final("Cahn")]) as model:
            [step], answer = drive(agent(model), "q")
        assert step.thought == "no question graph could be used: the question is answered directly."
        assert model.prompts[-1].template == "closed_book"
        assert (answer.text, len(answer.ranking)) == ("Cahn", 0)

    def test_an_unknown_variable_and_bad_triplets_are_reported(self) -> None:
        rows = [CHAIN[0], ["too", "short"], ["name: #8", "wife", "name: #9"]]
        with Scripted([graph(rows, "#7"), asks(WHO), says("Pat Brien"), final("")]) as model:
            steps, answer = drive(agent(model))
        assert len(steps[0].problems) == 3
        assert (answer.ending, answer.text) == ("no triplet with one open variable is left", "")


class TestClosedBook:
    def test_nothing_is_retrieved(self) -> None:
        lines = [graph(CHAIN[:2], "#2"), asks(WHO), says("Jim", 0.4), says("Pat Brien", 0.6), asks(WHERE)]
        with Scripted([*lines, says("Milwaukee"), final("")]) as model:
            steps, answer = drive(agent(model))
        assert first_lines(steps[1:])[0].startswith(
            "name: #1 stays open: 'Jim' (smallest token probability 0.40, without"
        )
        assert all(not step.ranking and not step.so_far for step in steps)
        assert (answer.text, answer.sentence) == ("Milwaukee", ""), "what is asked for has a value"
        assert [fact.span for fact in answer.evidence] == [None, None]

    def test_at_most_ten_rounds(self) -> None:
        unsure = [says("x", 0.1)] * 10
        with Scripted([graph(CHAIN[:1]), asks(WHO), *unsure, final("guess")]) as model:
            steps, answer = drive(agent(model))
        assert (len(steps), answer.ending, answer.text) == (11, "the last round was reached", "guess")
        assert model.prompts[-1].template == "closed_book", "no pair was kept"


class TestAgreement:
    def test_samples_where_there_are_no_log_probabilities(self) -> None:
        def plain(*answers: str) -> list[Completion]:
            return [reply(sentence="", answer=answer, used=[1]) for answer in answers]

        table = Table({WHO: ["actor"]})
        lines = [graph(CHAIN[:1], "#1"), asks(WHO), *plain("Jim", "Pat Brien", "Pat Brien", "Pat Brien", "")]
        lines += [extracts(STARRED), helpful(1), *plain("Pat Brien", "Pat", "pat brien", "Pat Brien", "Jim")]
        with Scripted([*lines, final("Pat Brien")]) as model:
            steps, answer = drive(agent(model, table))
        assert table.asked == [WHO], "three of five is below the first threshold of agreement"
        assert first_lines(steps[1:]) == ["name: #1 = Pat Brien (agreement of 5 samples 0.60, after retrieval)"]
        assert answer.supported

    def test_parameters_that_cannot_be(self) -> None:
        with pytest.raises(BadInputError, match=r"retrieve_by is 'questions' .*: choose sub_question or question"):
            agent(Scripted([]), retrieve_by="questions")
        with pytest.raises(BadInputError, match=r"agreement_k2 is 1\.5: it must lie between 0 and 1"):
            agent(Scripted([]), agreement_k2=1.5)

    def test_one_sample_cannot_agree(self) -> None:
        with pytest.raises(BadInputError, match="samples must be at least 2, got 1"):
            agent(Scripted([]), samples=1)


class TestSwitches:
    """The ablations of Tables 2, 3 and 5."""

    START = (graph(CHAIN[:1], "#1"), asks(WHO))

    def run(
        self, replies: Sequence[Completion], table: Table, **parameters: Any
    ) -> tuple[Scripted, list[Step], Answer]:
        with Scripted([*replies, final("Pat Brien")]) as model:
            return model, *drive(agent(model, table, **parameters))

    def test_retrieval_by_the_question(self) -> None:
        table = Table({QUESTION: ["actor"]})
        replies = [*self.START, says("x", 0.1), extracts(STARRED), helpful(1), says("Pat Brien")]
        model, *_ = self.run(replies, table, retrieve_by="question")
        assert table.asked == [QUESTION]
        assert model.prompts[4].user.endswith(f"Question: {WHO}"), "it is refined for the sub-question"

    def test_without_refinement_passages_are_shown(self) -> None:
        table = Table({WHO: ["actor", "film", "other"]})
        model, _, answer = self.run([*self.START, says("x", 0.1), says("Pat Brien")], table, refining=False)
        shown = model.prompts[3].user
        assert "[1] Pat Brien\nPat Brien starred in" in shown
        assert "[2] Laughter in Hell" in shown
        assert "[3]" not in shown, "two passages are read"
        assert answer.ranking.ids == ["actor", "film", "other"]

    def test_without_the_filter_of_triplets(self) -> None:
        replies = [*self.START, says("x", 0.1), extracts(STARRED, LIVED), says("Pat Brien")]
        _, steps, answer = self.run(replies, Table({WHO: ["actor"]}), triplet_filtering=False)
        assert read_by(steps[1]) == (STARRED, LIVED)
        assert [fact.triple for fact in answer.evidence] == [STARRED, LIVED], "those that name the answer"

    def test_without_the_filter_of_answers(self) -> None:
        _, steps, _ = self.run(
            [*self.START, says("Pat Brien", 0.1), extracts(), says("Jim", 0.2)], Table({WHO: ["film"]}), filtering=False
        )
        assert first_lines(steps[1:]) == ["name: #1 = Jim (smallest token probability 0.20, after retrieval)"]

    def test_without_types(self) -> None:
        _, steps, answer = self.run([*self.START, says("Pat Brien")], Table({}), typed=False)
        assert first_lines(steps[1:])[0].startswith("#1 = Pat Brien")
        assert [fact.note for fact in answer.evidence] == [f"#1 = Pat Brien: {WHO}"]

    def test_without_graph_guidance(self) -> None:
        table = Table({WHO: ["actor"], WHERE: ["actor"], LAKE: ["city"]})
        replies: list[Completion] = []
        for question, fact, value in (
            (WHO, STARRED, "Pat Brien"),
            (WHERE, LIVED, "Milwaukee"),
            (LAKE, LIES, "Michigan"),
        ):
            replies += [asks(question), says("x", 0.1), extracts(fact), helpful(1), says(value, used=[1])]
        model, steps, answer = self.run([*replies, asks("")], table, graph_guidance=False)
        assert [step.query for step in steps] == [WHO, WHERE, LAKE, QUESTION]
        assert ["city" in step.so_far.ids for step in steps] == [False, False, True, True]
        assert answer.ending == "the model asks for nothing further"
        assert [fact.triple for fact in answer.evidence] == [STARRED, LIVED, LIES]
        assert answer.evidence[0].note == f"Pat Brien: {WHO}", "there is no variable"
        assert f"(2) {WHERE}" in model.prompts[-2].user

    def test_without_a_graph_what_the_model_knew_is_evidence_without_words(self) -> None:
        replies = [asks(WHO), says("Pat Brien"), asks(WHERE), says("x", 0.1), extracts(LIVED), helpful(1)]
        replies += [says("Milwaukee", used=[1]), asks(""), final("Milwaukee")]
        with Scripted(replies) as model:
            answer = agent(model, Table({WHERE: ["actor"]}), graph_guidance=False).answer(QUESTION)
        assert [(fact.triple, bool(fact.span)) for fact in answer.evidence] == [
            (Triple(WHO, "has the answer", "Pat Brien"), False),
            (LIVED, True),
        ]
        assert not answer.supported

    @pytest.mark.parametrize("nothing", [[asks("")], [reply(x=1)] * 2])
    def test_without_a_graph_and_a_first_sub_question_the_question_is_searched_for(
        self, nothing: list[Completion]
    ) -> None:
        model, [step], answer = self.run(nothing, Table({QUESTION: ["actor"]}), graph_guidance=False)
        assert step.thought.startswith("the model asks for nothing further: the question itself is searched for")
        assert "lived in Milwaukee" in model.prompts[-1].user
        assert (answer.text, answer.ranking.ids) == ("Pat Brien", ["actor"])

    def test_what_was_answered_is_not_asked_again(self) -> None:
        replies = [asks(WHO), says("Pat Brien"), asks(WHO)]
        _, _, answer = self.run(replies, Table({}), graph_guidance=False)
        assert answer.ending == "the model asks for nothing further"

    def test_triples_of_the_index_instead_of_extraction(self, world: Snapshot) -> None:
        replies = [*self.START, says("x", 0.1), helpful(3), says("Pat Brien", used=[1])]
        model, steps, answer = self.run(replies, Table({WHO: ["film", "actor"]}), triples=world.triples)
        assert model.prompts[3].user.startswith("Facts:\n1. Laughter in Hell directed by Edward Cahn\n")
        assert read_by(steps[1]) == (STARRED,)
        assert answer.supported

    def test_what_the_model_knew_is_marked_as_a_guess(self) -> None:
        _, _, answer = self.run([*self.START, says("Pat Brien")], Table({}))
        assert answer.outcome == "guess"
        assert answer.missing == (f"No document was searched for the question: {WHO}",)
        assert [fact.from_memory for fact in answer.evidence] == [True]


class TestGrounded:
    """The default: two calls per sub-question, one to ask it and one to read its answer."""

    START = (graph(CHAIN[:2], "#2"), asks(WHO))
    ACTED = reads("Pat Brien", (STARRED, 2, "Pat Brien starred in Laughter in Hell"))

    def run(self, *replies: Completion, **parameters: Any) -> tuple[Scripted, list[Step], Answer]:
        table = Table({WHO: ["film", "actor"], WHERE: ["actor"]})
        with Scripted(replies) as model:
            return model, *drive(make_grounded(model, table, **parameters))

    def test_six_calls_answer_a_question_of_two_hops(self) -> None:
        lived = reads("Milwaukee", (LIVED, 1, "lived in Milwaukee"))
        model, steps, answer = self.run(*self.START, self.ACTED, asks(WHERE), lived, final("Milwaukee"))
        assert (answer.usage.calls, [step.usage.calls for step in steps]) == (6, [1, 2, 2])
        assert (answer.text, answer.outcome, answer.supported) == ("Milwaukee", "answered", True)
        assert [fact.triple for fact in answer.evidence] == [STARRED, LIVED]
        assert answer.ranking.ids == ["actor", "film"]
        assert first_lines(steps[1:]) == [
            "name: #1 = Pat Brien (read in a passage)",
            "city: #2 = Milwaukee (read in a passage)",
        ]
        assert f"(1) {WHO}\nIt is Pat Brien. Answer: Pat Brien" in model.prompts[-2].user
        assert "[1] Pat Brien\nPat Brien starred in" in model.prompts[-2].user

    @pytest.mark.parametrize("unquoted", [reads("Pat Brien"), reads("Pat Brien", (LIES, 9, "")), reads("")])
    def test_an_answer_that_rests_on_no_passage_is_dropped_and_not_asked_again(self, unquoted: Completion) -> None:
        _, steps, answer = self.run(*self.START, unquoted, final("Milwaukee"))
        assert first_lines(steps)[1].endswith("(in none of the passages read)")
        assert answer.ending == "every open triplet was tried as often as it may be"
        assert answer.evidence == ()

    def test_pairs_that_lack_what_is_asked_for_are_not_asked(self) -> None:
        model, _, answer = self.run(*self.START, self.ACTED, asks(WHERE), reads(""), final(""))
        assert model.prompts[-1].template == "answer", "the passages are read at once"
        assert (answer.usage.calls, answer.outcome) == (6, "not_in_documents")
