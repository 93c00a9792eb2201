"""How thorough the trials are: few instants and examples in `make test`, all of them in `make trials`."""

import os

import pytest

FULL = os.environ.get("TRIPLEBEAM_TRIALS") == "1"
#: Marks what takes minutes, and belongs to `make trials` alone.
TRIAL = pytest.mark.skipif(not FULL, reason="a long trial: make trials")
#: Examples of a property in `make test`, at most.
MAX_EXAMPLES = 25


def examples(count: int, fewer: int = MAX_EXAMPLES) -> int:
    """Return how many examples a property is tested with; ``count`` in `make trials`."""
    return count if FULL else min(count, fewer)
