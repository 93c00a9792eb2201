"""Accounts: who pays for what, and where problems are noted."""

import pytest

from triplebeam.demo import Recorded, Recording, read_recordings
from triplebeam.errors import EndpointError
from triplebeam.generate.accounting import Accounted, account, note_problem
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError, Usage
from triplebeam.generate.outcomes import outcomes_of
from triplebeam.testing.scripted import Scripted


def prompt(user: str) -> Prompt:
    return Prompt(system="s", user=user, template="t")


def test_calls_count_towards_every_open_account() -> None:
    model = Accounted(Scripted(["a", "b", "c"]))
    with account() as outer:
        model.complete([prompt("1")])
        with account() as inner:
            model.complete([prompt("2"), prompt("3")])
    assert (outer.usage.calls, inner.usage.calls) == (3, 2)


def test_what_arrived_is_charged_though_another_prompt_fails() -> None:
    class Picky:
        name = "picky"

        def complete(self, prompts: list[Prompt]) -> list[Completion]:
            if any(each.user == "bad" for each in prompts):
                raise PromptRefusedError("too long")
            return [Completion(text="x", usage=Usage(calls=1)) for _ in prompts]

    with account() as bill:
        good, bad = outcomes_of(Accounted(Picky()), [prompt("good"), prompt("bad")])
    assert isinstance(good, Completion)
    assert isinstance(bad, PromptRefusedError)
    assert bill.usage.calls == 1


def test_a_problem_nobody_listens_to_is_raised() -> None:
    with pytest.raises(ValueError, match="lost"):
        note_problem(ValueError("lost"))
    with account() as bill:
        note_problem(ValueError("noted"))
    assert bill.problems == ["noted"]


def test_a_recording_is_given_only_for_the_prompt_it_was_made_for() -> None:
    recorded = Recorded([Recording("t", ("Uranus",), "{}", 10, 2)])
    (reply,) = recorded.complete([prompt("about Uranus")])
    assert (reply.text, reply.usage) == ("{}", Usage(cached_calls=1, cached_tokens_in=10, cached_tokens_out=2))
    with pytest.raises(EndpointError, match="no recorded completion fits this 't' prompt"):
        recorded.complete([prompt("about Neptune")])


def test_recordings_are_read_from_json() -> None:
    (one,) = read_recordings('[{"template": "t", "shows": ["a"], "reply": {"x": 1}}]')
    assert (one.shows, one.reply) == (("a",), '{"x": 1}')
