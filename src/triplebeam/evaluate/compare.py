"""How sure a mean is, and whether one method is better than another, by resampling the questions.

A bootstrap resample draws as many questions as there are, with replacement. Since the mean does not depend on which
question a value came from, it is enough to draw how often each distinct value occurs: a multinomial over a few dozen
values instead of thousands of questions. An interval holds the middle share of the resampled means (the percentile
bootstrap).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from triplebeam.errors import BadInputError

RESAMPLES = 10_000
#: Below this a p-value is called significant.
MAX_P_VALUE = 0.05
_MAX_COUNTS = 2**20  # 8 MiB


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the bounds it lies between, at some confidence."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much the second of two methods is better, over the questions that both have a value for."""

    mean: float
    low: float
    high: float
    p_value: float
    """How often chance alone would give a difference at least as large, in either direction."""
    questions: int


def interval(values: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0, confidence: float = 0.95) -> Interval:
    """Compute the mean of one value per question, NaN left out, with its bounds; of a single question, of width 0."""
    known = _drop_missing(np.asarray(values, dtype=np.float64))
    low, high = _bounds(_resample_means(known, resamples, seed), confidence)
    return Interval(float(known.mean()), low, high)


def compare_paired(
    first: ArrayLike, second: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0, confidence: float = 0.95
) -> Difference:
    """Subtract first from second, question by question; a question that either has no value for (NaN) is left out."""
    before, after = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if before.shape != after.shape:
        raise BadInputError(
            f"{before.size} values cannot be compared with {after.size}: give one value for each of the same questions."
        )
    differences = _drop_missing(after - before)
    means = _resample_means(differences, resamples, seed)
    low, high = _bounds(means, confidence)
    return Difference(float(differences.mean()), low, high, _p_value(differences, means), len(differences))


def holm(p_values: Sequence[float]) -> list[float]:
    """Apply Holm's adjustment, in the order given: below 0.05, the chance of any false finding among all is too."""
    if not all(0 <= p_value <= 1 for p_value in p_values):
        raise BadInputError(f"p-values must be between 0 and 1, got {list(p_values)}.")
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, position in enumerate(np.argsort(p_values, kind="stable")):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = largest
    return adjusted


def _drop_missing(values: NDArray[np.float64]) -> NDArray[np.float64]:
    known = values[~np.isnan(values)]
    if values.ndim != 1 or not known.size:
        raise BadInputError(
            f"Of {values.size} values none can be averaged: give one for each question, and a measure that applies."
        )
    return known


def _resample_means(values: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    if resamples < 1:
        raise BadInputError(f"resamples must be at least 1, got {resamples}.")
    distinct, first, counts = np.unique(values, return_index=True, return_counts=True)
    # In the order they come, so that swapping two methods makes the same draws.
    order = np.argsort(first)
    distinct, shares = distinct[order], counts[order] / len(values)
    generator, rows = np.random.default_rng(seed), max(1, _MAX_COUNTS // len(distinct))
    draws = (
        generator.multinomial(len(values), shares, size=min(rows, resamples - start)) @ distinct
        for start in range(0, resamples, rows)
    )
    return np.concatenate(list(draws)) / len(values)


def _bounds(means: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    if not 0 < confidence < 1:
        raise BadInputError(f"confidence must be between 0 and 1, got {confidence}: use 0.95.")
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _p_value(differences: NDArray[np.float64], means: NDArray[np.float64]) -> float:
    """Compute the two-sided p-value from the differences centred on 0, as they would be if neither method were better.

    Centring a resample is centring its mean. Equal differences leave nothing to resample and would look certain even
    for a single question; hence a floor: were the signs of n differences a matter of chance, all would agree in
    2 of 2**n cases.
    """
    observed = differences.mean()
    rounding = 1e-12 * np.abs(differences).max()
    as_large = np.count_nonzero(np.abs(means - observed) >= abs(observed) - rounding)
    by_signs = 2.0 ** (1 - max(1, int(np.count_nonzero(differences))))
    return float(max((as_large + 1) / (len(means) + 1), by_signs))
