"""One retrieval, one reading."""

import pytest

from scripted_loops import PASSAGES, Table, final
from triplebeam.answer import Answer
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, Usage
from triplebeam.methods.read_once import ReadOnce
from triplebeam.ranking import Ranking
from triplebeam.testing.scripted import Scripted

QUESTION = "When did the director of Laughter in Hell die?"
RANKED = ["film", "director", "actor", "city", "lake", "other"]


def ask(**parameters: int) -> tuple[Answer, list[str]]:
    """Return the answer, and the passages that were shown for it."""
    with Scripted([final("1963")]) as model:
        answer = ReadOnce(retriever=Table({QUESTION: RANKED}), model=Accounted(model), **parameters).answer(QUESTION)
    return answer, [id_ for id_ in RANKED if PASSAGES[id_].text in model.prompts[0].user]


def test_the_best_five_are_read() -> None:
    answer, shown = ask()
    assert (answer.text, answer.sentence) == ("1963", "It is 1963.")
    assert shown == RANKED[:5]
    assert (answer.ending, answer.usage.calls) == ("one step was asked for", 1)
    assert not answer.supported, "no fact was read, so none supports it"


@pytest.mark.parametrize(
    ("limits", "found", "read"), [({"retrieved": 3, "answered_from": 1}, 3, 1), ({"tokens": 50}, 2, 2)]
)
def test_the_step_is_the_retrieval_within_a_number_or_a_budget(limits: dict[str, int], found: int, read: int) -> None:
    answer, shown = ask(**limits)
    [step] = answer.steps
    assert (step.number, step.query) == (1, QUESTION)
    assert step.ranking == step.so_far == answer.ranking
    assert (answer.ranking.ids, shown) == (RANKED[:found], RANKED[:read])


def test_what_the_retriever_spends_is_the_steps() -> None:
    class Reads:
        def __init__(self, model: LanguageModel) -> None:
            self.model = model

        def retrieve(self, query: str, k: int = 10) -> Ranking:
            self.model.complete([Prompt(system="", user=query)])
            return Ranking()

    with Scripted([Completion(text="anything", usage=Usage(calls=1, tokens_in=7)), final("")]) as model:
        accounted = Accounted(model)
        answer = ReadOnce(retriever=Reads(accounted), model=accounted, passages=PASSAGES).answer(QUESTION)
    assert [step.usage.tokens_in for step in answer.steps] == [7]
    assert (answer.text, answer.usage.calls) == ("", 2)
