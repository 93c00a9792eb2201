"""FLARE through loops that a scripted model drives, with log-probabilities and without."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripted_loops import PASSAGES, Anywhere, Driven, Table, driven, final
from trials import examples
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel, TokenLogProbability, Usage
from triplebeam.methods.shared.question_answering import QuestionAnswerer
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.flare import FLARE, tokens_of

QUESTION = "On which lake lies the city where the actor of Laughter in Hell lived?"
CONCLUSION = "So the answer is: Lake Michigan."


def say(*tokens: str | tuple[str, float], text: str | None = None) -> Completion:
    """Return a reply of tokens; one without a probability is sure."""
    pairs = [(token, 0.99) if isinstance(token, str) else token for token in tokens]
    return Completion(
        text="".join(token for token, _ in pairs) if text is None else text,
        usage=Usage(calls=1, tokens_in=10, tokens_out=3),
        log_probabilities=tuple(TokenLogProbability(token, math.log(probability)) for token, probability in pairs),
    )


def plain(text: str) -> Completion:
    return Completion(text=text, usage=Usage(calls=1, tokens_in=10, tokens_out=3))


def agent(model: LanguageModel, table: Table, **parameters: Any) -> FLARE:
    return FLARE(retriever=table, model=Accounted(model), **parameters)


class TestThreeRetrievals:
    """A sure sentence stands, two unsure ones are searched for; the last search finds the last passage."""

    @pytest.fixture
    def done(self) -> Driven:
        table = Table(
            {
                QUESTION: ["film", "other"],
                "Laughter in Hell starred .": ["actor", "film"],
                "lies on Lake .": ["city", "lake"],
            }
        )
        replies = [
            say("Laughter", " in", " Hell", " is", " a", " drama."),  # sure: stands
            say("Laughter in Hell", (" starred", 0.5), (" Paul", 0.1), (" Muni", 0.39), "."),  # unsure
            say("Pat Brien", " starred in Laughter in Hell."),  # written again
            say("Pat Brien", " lived in Milwaukee", ". And more", (" that", 0.1), " does not count."),  # sure: stands
            say(("Chicago", 0.3), " lies on Lake", (" Erie", 0.2), "."),  # unsure
            say(("Milwaukee", 0.2), " lies on Lake Michigan."),  # written again: how sure it is does not matter
            say("So the answer is", ": Lake Michigan", "."),
        ]
        with Scripted(replies) as model:
            return Driven(model, table, *driven(agent(model, table), QUESTION))

    def test_unsure_sentences_are_searched_for_without_their_unlikely_tokens(self, done: Driven) -> None:
        _, table, _, answer = done
        queries = [QUESTION, "Laughter in Hell starred .", "lies on Lake ."]
        assert table.asked == [step.query for step in answer.steps] == queries
        assert ["city" in step.ranking.ids for step in answer.steps] == [False, False, True]

    def test_a_sentence_is_written_again_from_what_was_found(self, done: Driven) -> None:
        users = [prompt.user for prompt in done.model.prompts]
        before, again = users[1], users[2]
        assert before.split("Question:")[1] == again.split("Question:")[1], "the unsure sentence leaves no trace"
        assert "Pat Brien starred" not in before
        assert "Pat Brien starred" in again
        assert "Etan" in before
        assert "Etan" not in again, "new passages take the place of the old"
        assert ["Milwaukee lies in Wisconsin" in user for user in users] == [False] * 5 + [True] * 2

    def test_the_reasoning_so_far_goes_on(self, done: Driven) -> None:
        model, *_, answer = done
        sentences = [
            "Laughter in Hell is a drama.",
            "Pat Brien starred in Laughter in Hell.",
            "Pat Brien lived in Milwaukee.",
            "Milwaukee lies on Lake Michigan.",
            CONCLUSION,
        ]
        assert model.prompts[-1].user.endswith(f"Sentences so far: {' '.join(sentences[:-1])}")
        assert [step.thought for step in answer.steps] == [
            sentences[0],
            " ".join(sentences[1:3]),
            " ".join(sentences[3:]),
        ]
        assert answer.sentence == " ".join(sentences)

    def test_the_answer_is_the_reasonings_own(self, done: Driven) -> None:
        answer = done.answer
        assert (answer.text, answer.ending) == ("Lake Michigan", "the reasoning came to an answer")
        assert answer.usage.calls == sum(step.usage.calls for step in answer.steps) == 7
        assert answer.ranking == answer.steps[-1].so_far
        assert answer.ranking.ids[:3] == ["film", "actor", "city"]

    def test_the_prompt_asks_for_probabilities_of_plain_text_after_six_examples(self, done: Driven) -> None:
        for prompt in done.model.prompts:
            assert (prompt.log_probabilities, prompt.schema, prompt.temperature) == (True, None, 0.0)
            assert prompt.system.count("So the answer is: ") == 6 + 1


class TestThresholds:
    def run(self, first: Completion, **parameters: Any) -> list[str]:
        class Anything(Table):
            def retrieve(self, query: str, k: int = 10) -> Any:
                self.table = {**self.table, query: ["film"]}
                return super().retrieve(query, k)

        table = Anything({})
        agent(Scripted([first, *[say(CONCLUSION)] * 2]), table, **parameters).answer(QUESTION)
        return table.asked[1:]

    def test_sure_from_the_threshold_on(self) -> None:
        sentence = say("A film", (" by Cahn.", 0.81))
        assert self.run(sentence) == []
        assert self.run(sentence, threshold=0.82) == ["A film by Cahn."]
        assert self.run(sentence, threshold=0.82, mask=0.82) == ["A film"]

    def test_a_query_of_which_nothing_is_left_is_the_sentence(self) -> None:
        assert self.run(say(("A film", 0.1), (" by Cahn.", 0.2))) == ["A film by Cahn."]

    def test_an_unsure_conclusion_is_searched_for_too(self) -> None:
        assert self.run(say("So the answer is:", (" Cahn.", 0.5))) == ["So the answer is: Cahn."]

    def test_the_paper_looks_ahead_without_passages(self) -> None:
        model = Scripted([say(("A film.", 0.5)), say("A drama."), say(CONCLUSION)])
        table = Table({QUESTION: ["film"], "A film.": ["actor"]})
        agent(model, table, look_ahead_reads=False).answer(QUESTION)
        assert ["Passages:\n(none)" in prompt.user for prompt in model.prompts] == [True, False, True]


class TestWithoutLogProbabilities:
    """Every sentence is searched for, and the answer says why."""

    @pytest.fixture
    def done(self) -> Driven:
        starred, lived = "Paul Muni starred in Laughter in Hell.", "Pat Brien lived in Chicago."
        table = Table({QUESTION: ["film"], starred: ["actor"], lived: ["city"]})
        replies = [
            plain(starred),
            plain("Pat Brien starred in Laughter in Hell."),
            plain(lived),
            plain("Pat Brien lived in Milwaukee, on Lake Michigan."),
            plain(CONCLUSION),
        ]
        with Scripted(replies) as model:
            return Driven(model, table, *driven(agent(model, table), QUESTION))

    def test_whole_sentences_are_the_queries_and_the_last_finds_the_city(self, done: Driven) -> None:
        _, table, _, answer = done
        assert table.asked == list(table.table)
        assert [step.ranking.ids for step in answer.steps] == [["film"], ["actor"], ["city"]]
        assert "Milwaukee lies in Wisconsin" in done.model.prompts[3].user
        assert answer.text == "Lake Michigan", "the conclusion itself is not searched for"

    def test_it_is_reported_once(self, done: Driven) -> None:
        assert [len(step.problems) for step in done.answer.steps] == [1, 0, 0]
        assert "no log-probabilities" in done.answer.steps[0].problems[0]

    def test_tokens_that_do_not_spell_the_sentence_count_as_none(self) -> None:
        table = Table({QUESTION: ["film"], "Ça va.": ["actor"]})
        with Scripted([say("�", "�a va.", text="Ça va."), say("It goes."), say(CONCLUSION)]) as model:
            answer = agent(model, table).answer(QUESTION)
        assert table.asked == [QUESTION, "Ça va."]
        assert "no log-probabilities" in answer.steps[0].problems[0]


class TestEndings:
    def test_the_last_sentence_and_an_answer_from_the_passages(self) -> None:
        table = Table({QUESTION: ["film", "actor"]})
        with Scripted([say("A."), say("B."), final("Michigan")]) as model:
            answer = agent(model, table, max_sentences=2).answer(QUESTION)
        assert (answer.text, answer.ending) == ("Michigan", "the last sentence was reached")
        assert "Pat Brien starred" in model.prompts[-1].user

    @pytest.mark.parametrize("last", ["So the answer is:", "So the answer is: ."])
    def test_a_conclusion_without_words(self, last: str) -> None:
        with Scripted([say(last), final("")]) as model:
            answer = agent(model, Table({QUESTION: ["film"]})).answer(QUESTION)
        assert (answer.text, answer.ending) == ("", "the model gave no further sentence")

    def test_replies_that_cannot_be_used_are_reported_and_do_not_stop_it(self) -> None:
        cut = Completion(text="Laughter in", usage=Usage(calls=1), finish_reason="length")
        with Scripted([say("A."), cut, final("Michigan")]) as model:
            answer = agent(model, Table({QUESTION: ["film"]})).answer(QUESTION)
        assert (answer.text, answer.ending) == ("Michigan", "the model gave no further sentence")
        assert "cut off" in answer.steps[0].problems[0]


class TestTokens:
    def test_only_those_of_the_sentence(self) -> None:
        tokens = say(" ", "A", " B", ". C", ".").log_probabilities
        assert tokens is not None
        spelled = tokens_of("A B.", tokens)
        assert spelled is not None
        assert [token.token for token in spelled] == ["A", " B", ". C"]

    def test_none(self) -> None:
        assert tokens_of("A.", ()) is None
        assert tokens_of("", say("A.").log_probabilities or ()) is None


@settings(max_examples=examples(60), deadline=None)
@given(
    replies=st.lists(st.tuples(st.sampled_from(["A.", "B.", "", "So the answer is: C."]), st.floats(0.01, 1.0))),
    most=st.integers(1, 4),
)
def test_it_always_ends(replies: list[tuple[str, float]], most: int) -> None:
    model = Scripted([*(say(reply) for reply in replies), *[say(("D.", 0.5))] * 20])
    answerer = QuestionAnswerer(model=Scripted([final("end")]), passages=PASSAGES)
    answer = FLARE(retriever=Anywhere(), model=model, answerer=answerer, max_sentences=most).answer("q")
    assert answer.text
    assert answer.ending
    assert len(answer.steps) <= most + 1
