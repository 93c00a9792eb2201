"""What the extraction of a corpus will cost, told from a random sample of its passages.

Tokens, price and time of a passage are taken to rise on a straight line with its characters: the prompt around it costs
the same every time. The line is fitted to the sample by least squares and the passages that were not sampled are
predicted from it. The interval is Student's, with a variance that adds the uncertainty of the line to the scatter of
the predicted passages, from residuals divided by one minus their leverage (the jackknife's, so that long passages may
scatter more than short ones). What was sampled is known and adds nothing: sampling all gives an interval of no width.
Token counts are skewed, which costs an interval from so few passages some of its coverage; so Student's is taken at a
higher level than is claimed, and a sample without scatter is not taken at its word. What no sample can show is a rare
passage that costs many times the others.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from triplebeam.errors import BadInputError
from triplebeam.generate.prices import Price

#: How often the interval holds the truth, at the least.
COVERAGE = 0.90
#: The level at which Student's interval is taken to keep that promise for skewed counts; the tests simulate it.
_LEVEL = 0.95
#: What is believed before the sample is seen, with the weight of so many passages: costs scatter by so large a share.
_PRIOR_PASSAGES = 2
_PRIOR_SPREAD = 0.3
#: A line through fewer points has no scatter to speak of.
FEWEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one sampled passage cost. ``seconds`` is its share of the time; None where the cache saved some."""

    characters: int
    tokens_in: int
    tokens_out: int
    seconds: float | None = None


class Interval(NamedTuple):
    """The best guess, and the bounds between which the truth lies."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What all passages cost together, those of the sample included."""

    passages: int
    sampled: int
    tokens_in: Interval
    tokens_out: Interval
    price: Interval | None
    """In US dollars; None where the model's price is not known."""
    seconds: Interval | None
    """None where too much of the sample came from the cache."""
    coverage: float = COVERAGE


def quote(sample: Sequence[Measured], population: Sequence[int], price: Price | None = None) -> Quote:
    """The cost of all passages from that of a random sample; ``population`` are the characters of every passage."""
    if len(sample) < min(FEWEST, len(population)):
        raise BadInputError(f"A sample of {len(sample)} passages says too little: take at least {FEWEST}.")
    timed = [one for one in sample if one.seconds is not None]
    return Quote(
        passages=len(population),
        sampled=len(sample),
        tokens_in=_total(sample, [one.tokens_in for one in sample], population),
        tokens_out=_total(sample, [one.tokens_out for one in sample], population),
        price=_total(sample, [_cost(one, price) for one in sample], population) if price else None,
        seconds=_total(timed, [one.seconds or 0.0 for one in timed], population)
        if len(timed) >= min(FEWEST, len(population))
        else None,
    )


def _cost(one: Measured, price: Price) -> float:
    return (one.tokens_in * price.input + one.tokens_out * price.output) / 1_000_000


def _total(sample: Sequence[Measured], costs: Sequence[float], population: Sequence[int]) -> Interval:
    """The sum of a cost over the population, as the module's head says."""
    from scipy.stats import t as student

    lengths, values = np.array([one.characters for one in sample], float), np.array(costs, float)
    rest = len(population) - len(values)
    known = float(values.sum())
    if rest <= 0:
        return Interval(known, known, known)
    centred = lengths - lengths.mean()
    spread = float(centred @ centred) or math.inf  # passages of one length: a level line
    slope = float(centred @ values) / spread
    # How far the mean length of the passages that were not sampled is from the sample's.
    shift = (sum(population) - lengths.sum()) / rest - lengths.mean()
    predicted = max(0.0, rest * (float(values.mean()) + slope * shift))
    leverage = 1 / len(values) + centred**2 / spread
    residuals = (values - values.mean() - slope * centred) / np.maximum(1 - leverage, 1e-9)
    weights = rest * (1 / len(values) + shift * centred / spread)
    # A sample in which all passages cost the same does not show that all passages do.
    squares = residuals**2 + _PRIOR_PASSAGES * (_PRIOR_SPREAD * float(values.mean())) ** 2 / len(values)
    variance = float((weights**2) @ squares) + rest * float(squares.mean())
    half = float(student.ppf((1 + _LEVEL) / 2, len(values) - 2)) * math.sqrt(variance)
    return Interval(known + predicted, known + max(0.0, predicted - half), known + predicted + half)
