"""A model whose replies cannot be used has failed, whichever agent asks: that says nothing about the documents."""

from collections.abc import Sequence

import pytest

from scripted_loops import final
from triplebeam.assemble import open_index
from triplebeam.assemble.table import list_agents
from triplebeam.embed.embedder import Embedder
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.answer_shapes import add_passages

QUESTION = "When did the director of Laughter in Hell die?"
NONSENSE = Completion(text="I am a helpful assistant.")


class Repeating:
    """Replies with the same words to every prompt."""

    name = "repeating"

    def __init__(self, said: Completion) -> None:
        self.said = said

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [self.said] * len(prompts)


class Refusing(Repeating):
    """Accepts no prompt."""

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        raise PromptRefusedError("http://m answered HTTP 400: shorten the passage.")


@pytest.mark.parametrize("agent", list_agents())
def test_every_agent_says_that_its_model_failed(world: Snapshot, words: Embedder, agent: str) -> None:
    index = open_index(world.folder, embedder=words, model=Repeating(NONSENSE))
    answer = index.agent(agent).answer(QUESTION)
    assert (answer.outcome, answer.text, answer.missing) == ("model_failed", "", ())
    assert answer.failure == (
        "The model's reply holds no JSON object; it begins with 'I am a helpful assistant.': "
        "ask again or use a stronger model."
    )
    assert add_passages(index, answer).ranking, "whether the agent searched or not"


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (Completion(text=""), "is empty"),
        (Completion(text='{"sentence": "The dir', finish_reason="length"), "was cut off at its limit of tokens"),
        (Completion(text="", finish_reason="refusal"), "is empty (it finished by 'refusal')"),
        (Completion(text="<!doctype html><title>502 Bad Gateway</title>"), "begins with '<!doctype html>"),
    ],
)
def test_whatever_cannot_be_used_is_named(world: Snapshot, words: Embedder, said: Completion, cause: str) -> None:
    answer = open_index(world.folder, embedder=words, model=Repeating(said)).agent("auto").answer(QUESTION)
    assert answer.outcome == "model_failed"
    assert cause in answer.failure


def test_prompts_that_are_all_refused_are_a_failure(world: Snapshot, words: Embedder) -> None:
    answer = open_index(world.folder, embedder=words, model=Refusing(NONSENSE)).agent("auto").answer(QUESTION)
    assert (answer.outcome, answer.failure) == ("model_failed", "http://m answered HTTP 400: shorten the passage.")


def test_a_model_that_finds_nothing_has_not_failed(world: Snapshot, words: Embedder) -> None:
    answer = open_index(world.folder, embedder=words, model=Repeating(final(""))).agent("read").answer(QUESTION)
    assert (answer.outcome, answer.failure) == ("not_in_documents", "")
