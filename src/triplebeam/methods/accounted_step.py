"""What a step costs, the same for every agent."""

import time
from collections.abc import Callable
from dataclasses import replace

from triplebeam.answer import Step
from triplebeam.generate.accounting import account


def accounted_step(do: Callable[[], Step]) -> Step:
    """The step that ``do`` makes, with the calls, the problems and the seconds it took."""
    with account() as spent:
        started = time.perf_counter()
        step = do()
        seconds = time.perf_counter() - started
    return replace(step, problems=tuple(spent.problems), usage=spent.usage, seconds=seconds)
