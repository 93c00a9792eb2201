"""Does work grow in proportion to its input?"""

from collections.abc import Callable
from time import process_time

FACTOR = 8
SMALL = 1500


def grows_with_its_input(work: Callable[[int], object]) -> bool:
    """Eight times the input takes about eight times the work, where a square would take 64 times.

    In time of this process alone, and tried again where that was disturbed; what takes no time at all is fine.
    """
    pairs = ((_seconds(work, SMALL), _seconds(work, FACTOR * SMALL)) for _ in range(4))
    return any(large < 0.02 or large < 3 * FACTOR * small for small, large in pairs)


def _seconds(work: Callable[[int], object], size: int) -> float:
    start = process_time()
    work(size)
    return process_time() - start
