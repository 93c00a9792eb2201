"""A model that asks again after faults that may pass by themselves."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.generate.patience import pause
from triplebeam.generate.transient import TransientError

#: Called with one sentence, for whoever watches a run that seems to stand still.
Notify = Callable[[str], None]


def unheard(message: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, kw_only=True)
class Retrying:
    """Asks ``model`` up to ``attempts`` times, within ``longest_time`` seconds from the first try.

    Pauses double from ``first_pause`` to ``longest_pause``, each shortened by chance to between a half and the whole,
    so that many clients do not come back at one moment. A pause the endpoint asks for is kept, and a little added.
    """

    model: LanguageModel
    attempts: int = 6
    first_pause: float = 1.0
    longest_pause: float = 60.0
    longest_time: float = 900.0
    random: Random = field(default_factory=Random, repr=False)
    sleep: Callable[[float], None] = field(default=pause, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    notify: Notify = field(default=unheard, repr=False)

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise BadInputError(f"The number of attempts is {self.attempts}: it must be at least 1.")

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self.model.name

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """One completion a prompt, in order, each tried for itself."""
        return [self._complete(prompt) for prompt in prompts]

    def _complete(self, prompt: Prompt) -> Completion:
        start = self.clock()
        for attempt in range(1, self.attempts + 1):
            try:
                return self.model.complete([prompt])[0]
            except TransientError as error:
                seconds = self._pause_after(attempt, error)
                passed = self.clock() - start
                if attempt == self.attempts or passed + seconds > self.longest_time:
                    raise EndpointError(f"{error} {_account(attempt, passed, error)}") from None
                self.notify(f"{error} Trying again in {seconds:.0f} s, {attempt} of {self.attempts} tries are used.")
            self.sleep(seconds)
        raise AssertionError("the last attempt returns or raises")

    def _pause_after(self, attempt: int, error: TransientError) -> float:
        if error.retry_after is not None:
            return error.retry_after + self.random.uniform(0, self.first_pause / 2)
        longest = min(self.longest_pause, self.first_pause * 2.0 ** (attempt - 1))
        return longest * self.random.uniform(0.5, 1.0)


def _account(attempts: int, seconds: float, error: TransientError) -> str:
    wish = f"; it asks to wait {error.retry_after:g} seconds more" if error.retry_after else ""
    return f"(Tried {attempts} time{'s' * (attempts > 1)} in {seconds:.0f} seconds{wish}.)"
