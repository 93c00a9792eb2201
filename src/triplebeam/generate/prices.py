"""What a usage costs in US dollars, where the model's price is known."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

from triplebeam.generate.language_model import Usage

_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$")


class Price(NamedTuple):
    """US dollars for a million tokens."""

    input: float
    output: float


@cache
def known_prices() -> Mapping[str, Price]:
    """The prices that come with the package."""
    text = resources.files("triplebeam.generate").joinpath("prices.toml").read_text(encoding="utf-8")
    return {model: Price(**entry) for model, entry in tomllib.loads(text).items()}


def price_of(model: str, own_prices: Mapping[str, Price] | None = None) -> Price | None:
    """A model's price: the user's own, else the package's; a dated release has the price of its model."""
    prices = {**known_prices(), **(own_prices or {})}
    return prices.get(model) or prices.get(_DATE.sub("", model))


def price(usage: Usage, model: str, own_prices: Mapping[str, Price] | None = None) -> float | None:
    """What a usage cost in US dollars, or None where the model's price is not known. What was cached cost nothing."""
    known = price_of(model, own_prices)
    if known is None:
        return None
    return (usage.tokens_in * known.input + usage.tokens_out * known.output) / 1_000_000
