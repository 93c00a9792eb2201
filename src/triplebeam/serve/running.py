"""Searches and agents in threads, for callers in asyncio: with time limits, cancellation, and limits on how many run.

Searches and agents have a pool each, so that a slow model never holds up a search. A thread cannot be stopped
from outside: a search that is past its time limit notices it before its next step or batch of texts to encode; one that
had not started never will. Each is a span of OpenTelemetry where tracing is on.
"""

import asyncio
import contextvars
import os
import threading
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.util import find_spec
from typing import ParamSpec, TypeVar

from triplebeam.answer import Agent, Answer, Step
from triplebeam.assemble import IndexReader, Method, context_of
from triplebeam.errors import EndpointError, TriplebeamError
from triplebeam.explain.conversation import FollowUp, Turn, follow_conversation, follow_up
from triplebeam.explain.search_results import SearchResults
from triplebeam.generate.language_model import Usage
from triplebeam.serve.answer_shapes import add_passages, make_failed_answer
from triplebeam.serve.index_folders import message_of
from triplebeam.serve.library import Library
from triplebeam.serve.limits import Limits
from triplebeam.system.work import WorkCancelledError, cancel_on

T = TypeVar("T")
P = ParamSpec("P")
_TRACING_SWITCH = "TRIPLEBEAM_TRACING"


class TimeLimitError(TriplebeamError):
    """A search or an agent took longer than its limit."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"the {what} took longer than its limit of {seconds:g} seconds: use a quicker method.")


class TooManyAgentsError(TriplebeamError):
    """As many agents are running as the limit allows."""


@dataclass(frozen=True)
class Searched:
    """The result of a search, how long it took, and the follow-up that was rewritten for it."""

    results: SearchResults
    seconds: float
    follow_up: FollowUp | None = None


class AgentRun:
    """One question to one agent: its steps reach the event loop as they are done."""

    def __init__(self, index: IndexReader, seconds: float, explain: Callable[[EndpointError], str] = str) -> None:
        self.index = index
        self._explain = explain
        self._steps: list[Step] = []
        self.follow_up: FollowUp | None = None
        """The question of a conversation, once it is rewritten."""
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + seconds
        self._queue: asyncio.Queue[FollowUp | Step | None] = asyncio.Queue()
        self._stop = threading.Event()
        self._future: Future[Answer] = Future()
        self._late = False

    def start(self, future: "Future[Answer]") -> None:
        """Take the future of ``work``, in whichever thread it runs."""
        self._future = future
        future.add_done_callback(lambda _: self._put(None))

    def work(self, agent: Agent, question: str, earlier: Sequence[Turn]) -> Answer:
        """Take the steps of the agent until it is done or cancelled; a follow-up is rewritten first.

        Where the endpoint is gone, the answer says so and has the passages of one search.
        """
        cancel_on(self._stop)  # models, and the waits between their retries, are cancelled too
        try:
            with follow_conversation(earlier):
                return add_passages(self.index, self._ask(agent, question, earlier))
        except WorkCancelledError:
            raise
        except EndpointError as error:
            asked = self.follow_up.question if self.follow_up else question
            return make_failed_answer(self.index, asked, self._explain(error), self._steps)

    def _ask(self, agent: Agent, question: str, earlier: Sequence[Turn]) -> Answer:
        self.follow_up = follow_up(context_of(self.index).model, question, earlier)
        if self.follow_up:
            self._put(self.follow_up)
        run = agent.run(self.follow_up.question if self.follow_up else question)
        while not self._stop.is_set():
            with span("step"):
                step = next(run.steps, None)
            if step is None:
                spent = self.follow_up.usage if self.follow_up else Usage()
                return replace(run.answer, usage=spent + run.answer.usage)
            self._steps.append(step)
            self._put(step)
        run.close()
        raise WorkCancelledError("the question was cancelled: ask it again.")

    def cancel(self) -> None:
        """Take no further step and make no further call to a model."""
        self._stop.set()

    async def progress(self) -> AsyncGenerator[FollowUp | Step, None]:
        """Yield a follow-up once it is rewritten, then the steps as they are done.

        They end with the answer, an error or the time limit: see ``error``.
        """
        try:
            while (done := await self._next()) is not None:
                yield done
        finally:
            self.cancel()

    @property
    def error(self) -> BaseException | None:
        """Why there is no answer, once the progress has ended."""
        return TimeLimitError("agent", self._seconds) if self._late else self._future.exception()

    @property
    def answer(self) -> Answer:
        """The answer, once the progress has ended."""
        if self.error:
            raise self.error
        return self._future.result()

    async def _next(self) -> FollowUp | Step | None:
        try:
            return await asyncio.wait_for(self._queue.get(), max(0.0, self._deadline - self._loop.time()))
        except TimeoutError:
            self._late = True
            return None

    def _put(self, done: FollowUp | Step | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._queue.put_nowait, done)


class Runner:
    """Runs searches and agents over the indexes of a library."""

    def __init__(self, library: Library, limits: Limits) -> None:
        self.library = library
        self.limits = limits
        self.counts: Counter[str] = Counter()
        """Of agents running, searches running and searches waiting for a thread."""
        self._searches = ThreadPoolExecutor(limits.searches, thread_name_prefix="search")
        self._agents = ThreadPoolExecutor(limits.agents, thread_name_prefix="agent")
        self._counting = threading.Lock()

    def over(self, library: Library) -> "Runner":
        """Return the same threads and limits, over other indexes or parts of them."""
        other = copy(self)
        other.library = library
        return other

    async def search(
        self, name: str, question: str, method: str, k: int, earlier: Sequence[Turn] = (), where: str | None = None
    ) -> Searched:
        """Search an index. What calls a language model (a method, a follow-up) runs among the agents: it is as slow."""
        parsed = self.limits.check(question, method)
        if not (parsed.uses_model or earlier) or not self.library.can_ask:
            return await self.run(self._search, name, question, parsed, k, earlier, where)
        stop = threading.Event()

        def work() -> Searched:
            cancel_on(stop)
            return self._search(name, question, parsed, k, earlier, where)

        return await _within(self.limits.ask_seconds, self.start_agent(work), stop)

    async def ask(
        self, name: str, question: str, method: str, earlier: Sequence[Turn] = (), where: str | None = None
    ) -> AgentRun:
        """Start an agent; what is wrong with the request is raised here."""
        parsed = self.limits.check(question, method)
        index = await self.run(self.library.index, name, where)
        agent = await self.run(index.agent, parsed)
        explain = partial(message_of, redact=self.library.redact)
        running = AgentRun(index, self.limits.ask_seconds, explain)

        def work() -> Answer:
            with span("ask", {"index": name, "method": method}):
                return running.work(agent, question, earlier)

        running.start(self.start_agent(work))
        return running

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function among the searches, within their time limit."""
        self._count("searches waiting", 1)
        stop = threading.Event()

        def begin() -> T:
            cancel_on(stop)
            self._count("searches waiting", -1)
            self._count("searches running", 1)
            try:
                return function(*args, **kwargs)
            finally:
                self._count("searches running", -1)

        future = _submit(self._searches, begin)
        future.add_done_callback(lambda done: self._count("searches waiting", -1) if done.cancelled() else None)
        return await _within(self.limits.search_seconds, future, stop)

    def start_agent(self, function: Callable[[], T]) -> "Future[T]":
        """Run a function among the agents. It has to notice for itself when it is cancelled."""
        with self._counting:
            running = self.counts["agents running"]
            if running >= self.limits.agents:
                raise TooManyAgentsError(
                    f"{running} questions are being answered, which is the limit: try again later."
                )
            self.counts["agents running"] += 1
        future = _submit(self._agents, function)
        future.add_done_callback(lambda _: self._count("agents running", -1))
        return future

    @property
    def busy(self) -> bool:
        """Is any thread still at work, whether or not anybody waits for it?"""
        return self.counts["agents running"] > 0 or self.counts["searches running"] > 0

    def close(self) -> None:
        """Start nothing more; what is running runs to its end."""
        self._searches.shutdown(wait=False, cancel_futures=True)
        self._agents.shutdown(wait=False, cancel_futures=True)

    def _search(
        self, name: str, asked: str, method: Method, k: int, earlier: Sequence[Turn], where: str | None
    ) -> Searched:
        started = time.perf_counter()
        model = context_of(self.library.index(name, where)).model if earlier and self.library.can_ask else None
        with follow_conversation(earlier):
            rewritten = follow_up(model, asked, earlier)
            question = rewritten.question if rewritten else asked
            with span("search", {"index": name, "method": method.text, "k": k}):
                index = self.library.index(name, where)
                results = index.search(question, k=k, method=method)
        seconds = time.perf_counter() - started
        results.explain()  # here, not on the event loop
        return Searched(results, seconds, rewritten)

    def _count(self, what: str, more: int) -> None:
        with self._counting:
            self.counts[what] += more


async def _within(seconds: float, future: "Future[T]", stop: threading.Event) -> T:
    """Wait for work, and cancel it where nobody waits any more: past the time limit, or after a disconnection."""
    try:
        return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
    except TimeoutError:
        raise TimeLimitError("search", seconds) from None
    finally:
        stop.set()


def _submit(pool: ThreadPoolExecutor, function: Callable[[], T]) -> "Future[T]":
    """Run in the caller's context, so that open spans and accounts apply there."""
    context = contextvars.copy_context()
    return pool.submit(context.run, function)


@contextmanager
def span(name: str, attributes: Mapping[str, str | int | float] | None = None) -> Iterator[None]:
    """Open a span of OpenTelemetry around a block, where it is installed and TRIPLEBEAM_TRACING=1.

    It is a ``search``, ``ask`` or ``step``. Attributes are names and counts, never texts.
    """
    if not is_tracing():
        yield
        return
    from opentelemetry import trace

    with trace.get_tracer("triplebeam").start_as_current_span(name, attributes=dict(attributes or {})):
        yield


@cache
def is_tracing() -> bool:
    """Return whether spans are wanted and can be made. The environment is read once."""
    return os.environ.get(_TRACING_SWITCH) == "1" and find_spec("opentelemetry") is not None
