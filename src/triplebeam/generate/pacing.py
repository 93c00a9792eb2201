"""When a request is made: within so many requests and tokens per minute, and again after a fault that may pass."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.generate.outcomes import Wrapper
from triplebeam.system.cancellation import sleep
from triplebeam.system.retries import Retries


@dataclass(frozen=True)
class Retrying(Wrapper, Retries):
    """Asks ``model`` again after a fault that may pass."""

    def complete_one(self, prompt: Prompt) -> Completion:
        """Return the model's completion, after as many retries as it takes; EndpointError where they are used up."""
        return self.retry(lambda: self.model.complete([prompt])[0])


class Bucket:
    """A token bucket as endpoints keep it themselves: full at the start, filled evenly, at most ``per_minute``."""

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        if not per_minute > 0:
            raise BadInputError(f"a limit per minute must be above 0, got {per_minute:g}.")
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
        """Limit requests and tokens per minute."""
        return cls(
            model, Bucket(requests) if requests is not None else None, Bucket(tokens) if tokens is not None else None
        )

    def complete_one(self, prompt: Prompt) -> Completion:
        """Return the model's completion, as soon as the limits allow it."""
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
