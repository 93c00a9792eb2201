"""A model behind an endpoint with everything that makes it dependable, each part around the next.

Prompts of a batch are asked at once, within requests and tokens per minute, and again after a fault that may
pass. The threads are daemons, not those of an executor, which Python waits for when it exits: after Ctrl-C nobody wants
to wait for a request that a slow model may take minutes to answer.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from queue import SimpleQueue
from typing import TypeAlias

from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.completion_cache import Cached, CompletionStore
from triplebeam.generate.language_model import (
    BatchWrapper,
    Completion,
    LanguageModel,
    Outcome,
    Prompt,
    PromptFailedError,
    Wrapper,
    drop_replies,
)
from triplebeam.generate.openai_compatible import OpenAICompatible
from triplebeam.system.endpoint import Notify, Retries, ignore_retries
from triplebeam.system.work import WorkCancelledError, cancel_on, sleep

_Task: TypeAlias = "tuple[Prompt, Future[Outcome]]"
_SECONDS_BETWEEN_SIGNALS = 0.5


@dataclass(frozen=True)
class Concurrent(BatchWrapper):
    """Asks ``model``, one prompt at a time, from ``concurrency`` threads.

    An error of one prompt does not affect the others. When the endpoint itself fails, no further prompt is started and
    those under way may finish. On Ctrl-C those under way are abandoned, and no further request is made for them.
    """

    concurrency: int = 4

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise BadInputError(f"concurrency must be at least 1, got {self.concurrency}.")

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
        outcomes = [future.result() for future in futures]
        # Prompts that were not sent get the error that ended the batch.
        end = next(filter(_is_fatal, outcomes), None)
        return [end if end and isinstance(outcome, WorkCancelledError) else outcome for outcome in outcomes]

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
        first, second = (None if limit is None else Bucket(limit) for limit in (requests, tokens))
        return cls(model, first, second)

    def complete_one(self, prompt: Prompt) -> Completion:
        """Return the model's completion, as soon as the limits allow it."""
        expected = prompt.estimated_tokens + (prompt.max_tokens or 0)
        amounts = ((self.requests, 1), (self.tokens, expected))
        seconds = max(bucket.take(amount) if bucket else 0.0 for bucket, amount in amounts)
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


@dataclass(frozen=True, kw_only=True)
class WithParameters(Wrapper):
    """Raises the limit of every prompt to at least ``max_tokens`` and adds ``parameters`` and ``seed`` to it.

    A "thinking" model needs room for its thoughts beside the reply, or a parameter that switches them off. A prompt
    without a limit keeps none. This belongs around a cache: another limit is another completion.
    """

    max_tokens: int | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    """For prompts that have none."""

    def complete_one(self, prompt: Prompt) -> Completion:
        """Return the model's completion of the prompt with the parameters."""
        return self.model.complete([self._with_parameters(prompt)])[0]

    def drop_reply(self, prompt: Prompt) -> None:
        """Keep the reply to the prompt with the parameters no longer."""
        drop_replies(self.model, [self._with_parameters(prompt)])

    def _with_parameters(self, prompt: Prompt) -> Prompt:
        limit = prompt.max_tokens
        if limit is not None and self.max_tokens is not None:
            limit = max(limit, self.max_tokens)
        parameters = {**self.parameters, **(prompt.parameters or {})}
        seed = self.seed if prompt.seed is None else prompt.seed
        return replace(prompt, max_tokens=limit, parameters=parameters or None, seed=seed)


def connect(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float = 600.0,
    concurrency: int = 4,
    max_tokens: int | None = None,
    parameters: Mapping[str, object] | None = None,
    seed: int | None = None,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    cache: CompletionStore | None = None,
    refresh: bool = False,
    notify: Notify = ignore_retries,
) -> Concurrent:
    """Connect to a chat model: concurrent, with parameters, cached, retrying and limited, in this order from the
    outside.

    Every try counts against the limits; a completion from the cache counts against none and is never retried.
    """
    endpoint = OpenAICompatible(model, base_url, api_key, timeout)
    limited = Limited.per_minute(endpoint, requests_per_minute, tokens_per_minute)
    # A fault that comes soon leaves time for a second try, one try that times out at the default does not.
    longest_time = max(900.0, 1.5 * timeout)
    layer: LanguageModel = Retrying(limited, timeout=timeout, longest_time=longest_time, notify=notify)
    if cache is not None:
        layer = Cached(layer, store=cache, endpoint=endpoint.place, refresh=refresh)
    layer = WithParameters(layer, max_tokens=max_tokens, parameters=parameters or {}, seed=seed)
    return Concurrent(layer, concurrency)
