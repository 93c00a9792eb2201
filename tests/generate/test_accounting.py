"""Accounts: who pays for what, at which price, and where problems are noted."""

from collections.abc import Sequence

import pytest

from triplebeam.demo import Recorded, Recording
from triplebeam.errors import EndpointError
from triplebeam.generate.accounting import Accounted, Price, account, compute_cost, load_prices, note_problem
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError, Usage, outcomes_of
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
    class Picky(Scripted):
        def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
            if any(each.user == "bad" for each in prompts):
                raise PromptRefusedError("too long")
            return super().complete(prompts)

    with account() as bill:
        good, bad = outcomes_of(Accounted(Picky(["x"])), [prompt("good"), prompt("bad")])
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


USAGE = Usage(calls=3, tokens_in=1_000_000, tokens_out=100_000, cached_calls=9, cached_tokens_in=5_000_000)
OWN = {"my-own": Price(1, 2), "gpt-4o": Price(0, 0)}


@pytest.mark.parametrize(
    ("model", "own", "cost"),
    [
        ("gpt-4o-mini", {}, 0.15 + 0.06),
        ("gpt-4o-mini-2024-07-18", {}, 0.15 + 0.06),
        ("gpt-4o-mini", OWN, 0.15 + 0.06),
        ("gpt-4o", OWN, 0),
        ("my-own", OWN, 1.2),
        ("my-own", {}, None),
        ("gpt-4o-mini-tuned", {}, None),
    ],
)
def test_a_known_model_has_a_price_and_a_users_own_goes_first(
    model: str, own: dict[str, Price], cost: float | None
) -> None:
    assert compute_cost(USAGE, model, own) == pytest.approx(cost)


def test_the_table_can_be_read() -> None:
    assert all(0 < entry.input < entry.output for entry in load_prices().values())
