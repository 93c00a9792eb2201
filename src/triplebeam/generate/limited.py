"""A model that keeps to so many requests and tokens a minute, whatever the number of threads that ask it."""

import threading
import time
from collections.abc import Callable, Sequence

from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.generate.patience import pause
from triplebeam.generate.tokens import estimated_input


class Bucket:
    """A token bucket as endpoints keep it themselves: full at the start, filled evenly, ``a_minute`` at the most."""

    def __init__(self, a_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        if not a_minute > 0:
            raise BadInputError(f"A limit of {a_minute:g} a minute lets nothing through: give a number above 0.")
        self._capacity = self._level = float(a_minute)
        self._clock = clock
        self._filled_at = clock()
        self._lock = threading.Lock()

    def take(self, amount: float) -> float:
        """Take at once, on credit if need be; the seconds to wait until the credit is paid back.

        More than the bucket holds counts as all it holds: such a request could never be made otherwise.
        """
        with self._lock:
            self._fill()
            self._level -= min(amount, self._capacity)
            return max(0.0, -self._level * 60 / self._capacity)

    def settle(self, taken: float, used: float) -> None:
        """Give back what was taken too much, or take what was taken too little."""
        with self._lock:
            self._fill()
            self._level = min(self._capacity, self._level + min(taken, self._capacity) - used)

    def _fill(self) -> None:
        now = self._clock()
        self._level = min(self._capacity, self._level + (now - self._filled_at) * self._capacity / 60)
        self._filled_at = now


class Limited:
    """Waits before a request until it is within ``requests_per_minute`` and ``tokens_per_minute`` (None: no limit).

    A request takes what it may cost at the most, its input as guessed and all of ``max_tokens``, and gives back what it
    did not need.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        sleep: Callable[[float], None] = pause,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._requests = Bucket(requests_per_minute, clock) if requests_per_minute is not None else None
        self._tokens = Bucket(tokens_per_minute, clock) if tokens_per_minute is not None else None
        self._sleep = sleep

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self._model.name

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """One completion a prompt, in order, each waiting its turn."""
        return [self._complete(prompt) for prompt in prompts]

    def _complete(self, prompt: Prompt) -> Completion:
        expected = estimated_input(prompt) + (prompt.max_tokens or 0)
        seconds = max(_take(self._requests, 1), _take(self._tokens, expected))
        used = 0
        try:
            if seconds:
                self._sleep(seconds)
            [completion] = self._model.complete([prompt])
            used = completion.usage.tokens_in + completion.usage.tokens_out
        finally:  # a request that failed has used nothing
            if self._tokens:
                self._tokens.settle(expected, used)
        return completion


def _take(bucket: Bucket | None, amount: float) -> float:
    return bucket.take(amount) if bucket else 0.0
