"""What a step costs, and the loop of an agent that takes steps until it says why it stops: the same for every agent."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeVar

from triplebeam.answer import Step
from triplebeam.generate.accounting import account


class Loop(Protocol):
    """What a question has brought so far."""

    steps: list[Step]
    ending: str
    """Why the loop stops, in words; empty while it goes on."""


L = TypeVar("L", bound=Loop)


def taken_steps(do: Callable[[L], Step], run: L) -> Iterator[Step]:
    """The steps that ``do`` takes, each as it is done, until it sets an ending."""
    while not run.ending:
        step = accounted_step(partial(do, run))
        run.steps.append(step)
        yield step


def accounted_step(do: Callable[[], Step]) -> Step:
    """The step that ``do`` makes, with the calls, the problems and the seconds it took."""
    with account() as spent:
        started = time.perf_counter()
        step = do()
        seconds = time.perf_counter() - started
    return replace(step, problems=tuple(spent.problems), usage=spent.usage, seconds=seconds)
