"""IRCoT through loops that a scripted model drives."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripted_loops import PASSAGES, Anywhere, Driven, Table, driven, final, reply
from small_world import TRIPLES
from triplebeam.answer import Answer
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, Usage
from triplebeam.methods.baselines.ircot import IRCoT
from triplebeam.methods.shared.question_answering import QuestionAnswerer
from triplebeam.ranking import Hit, Ranking
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple


def sentence(text: str | None) -> Completion:
    return reply(sentence=text)


def agent(model: LanguageModel, table: Table, **parameters: Any) -> IRCoT:
    return IRCoT(retriever=table, model=Accounted(model), **parameters)


QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
DIRECTED = "Edward Cahn directed Laughter in Hell."
LIVED = "Pat Brien of Laughter in Hell lived in Milwaukee."


class TestThreeSteps:
    """Only the third step finds the last passage."""

    @pytest.fixture
    def done(self) -> Driven:
        table = Table({QUESTION: ["director", "film"], DIRECTED: ["film", "actor"], LIVED: ["city", "actor"]})
        replies = [sentence(DIRECTED), sentence(LIVED), sentence("So the answer is: Lake Michigan."), final("Michigan")]
        with Scripted(replies) as model:
            return Driven(model, table, *driven(agent(model, table), QUESTION))

    def test_the_third_step_finds_the_last_passage(self, done: Driven) -> None:
        _, table, steps, answer = done
        assert table.asked == [step.query for step in steps] == [QUESTION, DIRECTED, LIVED]
        assert ["city" in step.ranking.ids for step in steps] == [False, False, True]
        assert (answer.text, answer.loop_text) == ("Michigan", "Lake Michigan")
        assert answer.ending == "the reasoning came to an answer"
        assert answer.steps == tuple(steps)

    def test_the_second_query_depends_on_the_first_retrieval(self, done: Driven) -> None:
        model, _, steps, _ = done
        first, second, third, _ = (prompt.user for prompt in model.prompts)
        assert "Laughter in Hell is a drama film directed by Edward Cahn" in first
        assert steps[0].thought == steps[1].query == DIRECTED
        assert "Pat Brien starred" not in first
        assert "Pat Brien starred" in second
        assert "Milwaukee lies in Wisconsin" in third

    def test_the_model_sees_the_question_and_its_sentences(self, done: Driven) -> None:
        thinking = [prompt.user for prompt in done.model.prompts[:3]]
        assert all(f"Question: {QUESTION}" in user for user in thinking)
        assert [user.split("Sentences so far: ")[1] for user in thinking] == ["(none)", DIRECTED, f"{DIRECTED} {LIVED}"]

    def test_the_steps_lists_are_fused(self, done: Driven) -> None:
        # film 1/62 + 1/61 and actor 1/62 + 1/62 stand in two lists; city and director lead one each, and tie.
        assert done.answer.ranking.ids == ["film", "actor", "city", "director"]
        assert done.answer.ranking[0].score == pytest.approx(1 / 62 + 1 / 61)

    def test_each_step_tells_the_ranking_so_far(self, done: Driven) -> None:
        *_, steps, answer = done
        assert [step.so_far.ids for step in steps] == [
            ["director", "film"],
            ["film", "director", "actor"],
            ["film", "actor", "city", "director"],
        ]
        assert steps[-1].so_far == answer.ranking

    def test_tokens_are_counted_by_step(self, done: Driven) -> None:
        *_, steps, answer = done
        assert [step.usage.tokens_in for step in steps] == [10, 10, 10]
        assert answer.usage.calls == 4


class Graph:
    """A fake graph method: the passages whose titles a query names, then those whose triples name one of them."""

    def __init__(self, triples: Mapping[str, Sequence[Triple]]) -> None:
        self.triples = triples

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        named = {id_: passage.title for id_, passage in PASSAGES.items() if passage.title in query}
        beside = [id_ for id_, facts in self.triples.items() if any({*fact} & {*named.values()} for fact in facts)]
        ids = dict.fromkeys([*named, *beside])
        return Ranking(Hit(id_, -rank) for rank, id_ in enumerate(ids)).top(k)


class Thinker:
    """Says what the passages it is shown let it say, one sentence at a time, and no more."""

    name = "thinker"
    sentences: Mapping[str, str] = {"film": DIRECTED, "actor": LIVED, "city": "So the answer is: Lake Michigan."}

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [sentence(self._next(prompt.user)) for prompt in prompts]

    def _next(self, shown: str) -> str:
        unsaid = [said for id_, said in self.sentences.items() if PASSAGES[id_].text in shown and said not in shown]
        return unsaid[0] if unsaid else ""


class TestOverAGraph:
    """The same loop over another kind of retriever, with a model that knows nothing but what it is shown."""

    def run(self, triples: Mapping[str, Sequence[Triple]]) -> Answer:
        answerer = QuestionAnswerer(model=Scripted([final("")]), passages=PASSAGES)
        return IRCoT(retriever=Graph(triples), model=Thinker(), answerer=answerer, passages=PASSAGES).answer(QUESTION)

    def test_the_third_step_finds_the_last_passage(self) -> None:
        answer = self.run(TRIPLES)
        assert [step.query for step in answer.steps] == [QUESTION, DIRECTED, LIVED]
        assert ["city" in step.so_far.ids for step in answer.steps] == [False, False, True]
        assert answer.text == "Lake Michigan"

    def test_without_the_first_find_there_is_no_second_query(self) -> None:
        answer = self.run({id_: facts for id_, facts in TRIPLES.items() if id_ != "film"})
        assert [step.query for step in answer.steps] == [QUESTION]
        assert answer.steps[0].so_far.ids == ["director"]


class TestEndings:
    """Every way out is taken, and named."""

    def run(self, replies: list[Completion], **parameters: Any) -> tuple[Answer, Table]:
        table = Table({"q": ["film"], "R is S.": ["film", "city"], "S is T.": ["city"]})
        with Scripted(replies) as model:
            return agent(model, table, **parameters).answer("q"), table

    def test_the_last_step(self) -> None:
        answer, table = self.run([sentence("R is S."), sentence("S is T."), final("")], max_steps=2)
        assert (answer.ending, answer.text, table.asked) == ("the last step was reached", "", ["q", "R is S."])

    def test_a_repeated_sentence_is_searched_for_again(self) -> None:
        answer, table = self.run([sentence("R is S.")] * 4 + [final("")])
        assert (answer.ending, len(table.asked)) == ("the last step was reached", 4)

    @pytest.mark.parametrize("said", ["", "  ", None, "So the answer is:", "So the answer is: ..."])
    def test_a_sentence_without_words(self, said: str | None) -> None:
        answer, table = self.run([sentence(said), final("")])
        assert (answer.ending, answer.loop_text, table.asked) == ("the model gave no further sentence", "", ["q"])

    def test_what_runs_ahead_of_the_evidence_is_discarded(self) -> None:
        table = Table({"q": ["film"], DIRECTED: ["actor"]})
        with Scripted(
            [sentence(f"{DIRECTED} So the answer is: 1."), sentence("So the answer is: 2"), final("")]
        ) as model:
            answer = agent(model, table).answer("q")
        assert (table.asked, answer.loop_text) == (["q", DIRECTED], "2")

    def test_where_the_passages_do_not_say_it_the_reasonings_answer_is_kept(self) -> None:
        answer, _ = self.run([sentence("Sentence: So the answer is Lake Michigan."), final("")])
        assert answer.text == "Lake Michigan"
        answer, _ = self.run([sentence("Hence the answer is: Dr. Cahn of the U.S."), final("")])
        assert (answer.text, answer.sentence) == ("Dr. Cahn of the U.S", "")

    def test_replies_that_cannot_be_used_are_reported_and_do_not_stop_it(self) -> None:
        bad = Completion(text="no idea", usage=Usage(calls=1))
        answer, _ = self.run([sentence("R is S."), bad, bad, bad, bad])
        assert [len(step.problems) for step in answer.steps] == [0, 1]
        assert answer.steps[1].usage.calls == 2, "asked, and corrected once"
        assert answer.ending.startswith("the model gave no further sentence; "), "the last reading failed, too"
        assert (answer.text, answer.usage.calls) == ("", 5)

    def test_nothing_is_found(self) -> None:
        with Scripted([sentence(""), final("")]) as model:
            answer = agent(model, Table({"q": []})).answer("q")
        assert (answer.text, len(answer.ranking)) == ("", 0)


class TestLimits:
    def test_a_late_find_enters_a_full_collection(self) -> None:
        table = Table({"q": ["film", "director", "other"], "A.": ["film", "actor", "lake"], "B.": ["city", "film"]})
        with Scripted([sentence("A."), sentence("B."), sentence("So the answer is: x"), final("x")]) as model:
            answer = agent(model, table, collected=3).answer("q")
        assert answer.ranking.ids == ["film", "city", "actor"]
        assert "Milwaukee lies in Wisconsin" in model.prompts[2].user

    def test_passages_a_step_and_for_the_answer(self) -> None:
        table = Table({"q": ["film", "director", "other", "actor"]})
        with Scripted([sentence(""), final("x")]) as model:
            answer = agent(model, table, retrieved=3, answered_from=1).answer("q")
        assert answer.ranking.ids == ["film", "director", "other"]
        assert "Edward Cahn was a film director" not in model.prompts[1].user


@settings(max_examples=60, deadline=None)
@given(said=st.lists(st.text(max_size=12), min_size=5, max_size=5), max_steps=st.integers(1, 5))
def test_it_always_ends(said: list[str], max_steps: int) -> None:
    model = Scripted([*map(sentence, said)])
    # Whatever is said, the answer is read after at most max_steps sentences.
    answerer = QuestionAnswerer(model=Scripted([final("end")]), passages=PASSAGES)
    asked = IRCoT(retriever=Anywhere(), model=model, answerer=answerer, max_steps=max_steps)
    answer = asked.answer("q")
    assert 1 <= len(answer.steps) <= max_steps
    assert len(model.prompts) == len(answer.steps)
    assert (answer.text, bool(answer.ending)) == ("end", True)
