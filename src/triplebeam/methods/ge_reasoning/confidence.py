"""GE-Reasoning, lines 9 and 14 of Algorithm 1: how sure a model is of a sub-answer.

The paper gives neither the formula nor the thresholds and points to FLARE, whose measure is ours: the smallest
probability among the tokens of the answer, taken where the answer is first written, since a name that is repeated from
the sentence before it is always sure. Where an endpoint gives no log-probabilities, it is the share of several samples
that agree. The two are different scales, so each has thresholds of its own.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from triplebeam.generate.language_model import TokenLogProbability
from triplebeam.text.names import entity_key, strip_article


@dataclass(frozen=True, slots=True)
class Thresholds:
    """k1: below it, passages are retrieved. k2: below it, even so, the sub-answer is dropped."""

    retrieve: float
    keep: float


@dataclass(frozen=True, slots=True)
class Confidence:
    """A number from 0 to 1, how it came about, in words, and the thresholds it is compared with."""

    value: float
    measure: str
    thresholds: Thresholds

    def __str__(self) -> str:
        return f"{self.measure} {self.value:.2f}"

    @property
    def sure(self) -> bool:
        """Line 9: nothing has to be retrieved."""
        return self.value >= self.thresholds.retrieve

    @property
    def enough(self) -> bool:
        """Line 14: the sub-answer is kept."""
        return self.value >= self.thresholds.keep


def find_smallest_probability(tokens: Sequence[TokenLogProbability], answer: str) -> float:
    """Return the smallest probability among the tokens in which the answer is first written; 0 where there is no
    answer.

    An answer that is not found word for word (the reply was damaged and repaired) is judged by all tokens.
    """
    if not answer.strip():
        return 0.0
    start, end = _locate_answer("".join(token.token for token in tokens), answer)
    smallest, position = 0.0, 0
    for token in tokens:
        if position < end and position + len(token.token) > start:
            smallest = min(smallest, token.log_probability)
        position += len(token.token)
    return math.exp(smallest)


def _locate_answer(reply: str, answer: str) -> tuple[int, int]:
    for written in (json.dumps(answer, ensure_ascii=False)[1:-1], json.dumps(answer)[1:-1]):
        found = re.search(rf"(?<!\w){re.escape(written)}(?!\w)", reply, re.IGNORECASE)
        if found:
            return found.span()
    return 0, len(reply)


def agreement(answers: Sequence[str]) -> tuple[int, float]:
    """Return which of several samples the others agree with most, and the share that does; 0 where that is no answer.

    Answers are one under the normal form of names, without an article; of those equally common, the first counts.
    """
    keys = [strip_article(entity_key(answer)) for answer in answers]
    counts = Counter(keys)
    best = max(range(len(keys)), key=lambda number: (counts[keys[number]], -number))
    return best, counts[keys[best]] / len(keys) if keys[best] else 0.0
