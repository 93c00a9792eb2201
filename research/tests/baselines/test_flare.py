"""FLARE through loops that a scripted model drives, with log-probabilities and without."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripted_loops import PASSAGES, Anywhere, Table, driven, final
from trials import examples
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel, TokenLogProbability, Usage
from triplebeam.methods.shared.question_answering import QuestionAnswerer
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.flare import FLARE

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


def test_three_retrievals() -> None:
    """A sure sentence stands, two unsure ones are searched for; the last search finds the last passage."""
    queries = [QUESTION, "Laughter in Hell starred .", "lies on Lake ."]
    table = Table(dict(zip(queries, (["film", "other"], ["actor", "film"], ["city", "lake"]), strict=True)))
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
        _, answer = driven(agent(model, table), QUESTION)
    assert table.asked == [step.query for step in answer.steps] == queries
    assert ["city" in step.ranking.ids for step in answer.steps] == [False, False, True]

    users = [prompt.user for prompt in model.prompts]
    before, again = users[1], users[2]
    assert before.split("Question:")[1] == again.split("Question:")[1], "the unsure sentence leaves no trace"
    assert ("Pat Brien starred" in before, "Pat Brien starred" in again) == (False, True)
    assert ("Etan" in before, "Etan" in again) == (True, False), "new passages take the place of the old"
    assert ["Milwaukee lies in Wisconsin" in user for user in users] == [False] * 5 + [True] * 2
    for prompt in model.prompts:
        assert (prompt.log_probabilities, prompt.schema, prompt.temperature) == (True, None, 0.0)
        assert prompt.system.count("So the answer is: ") == 6 + 1, "six examples"

    sentences = [
        "Laughter in Hell is a drama.",
        "Pat Brien starred in Laughter in Hell.",
        "Pat Brien lived in Milwaukee.",
        "Milwaukee lies on Lake Michigan.",
        CONCLUSION,
    ]
    assert users[-1].endswith(f"Sentences so far: {' '.join(sentences[:-1])}")
    assert [step.thought for step in answer.steps] == [sentences[0], " ".join(sentences[1:3]), " ".join(sentences[3:])]
    assert (answer.text, answer.ending) == ("Lake Michigan", "the reasoning came to an answer")
    assert answer.sentence == " ".join(sentences)
    assert answer.usage.calls == sum(step.usage.calls for step in answer.steps) == 7
    assert answer.ranking == answer.steps[-1].so_far
    assert answer.ranking.ids[:3] == ["film", "actor", "city"]


class Anything(Table):
    """Finds a film, and remembers the queries."""

    def retrieve(self, query: str, k: int = 10) -> Any:
        self.table = {**self.table, query: ["film"]}
        return super().retrieve(query, k)


@pytest.mark.parametrize(
    ("tokens", "parameters", "queries"),
    [
        (["A film", (" by Cahn.", 0.81)], {}, []),
        (["A film", (" by Cahn.", 0.81)], {"threshold": 0.82}, ["A film by Cahn."]),
        (["A film", (" by Cahn.", 0.81)], {"threshold": 0.82, "mask": 0.82}, ["A film"]),
        ([("A film", 0.1), (" by Cahn.", 0.2)], {}, ["A film by Cahn."]),  # nothing would be left
        (["So the answer is:", (" Cahn.", 0.5)], {}, ["So the answer is: Cahn."]),  # a conclusion is searched for too
    ],
)
def test_thresholds(tokens: list[Any], parameters: dict[str, float], queries: list[str]) -> None:
    table = Anything({})
    agent(Scripted([say(*tokens), *[say(CONCLUSION)] * 2]), table, **parameters).answer(QUESTION)
    assert table.asked[1:] == queries


def test_the_paper_looks_ahead_without_passages() -> None:
    model = Scripted([say(("A film.", 0.5)), say("A drama."), say(CONCLUSION)])
    table = Table({QUESTION: ["film"], "A film.": ["actor"]})
    agent(model, table, look_ahead_reads=False).answer(QUESTION)
    assert ["Passages:\n(none)" in prompt.user for prompt in model.prompts] == [True, False, True]


def test_without_log_probabilities_every_sentence_is_searched_for_and_the_answer_says_why() -> None:
    starred, lived = "Paul Muni starred in Laughter in Hell.", "Pat Brien lived in Chicago."
    table = Table({QUESTION: ["film"], starred: ["actor"], lived: ["city"]})
    again = ("Pat Brien starred in Laughter in Hell.", "Pat Brien lived in Milwaukee, on Lake Michigan.")
    with Scripted([*map(plain, (starred, again[0], lived, again[1], CONCLUSION))]) as model:
        _, answer = driven(agent(model, table), QUESTION)
    assert table.asked == list(table.table)
    assert [step.ranking.ids for step in answer.steps] == [["film"], ["actor"], ["city"]]
    assert "Milwaukee lies in Wisconsin" in model.prompts[3].user
    assert answer.text == "Lake Michigan", "the conclusion itself is not searched for"
    assert [len(step.problems) for step in answer.steps] == [1, 0, 0]
    assert "no log-probabilities" in answer.steps[0].problems[0]


def test_tokens_that_do_not_spell_the_sentence_count_as_none() -> None:
    table = Table({QUESTION: ["film"], "Ça va.": ["actor"]})
    with Scripted([say("�", "�a va.", text="Ça va."), say("It goes."), say(CONCLUSION)]) as model:
        answer = agent(model, table).answer(QUESTION)
    assert table.asked == [QUESTION, "Ça va."]
    assert "no log-probabilities" in answer.steps[0].problems[0]


CUT = Completion(text="Laughter in", usage=Usage(calls=1), finish_reason="length")
NO_SENTENCE = "the model gave no further sentence"


@pytest.mark.parametrize(
    ("replies", "text", "ending"),
    [
        ([say("A."), say("B."), final("Michigan")], "Michigan", "the last sentence was reached"),
        ([say("So the answer is:"), final("")], "", NO_SENTENCE),
        ([say("So the answer is: ."), final("")], "", NO_SENTENCE),
        ([say("A."), CUT, final("Michigan")], "Michigan", NO_SENTENCE),
    ],
)
def test_every_ending_is_named_and_the_passages_are_read(replies: list[Completion], text: str, ending: str) -> None:
    with Scripted(replies) as model:
        answer = agent(model, Table({QUESTION: ["film", "actor"]}), max_sentences=2).answer(QUESTION)
    assert (answer.text, answer.ending) == (text, ending)
    assert "Pat Brien starred" in model.prompts[-1].user
    assert ["cut off" in problem for problem in answer.steps[0].problems] == ([True] if CUT in replies else [])


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
