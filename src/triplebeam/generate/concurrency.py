"""A model that works on several prompts of a batch at once, and lets go when it is told to.

The threads are daemons and not an executor's, whose threads Python waits for when it ends: after Ctrl-C nobody wants
to wait for a request that a slow model may take minutes to answer.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TypeAlias

from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, PromptFailedError
from triplebeam.generate.outcomes import Outcome
from triplebeam.generate.patience import GivenUpError, heed

#: The number of a prompt with its outcome or a bug's exception; None when a thread has no more to do.
_Finished: TypeAlias = "SimpleQueue[tuple[int, Completion | BaseException] | None]"
_SECONDS_BETWEEN_SIGNALS = 0.5


@dataclass(frozen=True, kw_only=True)
class Concurrent:
    """Asks ``model``, one prompt at a time, from ``concurrency`` threads.

    An error of one prompt leaves the others alone. When the endpoint itself fails, no further prompt is started and
    those under way may end. On Ctrl-C those under way are left behind, and no further request is made for them.
    """

    model: LanguageModel
    concurrency: int = 4

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise BadInputError(f"The concurrency is {self.concurrency}: it must be at least 1.")

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self.model.name

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """One completion a prompt, in order; the first error in that order is raised when the batch is done."""
        completions = []
        for outcome in self.outcomes(prompts):
            if isinstance(outcome, EndpointError):
                raise outcome
            completions.append(outcome)
        return completions

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        """One completion or error a prompt, in order. Prompts that were not started have the endpoint's error."""
        if len(prompts) == 1:
            return [self._alone(prompts[0])]
        stop = threading.Event()
        finished: _Finished = SimpleQueue()
        waiting: SimpleQueue[int] = SimpleQueue()
        for number in range(len(prompts)):
            waiting.put(number)
        workers = min(self.concurrency, len(prompts))
        try:
            for _ in range(workers):
                threading.Thread(target=self._work, args=(prompts, waiting, finished, stop), daemon=True).start()
            return _collect(len(prompts), workers, finished)
        finally:  # on Ctrl-C too
            stop.set()

    def _alone(self, prompt: Prompt) -> Outcome:
        try:
            return self.model.complete([prompt])[0]
        except EndpointError as error:
            return error

    def _work(
        self, prompts: Sequence[Prompt], waiting: "SimpleQueue[int]", finished: _Finished, stop: threading.Event
    ) -> None:
        heed(stop)
        try:
            while not stop.is_set():
                number = waiting.get_nowait()
                try:
                    outcome: Completion | BaseException = self._alone(prompts[number])
                except BaseException as bug:  # noqa: BLE001 - carried to the caller's thread, which raises it
                    outcome = bug
                if _ends_the_batch(outcome):
                    stop.set()
                finished.put((number, outcome))
        except Empty:
            pass
        finally:
            finished.put(None)


def _ends_the_batch(outcome: Completion | BaseException) -> bool:
    return not isinstance(outcome, Completion | PromptFailedError | GivenUpError)


def _collect(count: int, workers: int, finished: _Finished) -> list[Outcome]:
    """Wait for all threads to end. A prompt that was not asked has the error that ended the batch."""
    outcomes: dict[int, Outcome] = {}
    end: EndpointError | None = None
    while workers:
        try:  # Windows delivers Ctrl-C between waits only
            item = finished.get(timeout=_SECONDS_BETWEEN_SIGNALS)
        except Empty:
            continue
        if item is None:
            workers -= 1
            continue
        number, outcome = item
        if not isinstance(outcome, Completion | EndpointError):
            raise outcome
        if not isinstance(outcome, GivenUpError):
            outcomes[number] = outcome
        if end is None and _ends_the_batch(outcome) and isinstance(outcome, EndpointError):
            end = outcome
    return [outcomes.get(number) or _asserted(end) for number in range(count)]


def _asserted(end: EndpointError | None) -> EndpointError:
    if end is None:
        raise AssertionError("a prompt is left out only after an error that ends the batch")
    return end
