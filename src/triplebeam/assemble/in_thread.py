"""From asyncio to the library, which is synchronous: work goes to a thread, and stops when its task is cancelled."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from triplebeam.generate.cancellation import cancel_on, check_cancelled
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.generate.outcomes import Outcome, outcomes_of

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """What ``work`` returns. Once the task that awaits it is cancelled, it calls no language model any more."""
    stop = threading.Event()

    def stoppable() -> T:
        cancel_on(stop)
        return work()

    try:
        return await asyncio.to_thread(stoppable)
    finally:
        stop.set()


@dataclass(frozen=True)
class Stoppable:
    """A model that is called no more once the work of the calling thread is to stop."""

    model: LanguageModel

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self.model.name

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """What the model within says."""
        check_cancelled()
        return self.model.complete(prompts)

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        """What became of each prompt."""
        check_cancelled()
        return outcomes_of(self.model, prompts)
