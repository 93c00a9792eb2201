"""One retrieval, one reading: also over gold passages."""

import json
from collections.abc import Sequence

import pytest

from small_world import WORLD
from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, Usage
from triplebeam.methods.read_once import ReadOnce
from triplebeam.passage import Passage
from triplebeam.ranking import Ranking
from triplebeam.testing.scripted import Scripted
from triplebeam_research.baselines.simple import FixedRanking

PASSAGES = {id_: Passage(id_, text, title) for id_, (title, text) in WORLD.items()}
QUESTION = "When did the director of Laughter in Hell die?"
RANKED = ["film", "director", "actor", "city", "lake", "other"]


def reply(text: str) -> str:
    return json.dumps({"found": bool(text), "answer": text, "sentence": f"It is {text}."})


def agent(model: LanguageModel, ids: Sequence[str] = RANKED, **parameters: int) -> ReadOnce:
    retriever = FixedRanking({QUESTION: ids})
    return ReadOnce(retriever=retriever, model=Accounted(model), passages=PASSAGES, **parameters)


def test_the_best_five_are_read() -> None:
    with Scripted([reply("25 August 1963")]) as model:
        answer = agent(model).answer(QUESTION)
    assert (answer.text, answer.sentence) == ("25 August 1963", "It is 25 August 1963.")
    shown = [id_ for id_ in RANKED if PASSAGES[id_].text in model.prompts[0].user]
    assert shown == RANKED[:5]
    assert answer.ending == "one step was asked for"
    assert answer.usage.calls == 1
    assert not answer.supported, "no fact was read, so none supports it"


def test_the_step_is_the_retrieval() -> None:
    with Scripted([reply("1963")]) as model:
        answer = agent(model, retrieved=3, answered_from=1).answer(QUESTION)
    [step] = answer.steps
    assert (step.number, step.query) == (1, QUESTION)
    assert step.ranking == step.so_far == answer.ranking
    assert answer.ranking.ids == RANKED[:3]
    assert PASSAGES["director"].text not in model.prompts[0].user


def test_as_many_passages_are_read_as_fit_a_budget() -> None:
    with Scripted([reply("1963")]) as model:
        answer = agent(model, tokens=50).answer(QUESTION)
    assert answer.ranking.ids == RANKED[:2]
    assert [id_ for id_ in RANKED if PASSAGES[id_].text in model.prompts[0].user] == RANKED[:2]


def test_what_the_retriever_spends_is_the_steps() -> None:
    class Reads:
        def __init__(self, model: LanguageModel) -> None:
            self.model = model

        def retrieve(self, query: str, k: int = 10) -> Ranking:
            self.model.complete([Prompt(system="", user=query)])
            return Ranking()

    spent = Completion(text="anything", usage=Usage(calls=1, tokens_in=7))
    with Scripted([spent, reply("")]) as model:
        accounted = Accounted(model)
        answer = ReadOnce(retriever=Reads(accounted), model=accounted, passages=PASSAGES).answer(QUESTION)
    assert [step.usage.tokens_in for step in answer.steps] == [7]
    assert (answer.text, answer.usage.calls) == ("", 2)


def test_a_reply_that_cannot_be_used_is_reported() -> None:
    with Scripted(["no idea", "none"]) as model:
        answer = agent(model).answer(QUESTION)
    assert answer.text == ""
    assert answer.ending.startswith("one step was asked for; "), answer.ending


def test_gold_passages_are_known_for_their_questions_alone() -> None:
    with pytest.raises(BadInputError, match="No passages are listed"):
        agent(Scripted([])).answer("Who?")
