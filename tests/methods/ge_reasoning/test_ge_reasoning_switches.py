"""GE-Reasoning where the graph is wrong, the book closed, samples disagree, or a part is switched off."""

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
    ask,
    asks,
    extracts,
    first_lines,
    graph,
    helpful,
    make_grounded,
    reads,
    says,
)

from scripted_loops import Driven, final, read_by, reply
from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import Completion
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple


class TestWrongGraphs:
    @pytest.mark.parametrize("wrong", [graph([]), reply(x=1)])
    def test_one_retrieval_instead(self, wrong: Completion) -> None:
        done = ask([wrong, wrong, final("Cahn")], {"q": ["film", "director"]}, "q")
        [step] = done.steps
        assert step.thought.startswith("no question graph could be used: the question itself is searched for")
        assert (len(step.problems), step.ranking.ids, step.usage.calls) == (1, ["film", "director"], 2)
        assert "directed by Edward Cahn" in done.model.prompts[-1].user
        assert (done.answer.text, done.answer.ending) == ("Cahn", "no question graph could be used")
        assert done.answer.ranking.ids == ["film", "director"]

    def test_a_direct_answer_without_a_retriever(self) -> None:
        done = ask([graph([]), graph([]), final("Cahn")])
        assert done.steps[0].thought == "no question graph could be used: the question is answered directly."
        assert done.model.prompts[-1].template == "closed_book"
        assert (done.answer.text, len(done.answer.ranking)) == ("Cahn", 0)

    def test_an_unknown_variable_and_bad_triplets_are_reported(self) -> None:
        rows = [CHAIN[0], ["too", "short"], ["name: #8", "wife", "name: #9"]]
        done = ask([graph(rows, "#7"), asks(WHO), says("Pat Brien"), final("")])
        assert len(done.steps[0].problems) == 3
        assert (done.answer.ending, done.answer.text) == ("no triplet with one open variable is left", "")


def test_with_a_closed_book_nothing_is_retrieved() -> None:
    lines = [graph(CHAIN[:2], "#2"), asks(WHO), says("Jim", 0.4), says("Pat Brien", 0.6), asks(WHERE)]
    done = ask([*lines, says("Milwaukee"), final("")])
    open_line = "name: #1 stays open: 'Jim' (smallest token probability 0.40, without"
    assert first_lines(done.steps[1:])[0].startswith(open_line)
    assert all(not step.ranking and not step.so_far for step in done.steps)
    assert (done.answer.text, done.answer.sentence) == ("Milwaukee", ""), "what is asked for has a value"
    assert [fact.span for fact in done.answer.evidence] == [None, None]


def test_samples_agree_where_there_are_no_log_probabilities() -> None:
    def plain(*answers: str) -> list[Completion]:
        return [reply(sentence="", answer=answer, used=[1]) for answer in answers]

    lines = [graph(CHAIN[:1], "#1"), asks(WHO), *plain("Jim", "Pat Brien", "Pat Brien", "Pat Brien", "")]
    lines += [extracts(STARRED), helpful(1), *plain("Pat Brien", "Pat", "pat brien", "Pat Brien", "Jim")]
    done = ask([*lines, final("Pat Brien")], {WHO: ["actor"]})
    assert done.table.asked == [WHO], "three of five is below the first threshold of agreement"
    assert first_lines(done.steps[1:]) == ["name: #1 = Pat Brien (agreement of 5 samples 0.60, after retrieval)"]
    assert done.answer.supported


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"retrieve_by": "questions"}, r"retrieve_by is 'questions' .*: choose sub_question or question"),
        ({"agreement_k2": 1.5}, r"agreement_k2 is 1\.5: it must lie between 0 and 1"),
        ({"samples": 1}, "samples must be at least 2, got 1"),
    ],
)
def test_parameters_that_cannot_be(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        agent(Scripted([]), **parameters)


class TestSwitches:
    """The ablations of Tables 2, 3 and 5."""

    START = (graph(CHAIN[:1], "#1"), asks(WHO))
    UNSURE = (*START, says("x", 0.1))
    KNOWN = (*START, says("Pat Brien"), final("Pat Brien"))

    def test_retrieval_by_the_question(self) -> None:
        replies = [*self.UNSURE, extracts(STARRED), helpful(1), says("Pat Brien"), final("Pat Brien")]
        done = ask(replies, {QUESTION: ["actor"]}, retrieve_by="question")
        assert done.table.asked == [QUESTION]
        assert done.model.prompts[4].user.endswith(f"Question: {WHO}"), "it is refined for the sub-question"

    def test_without_refinement_passages_are_shown(self) -> None:
        replies = [*self.UNSURE, says("Pat Brien"), final("Pat Brien")]
        done = ask(replies, {WHO: ["actor", "film", "other"]}, refining=False)
        shown = done.model.prompts[3].user
        assert "[1] Pat Brien\nPat Brien starred in" in shown
        assert "[2] Laughter in Hell" in shown
        assert "[3]" not in shown, "two passages are read"
        assert done.answer.ranking.ids == ["actor", "film", "other"]

    def test_without_the_filter_of_triplets(self) -> None:
        replies = [*self.UNSURE, extracts(STARRED, LIVED), says("Pat Brien"), final("Pat Brien")]
        done = ask(replies, {WHO: ["actor"]}, triplet_filtering=False)
        assert read_by(done.steps[1]) == (STARRED, LIVED)
        assert [fact.triple for fact in done.answer.evidence] == [STARRED, LIVED], "those that name the answer"

    def test_without_the_filter_of_answers(self) -> None:
        replies = [*self.START, says("Pat Brien", 0.1), extracts(), says("Jim", 0.2), final("Jim")]
        steps = ask(replies, {WHO: ["film"]}, filtering=False).steps
        assert first_lines(steps[1:]) == ["name: #1 = Jim (smallest token probability 0.20, after retrieval)"]

    def test_without_types(self) -> None:
        done = ask(self.KNOWN, {}, typed=False)
        assert first_lines(done.steps[1:])[0].startswith("#1 = Pat Brien")
        assert [fact.note for fact in done.answer.evidence] == [f"#1 = Pat Brien: {WHO}"]

    def test_without_graph_guidance(self) -> None:
        replies: list[Completion] = []
        for question, fact, value in ((WHO, STARRED, "Brien"), (WHERE, LIVED, "Milwaukee"), (LAKE, LIES, "Michigan")):
            replies += [asks(question), says("x", 0.1), extracts(fact), helpful(1), says(value, used=[1])]
        finds = {WHO: ["actor"], WHERE: ["actor"], LAKE: ["city"]}
        done = ask([*replies, asks(""), final("x")], finds, graph_guidance=False)
        assert [step.query for step in done.steps] == [WHO, WHERE, LAKE, QUESTION]
        assert ["city" in step.so_far.ids for step in done.steps] == [False, False, True, True]
        assert done.answer.ending == "the model asks for nothing further"
        assert [fact.triple for fact in done.answer.evidence] == [STARRED, LIVED, LIES]
        assert done.answer.evidence[0].note == f"Brien: {WHO}", "there is no variable"
        assert f"(2) {WHERE}" in done.model.prompts[-2].user

    def test_without_a_graph_what_the_model_knew_is_evidence_without_words(self) -> None:
        replies = [asks(WHO), says("Pat Brien"), asks(WHERE), says("x", 0.1), extracts(LIVED), helpful(1)]
        replies += [says("Milwaukee", used=[1]), asks(WHO), final("Milwaukee")]
        answer = ask(replies, {WHERE: ["actor"]}, graph_guidance=False).answer
        assert answer.ending == "the model asks for nothing further", "what was answered is not asked again"
        assert [(fact.triple, bool(fact.span)) for fact in answer.evidence] == [
            (Triple(WHO, "has the answer", "Pat Brien"), False),
            (LIVED, True),
        ]
        assert not answer.supported

    @pytest.mark.parametrize("nothing", [[asks("")], [reply(x=1)] * 2])
    def test_without_a_graph_and_a_first_sub_question_the_question_is_searched_for(
        self, nothing: list[Completion]
    ) -> None:
        done = ask([*nothing, final("Pat Brien")], {QUESTION: ["actor"]}, graph_guidance=False)
        thought = "the model asks for nothing further: the question itself is searched for"
        assert done.steps[0].thought.startswith(thought)
        assert "lived in Milwaukee" in done.model.prompts[-1].user
        assert (done.answer.text, done.answer.ranking.ids) == ("Pat Brien", ["actor"])

    def test_triples_of_the_index_instead_of_extraction(self, world: Snapshot) -> None:
        replies = [*self.UNSURE, helpful(3), says("Pat Brien", used=[1]), final("Pat Brien")]
        done = ask(replies, {WHO: ["film", "actor"]}, triples=world.triples)
        assert done.model.prompts[3].user.startswith("Facts:\n1. Laughter in Hell directed by Edward Cahn\n")
        assert read_by(done.steps[1]) == (STARRED,)
        assert done.answer.supported

    def test_what_the_model_knew_is_marked_as_a_guess(self) -> None:
        answer = ask(self.KNOWN, {}).answer
        assert answer.outcome == "guess"
        assert answer.missing == (f"No document was searched for the question: {WHO}",)
        assert [fact.from_memory for fact in answer.evidence] == [True]


class TestGrounded:
    """The default: two calls per sub-question, one to ask it and one to read its answer."""

    START = (graph(CHAIN[:2], "#2"), asks(WHO))
    ACTED = reads("Pat Brien", (STARRED, 2, "Pat Brien starred in Laughter in Hell"))

    def run(self, *replies: Completion) -> Driven:
        return ask([*self.START, *replies], {WHO: ["film", "actor"], WHERE: ["actor"]}, make=make_grounded)

    def test_six_calls_answer_a_question_of_two_hops(self) -> None:
        lived = reads("Milwaukee", (LIVED, 1, "lived in Milwaukee"))
        done = self.run(self.ACTED, asks(WHERE), lived, final("Milwaukee"))
        answer, reading = done.answer, done.model.prompts[-2].user
        assert (answer.usage.calls, [step.usage.calls for step in done.steps]) == (6, [1, 2, 2])
        assert (answer.text, answer.outcome, answer.supported) == ("Milwaukee", "answered", True)
        assert [fact.triple for fact in answer.evidence] == [STARRED, LIVED]
        assert answer.ranking.ids == ["actor", "film"], "evidence first"
        assert first_lines(done.steps[1:]) == [
            "name: #1 = Pat Brien (read in a passage)",
            "city: #2 = Milwaukee (read in a passage)",
        ]
        assert f"(1) {WHO}\nIt is Pat Brien. Answer: Pat Brien" in reading
        assert "[1] Pat Brien\nPat Brien starred in" in reading

    @pytest.mark.parametrize("unquoted", [reads("Pat Brien"), reads("Pat Brien", (LIES, 9, "")), reads("")])
    def test_an_answer_that_rests_on_no_passage_is_dropped_and_not_asked_again(self, unquoted: Completion) -> None:
        done = self.run(unquoted, final("Milwaukee"))
        assert first_lines(done.steps)[1].endswith("(in none of the passages read)")
        assert done.answer.ending == "every open triplet was tried as often as it may be"
        assert done.answer.evidence == ()

    def test_pairs_that_lack_what_is_asked_for_are_not_asked(self) -> None:
        done = self.run(self.ACTED, asks(WHERE), reads(""), final(""))
        assert done.model.prompts[-1].template == "answer", "the passages are read at once"
        assert (done.answer.usage.calls, done.answer.outcome) == (6, "not_in_documents")
