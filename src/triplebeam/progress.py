"""How long-running work reports its progress: a callback."""

from collections.abc import Callable
from typing import TypeAlias

#: Called with the stage ("read", "extract", "embed", ...), the work done and all the work of that stage.
#: The unit is whatever makes an honest estimate of the time left: characters for encoding, passages for extraction.
Progress: TypeAlias = Callable[[str, int, int], None]


def silent(stage: str, done: int, total: int) -> None:
    """Report nothing."""
