"""Requests made again after a fault that may pass."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from triplebeam.errors import BadInputError, EndpointError
from triplebeam.system.cancellation import sleep
from triplebeam.system.endpoint_faults import TransientError

T = TypeVar("T")
#: Called with one sentence, to explain why a run is waiting.
Notify = Callable[[str], None]


def ignore_retries(message: str) -> None:
    """Report nothing."""


@dataclass(frozen=True, kw_only=True)
class Retries:
    """Up to ``attempts`` tries of at most ``timeout`` seconds each, within ``longest_time`` seconds in all.

    Pauses double from ``first_pause`` to ``longest_pause``, each shortened at random to between a half and the whole,
    so that many clients do not come back at the same moment. A pause the endpoint asks for is kept, plus a little.
    """

    attempts: int = 6
    timeout: float = 0.0
    first_pause: float = 1.0
    longest_pause: float = 60.0
    longest_time: float = 900.0
    random: Random = field(default_factory=Random, repr=False)
    sleep: Callable[[float], None] = field(default=sleep, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    notify: Notify = field(default=ignore_retries, repr=False)

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise BadInputError(f"attempts must be at least 1, got {self.attempts}.")

    def retry(self, work: Callable[[], T]) -> T:
        """Run ``work`` and retry after each TransientError; EndpointError where no attempt is left.

        A try that might end after the longest time does not begin.
        """
        start = self.clock()
        for attempt in range(1, self.attempts + 1):
            try:
                return work()
            except TransientError as error:
                seconds = self._pause_after(attempt, error)
                passed = self.clock() - start
                if attempt == self.attempts or passed + seconds + self.timeout > self.longest_time:
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
