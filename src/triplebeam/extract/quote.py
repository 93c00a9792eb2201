"""What the extraction of a corpus will cost, estimated from a random sample of its passages.

Tokens, price and time of a passage rise on a straight line with its characters: the prompt around it costs the same
every time. The line is fitted to the sample by least squares and predicts the passages that were not sampled; the
interval is Student's, from the scatter around the line. Token counts are skewed, which costs an interval from so few
passages some of its coverage, so Student's is taken at a higher level than is claimed. What no sample can show is a
rare passage that costs many times the others.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from triplebeam.errors import BadInputError
from triplebeam.generate.prices import Price

#: How often, at least, the interval contains the truth.
COVERAGE = 0.90
#: The level at which Student's interval is taken to keep that promise for skewed counts; the tests simulate it.
_LEVEL = 0.96
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
    """The estimate, and the bounds between which the truth lies."""

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
    """In US dollars; None where the price of the model is unknown."""
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
    """The sum of a cost over the population: what was sampled is known, the rest is predicted."""
    from scipy.stats import t as student

    count, rest, known = len(sample), len(population) - len(sample), float(sum(costs))
    if rest <= 0:
        return Interval(known, known, known)
    lengths = np.array([one.characters for one in sample], float)
    line, *_ = np.linalg.lstsq(design := np.column_stack([np.ones(count), lengths]), np.array(costs, float))
    predicted = max(0.0, float(line @ [rest, sum(population) - lengths.sum()]))
    scatter = float(np.std(costs - design @ line, ddof=2))
    half = float(student.ppf((1 + _LEVEL) / 2, count - 2)) * scatter * rest * math.sqrt(1 / count + 1 / rest)
    return Interval(known + predicted, known + max(0.0, predicted - half), known + predicted + half)
