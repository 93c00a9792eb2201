"""How many processors this process may use."""

import os


def processors() -> int:
    """Count the processors this process may use, which can be fewer than the machine has. ``OMP_NUM_THREADS`` is the
    usual way to say so; a cluster sets it for each of its workers.
    """
    most = os.environ.get("OMP_NUM_THREADS", "")
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(there, int(most)) if most.isdecimal() and int(most) else there
