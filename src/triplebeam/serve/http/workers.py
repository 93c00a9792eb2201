"""Where work runs that would block: searches in a pool of their own, agents in another, so that none waits for both.

A thread cannot be stopped from outside. A search that is past its time limit goes on to its end in its thread while
the client is told; one that had not begun never will.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from fastapi import Request

from triplebeam.generate.cancellation import WorkCancelledError, cancel_on
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.limits import Limits

T = TypeVar("T")
P = ParamSpec("P")


class Workers:
    """The two pools of one app: ``app.state.workers``."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._searches = ThreadPoolExecutor(limits.searches, thread_name_prefix="search")
        self._agents = ThreadPoolExecutor(limits.agents, thread_name_prefix="agent")
        self._counting = threading.Lock()
        self.agents_running = 0
        self.searches_waiting = 0
        self.searches_running = 0

    async def search(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function among the searches; past the time limit the problem is 504."""
        future = self._begun(function, *args, **kwargs)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._limits.search_seconds)
        except TimeoutError:
            raise self._too_slow() from None

    def search_from_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The same, for a caller that has a thread to wait in."""
        future = self._begun(function, *args, **kwargs)
        try:
            return future.result(self._limits.search_seconds)
        except TimeoutError:
            future.cancel()
            raise self._too_slow() from None

    def _begun(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        self._count(searches_waiting=1)

        def begin() -> T:
            self._count(searches_waiting=-1, searches_running=1)
            try:
                return function(*args, **kwargs)
            finally:
                self._count(searches_running=-1)

        future = _submit(self._searches, begin)
        future.add_done_callback(lambda done: self._count(searches_waiting=-1) if done.cancelled() else None)
        return future

    def _too_slow(self) -> HTTPProblem:
        return HTTPProblem(
            504,
            "time_limit",
            f"the search took more than the {self._limits.search_seconds:g} seconds it may: try again, or name a"
            " quicker method such as hybrid.",
        )

    def agent(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Start a function among the agents; where as many run as may, the problem is 429."""
        self._take_place()
        future = _submit(self._agents, function, *args, **kwargs)
        future.add_done_callback(lambda _: self._count(agents_running=-1))
        return future

    @contextmanager
    def agent_from_thread(self) -> Iterator[None]:
        """A place among the agents for whoever brings a thread. No model is asked past the time limit: then it is 504,
        as it is 429 where as many agents run as may.
        """
        self._take_place()
        stop = threading.Event()
        timer = threading.Timer(self._limits.ask_seconds, stop.set)
        timer.start()
        cancel_on(stop)
        try:
            yield
        except WorkCancelledError:
            raise HTTPProblem(
                504, "time_limit", f"the agent took more than the {self._limits.ask_seconds:g} seconds it may."
            ) from None
        finally:
            timer.cancel()
            self._count(agents_running=-1)

    def _take_place(self) -> None:
        with self._counting:
            if self.agents_running >= self._limits.agents:
                raise HTTPProblem(
                    429,
                    "too_many_agents",
                    f"{self.agents_running} questions are being answered, as many as may be: try again in a while.",
                )
            self.agents_running += 1

    @property
    def busy(self) -> bool:
        """Is anything still running, asked for or not?"""
        return self.agents_running > 0 or self.searches_running > 0

    def close(self) -> None:
        """Begin nothing more; what runs goes on to its end."""
        self._searches.shutdown(wait=False, cancel_futures=True)
        self._agents.shutdown(wait=False, cancel_futures=True)

    def _count(self, *, searches_waiting: int = 0, searches_running: int = 0, agents_running: int = 0) -> None:
        with self._counting:
            self.searches_running += searches_running
            self.searches_waiting += searches_waiting
            self.agents_running += agents_running


async def in_search_pool(request: Request, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function among the searches of the request's app; past ``search_seconds`` the problem is 504."""
    workers: Workers = request.app.state.workers
    return await workers.search(function, *args, **kwargs)


def in_agents_pool(request: Request, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
    """Start a function among the agents of the request's app; where as many run as may, the problem is 429.

    The function itself has to notice when nobody waits for it any more. ``asyncio.wrap_future`` makes it awaitable.
    """
    workers: Workers = request.app.state.workers
    return workers.agent(function, *args, **kwargs)


def _submit(pool: ThreadPoolExecutor, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
    """Run in the caller's context, so that spans and accounts opened here hold there."""
    context = contextvars.copy_context()
    return pool.submit(lambda: context.run(function, *args, **kwargs))
