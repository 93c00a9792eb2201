"""What reading a source can give: a document, or the reason why there is none."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from triplebeam.passage import Document
from triplebeam.system.progress import Progress


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file, or a line of one, that should have been a document and is not."""

    source: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        """Format as one line: the place, then the reason."""
        place = self.source if self.line is None else f"{self.source}, line {self.line}"
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Skipped:
    """An empty file, or one of a kind that is not read, met in a folder. No error: folders hold all sorts of things."""

    source: str
    reason: str = ""
    """Said where it is not the kind of the file."""

    def __str__(self) -> str:
        """Format as one line."""
        return f"{self.source}: {self.reason}" if self.reason else self.source


Reading: TypeAlias = Document | Unreadable | Skipped


def report_progress(readings: Iterable[Reading], expected: int, progress: Progress) -> Iterator[Reading]:
    """Yield readings and report progress as each comes; ``expected`` is their number where it is known, else 0."""
    done = 0
    for reading in readings:
        if not isinstance(reading, Skipped):
            done += 1
            progress("read", done, max(done, expected) if expected else 0)
        yield reading
    progress("read", done, done)
