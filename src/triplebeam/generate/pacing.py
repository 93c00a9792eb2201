"""When a request is made: within so many requests and tokens per minute, and again after a fault that may pass."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from triplebeam.cancellation import sleep
from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.faults import TransientError
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.generate.outcomes import Wrapper

#: Called with one sentence, to explain why a run is waiting.
Notify = Callable[[str], None]


def silent(message: str) -> None:
    """Report nothing."""


@dataclass(frozen=True, kw_only=True)
class Retrying(Wrapper):
    """Asks ``model`` up to ``attempts`` times, within ``longest_time`` seconds from the first try.

    Pauses double from ``first_pause`` to ``longest_pause``, each shortened at random to between a half and the whole,
    so that many clients do not come back at the same moment. A pause the endpoint asks for is kept, plus a little.
    """

    attempts: int = 6
    first_pause: float = 1.0
    longest_pause: float = 60.0
    longest_time: float = 900.0
    random: Random = field(default_factory=Random, repr=False)
    sleep: Callable[[float], None] = field(default=sleep, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    notify: Notify = field(default=silent, repr=False)

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise BadInputError(f"The number of attempts is {self.attempts}: it must be at least 1.")

    def complete_one(self, prompt: Prompt) -> Completion:
        """The model's completion, after as many retries as it takes; EndpointError where they are used up."""
        start = self.clock()
        for attempt in range(1, self.attempts + 1):
            try:
                return self.model.complete([prompt])[0]
            except TransientError as error:
                seconds = self._pause_after(attempt, error)
                passed = self.clock() - start
                if attempt == self.attempts or passed + seconds > self.longest_time:
                    raise EndpointError(f"{error} {_summary(attempt, passed, error)}") from None
                self.notify(f"{error} Retrying in {seconds:.0f} s; {attempt} of {self.attempts} tries are used.")
            self.sleep(seconds)
        raise AssertionError("the last attempt returns or raises")

    def _pause_after(self, attempt: int, error: TransientError) -> float:
        if error.retry_after is not None:
            return error.retry_after + self.random.uniform(0, self.first_pause / 2)
        longest = min(self.longest_pause, self.first_pause * 2.0 ** (attempt - 1))
        return longest * self.random.uniform(0.5, 1.0)


def _summary(attempts: int, seconds: float, error: TransientError) -> str:
    asked = f"; it asks to wait {error.retry_after:g} seconds more" if error.retry_after else ""
    return f"(Tried {attempts} time{'s' * (attempts > 1)} in {seconds:.0f} seconds{asked}.)"


class Bucket:
    """A token bucket as endpoints keep it themselves: full at the start, filled evenly, at most ``per_minute``."""

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        if not per_minute > 0:
            raise BadInputError(f"A limit of {per_minute:g} per minute lets nothing through: give a number above 0.")
        self._capacity = self._level = float(per_minute)
        self._clock = clock
        self._filled_at = clock()
        self._lock = threading.Lock()

    def take(self, amount: float) -> float:
        """Take at once, on credit if need be; returns the seconds to wait until the credit is paid back.

        More than the bucket holds counts as all it holds: such a request could never be made otherwise.
        """
        with self._lock:
            self._fill()
            self._level -= min(amount, self._capacity)
            return max(0.0, -self._level * 60 / self._capacity)

    def settle(self, taken: float, used: float) -> None:
        """Return what was taken in excess, or take what was missing."""
        with self._lock:
            self._fill()
            self._level = min(self._capacity, self._level + min(taken, self._capacity) - used)

    def _fill(self) -> None:
        now = self._clock()
        self._level = min(self._capacity, self._level + (now - self._filled_at) * self._capacity / 60)
        self._filled_at = now


@dataclass(frozen=True)
class Limited(Wrapper):
    """Waits before a request until it fits into ``requests`` and ``tokens`` (None: no limit), for all threads together.

    A request takes the most it may cost, its input as estimated and all of ``max_tokens``, and returns what it did not
    need.
    """

    requests: Bucket | None = None
    tokens: Bucket | None = None
    sleep: Callable[[float], None] = field(default=sleep, repr=False)

    @classmethod
    def per_minute(cls, model: LanguageModel, requests: float | None = None, tokens: float | None = None) -> "Limited":
        """Limits by the minute."""
        return cls(
            model, Bucket(requests) if requests is not None else None, Bucket(tokens) if tokens is not None else None
        )

    def complete_one(self, prompt: Prompt) -> Completion:
        """The model's completion, as soon as the limits allow it."""
        expected = prompt.estimated_tokens + (prompt.max_tokens or 0)
        seconds = max(_take(self.requests, 1), _take(self.tokens, expected))
        used = 0
        try:
            if seconds:
                self.sleep(seconds)
            [completion] = self.model.complete([prompt])
            used = completion.usage.tokens_in + completion.usage.tokens_out
        finally:  # a request that failed has used nothing
            if self.tokens:
                self.tokens.settle(expected, used)
        return completion


def _take(bucket: Bucket | None, amount: float) -> float:
    return bucket.take(amount) if bucket else 0.0
