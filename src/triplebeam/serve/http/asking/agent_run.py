"""An agent at work for a request: its steps come to the event loop as they are done, and it stops when told to."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from fastapi import Request

from triplebeam.answer import Agent, Answer, Run, Step
from triplebeam.assemble import Index
from triplebeam.errors import TriplebeamError
from triplebeam.generate.cancellation import WorkCancelledError, cancel_on
from triplebeam.serve.http.asking.question import check_method, check_question
from triplebeam.serve.http.errors import HTTPProblem, problem_of, unexpected
from triplebeam.serve.http.library import Library
from triplebeam.serve.http.limits import Limits
from triplebeam.serve.http.tracing import span
from triplebeam.serve.http.workers import in_agents_pool, in_search_pool

_SECONDS_BETWEEN_LOOKS = 0.25


@dataclass(frozen=True)
class Asked:
    """A question, of which collection, and who is to answer it."""

    collection: str
    method: str
    question: str


class AgentRun:
    """One question to one agent."""

    def __init__(self, request: Request, asked: Asked, collection: Index, agent: Agent) -> None:
        limits: Limits = request.app.state.limits
        self.collection = collection
        self._request = request
        self._asked = asked
        self._stop = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._seconds = limits.ask_seconds
        self._deadline = self._loop.time() + limits.ask_seconds
        self._done: asyncio.Queue[Step | None] = asyncio.Queue()
        self._future = in_agents_pool(request, self._work, agent.run(asked.question))
        self._future.add_done_callback(lambda _: self._hand_over(None))

    def give_up(self) -> None:
        """Nobody waits any more: the agent takes no further step, and no model is called for it."""
        self._stop.set()

    async def steps(self) -> AsyncGenerator[Step, None]:
        """The steps, each as it is done."""
        while (step := await self._next()) is not None:
            yield step

    @property
    def answer(self) -> Answer:
        """The answer, once there are no more steps; an agent that failed is a problem."""
        error = self._future.exception()
        if error is None:
            return self._future.result()
        raise self._problem(error) from error

    async def answered(self) -> Answer:
        """The answer alone. A client that goes away is looked for, since nothing is sent to it meanwhile."""
        watching = asyncio.create_task(self._give_up_when_alone())
        try:
            async for _ in self.steps():
                pass
            return self.answer
        finally:
            watching.cancel()
            self.give_up()

    async def _next(self) -> Step | None:
        try:
            return await asyncio.wait_for(self._done.get(), max(0.0, self._deadline - self._loop.time()))
        except TimeoutError:
            raise HTTPProblem(
                504,
                "time_limit",
                f"the agent took more than the {self._seconds:g} seconds it may: ask again with fewer steps, such as"
                " single_step, or start the server with a longer limit.",
            ) from None

    async def _give_up_when_alone(self) -> None:
        while not await self._request.is_disconnected():
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        self.give_up()

    def _work(self, run: Run) -> Answer:
        """In a thread of the agents' pool."""
        cancel_on(self._stop)  # so do models, and pauses between tries of an endpoint
        with span("ask", {"collection": self._asked.collection, "method": self._asked.method}):
            while not self._stop.is_set():
                with span("step"):
                    step = next(run.steps, None)
                if step is None:
                    return run.answer
                self._hand_over(step)
        run.close()
        raise WorkCancelledError("the question was given up: nobody waits for its answer any more.")

    def _problem(self, error: BaseException) -> HTTPProblem:
        match error:
            case TriplebeamError():
                return problem_of(error, self._request.app.state.library.told)
            case Exception():
                return unexpected(error)
            case _:
                raise error

    def _hand_over(self, step: Step | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._done.put_nowait, step)


async def start(request: Request, asked: Asked) -> AgentRun:
    """An agent begins to work; what is wrong with the request is raised here."""
    check_question(request, asked.question)
    check_method(asked.method)
    collection, agent = await in_search_pool(request, _made, request.app.state.library, asked)
    return AgentRun(request, asked, collection, agent)


def _made(library: Library, asked: Asked) -> tuple[Index, Agent]:
    collection = library.collection(asked.collection)
    return collection, collection.agent(asked.method)
