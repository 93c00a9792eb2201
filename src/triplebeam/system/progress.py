"""How long-running work reports its progress: a callback."""

from collections.abc import Callable
from typing import TypeAlias

#: Called with the stage ("read", "extract", "embed", ...), the work done and all the work of that stage, or 0 while
#: that is unknown. Both count what people count (documents, passages, texts), at a pace that is about even.
Progress: TypeAlias = Callable[[str, int, int], None]


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Report nothing."""
