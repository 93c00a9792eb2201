import pytest

from triplebeam.generate.accounting import Price, compute_cost, load_prices
from triplebeam.generate.language_model import Usage

USAGE = Usage(calls=3, tokens_in=1_000_000, tokens_out=100_000, cached_calls=9, cached_tokens_in=5_000_000)


def test_a_known_model_has_a_price() -> None:
    assert compute_cost(USAGE, "gpt-4o-mini") == pytest.approx(0.15 + 0.06)
    assert compute_cost(USAGE, "gpt-4o-mini-2024-07-18") == compute_cost(USAGE, "gpt-4o-mini")


def test_an_unknown_model_has_none() -> None:
    assert compute_cost(USAGE, "my-own") is None
    assert compute_cost(USAGE, "gpt-4o-mini-tuned") is None


def test_a_users_own_price_goes_first() -> None:
    own = {"my-own": Price(1, 2), "gpt-4o": Price(0, 0)}
    assert compute_cost(USAGE, "my-own", own) == pytest.approx(1.2)
    assert compute_cost(USAGE, "gpt-4o", own) == 0
    assert compute_cost(USAGE, "gpt-4o-mini", own) == pytest.approx(0.21)


def test_the_table_can_be_read() -> None:
    assert all(0 < entry.input < entry.output for entry in load_prices().values())
