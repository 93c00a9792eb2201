import pytest

from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.testing.scripted import Scripted


def ask(model: LanguageModel, *questions: str) -> list[str]:
    return [completion.text for completion in model.complete([Prompt(system="s", user=user) for user in questions])]


def test_replies_come_in_order() -> None:
    with Scripted(["one", Completion(text="two", finish_reason="length"), "three"], name="toy") as model:
        assert ask(model, "a", "b") == ["one", "two"]
        assert ask(model, "c") == ["three"]
    assert [prompt.user for prompt in model.prompts] == ["a", "b", "c"]
    assert model.name == "toy"


@pytest.mark.parametrize("model", [Scripted([]), Scripted({}), Scripted({"Oslo": "Norway"})])
def test_an_unexpected_prompt_fails(model: Scripted) -> None:
    with pytest.raises(AssertionError, match="prompt 'Where is Rome"):
        ask(model, "Where is Rome?")


def test_a_prompt_that_two_replies_match_fails() -> None:
    with pytest.raises(AssertionError, match="2 scripted replies match"):
        ask(Scripted({"Oslo": "a", "Lima": "b"}), "Oslo or Lima?")


@pytest.mark.parametrize("replies", [["one", "two"], {"Oslo": "one", "Lima": "two"}])
def test_a_reply_nobody_asked_for_fails(replies: list[str] | dict[str, str]) -> None:
    with pytest.raises(AssertionError, match="1 scripted replies were not asked for"), Scripted(replies) as model:
        ask(model, "Oslo")


def test_leaving_by_an_error_keeps_that_error() -> None:
    with pytest.raises(ValueError, match="mine"), Scripted(["unused"]):
        raise ValueError("mine")
