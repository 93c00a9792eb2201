"""What the extraction of a corpus will cost, estimated from a random sample of its passages.

Tokens, price and time of a passage rise on a straight line with its characters: the prompt around it costs the same
every time. The line is fitted to the sample by least squares and predicts the passages that were not sampled; the
interval is Student's, from the scatter around the line. Token counts are skewed, which costs an interval from so few
passages some of its coverage, so Student's is taken at a higher level than is claimed. What no sample can show is a
rare passage that costs many times the others.
"""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from triplebeam.errors import BadInputError
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.llm import LLMExtractor
from triplebeam.generate.accounting import Price
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.generate.outcomes import Outcome, Wrapper, completions, outcomes_of
from triplebeam.passage import Passage

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Passages that were extracted, the results and what they cost."""

    extractions: tuple[Extraction, ...]
    measured: tuple[Measured, ...]
    usage: Usage


def draw_sample(passages: Sequence[Passage], size: int, seed: int) -> list[Passage]:
    """Passages at random, in the order of the corpus; all of them if there are no more than ``size``."""
    numbers = random.Random(seed).sample(range(len(passages)), min(size, len(passages)))
    return [passages[number] for number in sorted(numbers)]


def extract_sample(
    extractor: LLMExtractor, passages: Sequence[Passage], clock: Callable[[], float] = time.perf_counter
) -> Sample:
    """Extract passages, no two of them with the same text, as an indexing run would, and record what each costs.

    Prompts run concurrently, so the time is divided in proportion to the tokens written.
    """
    watched = _Watched(extractor.model)
    start = clock()
    extractions = tuple(replace(extractor, model=watched).extract(passages))
    seconds = clock() - start
    usages = [watched.usages[extractor.template.fill(passage=passage.searchable).user] for passage in passages]
    total = sum(usages, start=Usage())
    pace = seconds / total.tokens_out if total.tokens_out else 0.0
    measured = [_measured(passage, usage, pace) for passage, usage in zip(passages, usages, strict=True)]
    return Sample(extractions=extractions, measured=tuple(measured), usage=total)


def _measured(passage: Passage, usage: Usage, pace: float) -> Measured:
    """What a passage costs, also where a part of it was in the cache and cost nothing now."""
    return Measured(
        characters=len(passage.searchable),
        tokens_in=usage.tokens_in + usage.cached_tokens_in,
        tokens_out=usage.tokens_out + usage.cached_tokens_out,
        seconds=None if usage.cached_calls else usage.tokens_out * pace,
    )


@dataclass(frozen=True)
class _Watched(Wrapper):
    """A model that records what the prompts of each passage cost; a correction has the same user part as the first."""

    usages: dict[str, Usage] = field(default_factory=dict)

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        outcomes = outcomes_of(self.model, prompts)
        for prompt, outcome in zip(prompts, outcomes, strict=True):
            # What was refused cost nothing.
            usage = outcome.usage if isinstance(outcome, Completion) else Usage()
            self.usages[prompt.user] = self.usages.get(prompt.user, Usage()) + usage
        return outcomes

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return completions(self.outcomes(prompts))
