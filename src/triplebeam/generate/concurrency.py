"""A model that works on several prompts of a batch at once, and stops at once when it is cancelled.

The threads are daemons, not those of an executor, which Python waits for when it exits: after Ctrl-C nobody wants to
wait for a request that a slow model may take minutes to answer.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import Future, wait
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import TypeAlias

from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.language_model import Completion, Prompt, PromptFailedError
from triplebeam.generate.outcomes import Outcome, Wrapper, completions
from triplebeam.system.cancellation import WorkCancelledError, cancel_on

_Task: TypeAlias = "tuple[Prompt, Future[Outcome]]"
_SECONDS_BETWEEN_SIGNALS = 0.5


@dataclass(frozen=True)
class Concurrent(Wrapper):
    """Asks ``model``, one prompt at a time, from ``concurrency`` threads.

    An error of one prompt does not affect the others. When the endpoint itself fails, no further prompt is started and
    those under way may finish. On Ctrl-C those under way are abandoned, and no further request is made for them.
    """

    concurrency: int = 4

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise BadInputError(f"concurrency must be at least 1, got {self.concurrency}.")

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Return one completion per prompt, in order; the first error in order is raised when the batch is done."""
        return completions(self.outcomes(prompts))

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        """Return one completion or error per prompt, in order. Those not started have the endpoint's error."""
        if len(prompts) == 1:
            return [self._outcome(prompts[0])]
        tasks: list[_Task] = [(prompt, Future()) for prompt in prompts]
        stop = threading.Event()
        try:
            self._start(tasks, stop)
            futures = [future for _, future in tasks]
            while wait(futures, timeout=_SECONDS_BETWEEN_SIGNALS).not_done:
                pass  # Windows delivers Ctrl-C between waits only
        finally:  # on Ctrl-C too
            stop.set()
        return _with_the_error_that_ended_it([future.result() for future in futures])

    def _start(self, tasks: Sequence[_Task], stop: threading.Event) -> None:
        waiting: SimpleQueue[_Task | None] = SimpleQueue()
        workers = min(self.concurrency, len(tasks))
        for task in (*tasks, *[None] * workers):
            waiting.put(task)
        for _ in range(workers):
            # In the caller's context, so that a reply is counted in the caller's run.
            work = partial(copy_context().run, self._work, waiting, stop)
            threading.Thread(target=work, daemon=True).start()

    def _work(self, waiting: "SimpleQueue[_Task | None]", stop: threading.Event) -> None:
        cancel_on(stop)
        while task := waiting.get():
            prompt, future = task
            try:
                outcome = WorkCancelledError("not started") if stop.is_set() else self._outcome(prompt)
            except BaseException as bug:  # noqa: BLE001 - carried to the caller's thread, where `result` raises it
                stop.set()
                future.set_exception(bug)
            else:
                if _is_fatal(outcome):
                    stop.set()
                future.set_result(outcome)

    def _outcome(self, prompt: Prompt) -> Outcome:
        try:
            return self.complete_one(prompt)
        except EndpointError as error:
            return error


def _is_fatal(outcome: Outcome) -> bool:
    return not isinstance(outcome, Completion | PromptFailedError | WorkCancelledError)


def _with_the_error_that_ended_it(outcomes: list[Outcome]) -> list[Outcome]:
    """Give the prompts that were not sent the error that ended the batch."""
    end = next(filter(_is_fatal, outcomes), None)
    return [end if end and isinstance(outcome, WorkCancelledError) else outcome for outcome in outcomes]
