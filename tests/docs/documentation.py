"""The documentation as its tests see it: pages, their blocks of code, and the commands among them.

- ```` ```python ```` runs, all blocks of a page in one namespace.
- ```` ```console ```` runs each line behind ``$``, and the lines below it must be printed, in that order; ``…`` stands
  for anything, on a line or for lines.
- ```` ```bash ```` and blocks without a language are not run, but each ``triplebeam`` command in them is parsed.
- A block with ``title="…"`` is a file, and is written.
- ``<!-- not run: … -->`` on the line before a block says why it is neither run nor parsed.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(
    r"(?:<!-- not run: (?P<reason>[^\n]*?) -->\n+)?"
    r"^```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?[^\n`]*\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A fenced block, with where it stands."""

    page: str
    line: int
    language: str
    title: str
    text: str
    reason: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def pages() -> tuple[str, ...]:
    """The README and every page of the site, by their paths in the repository."""
    return ("README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")))


@cache
def blocks(page: str) -> tuple[Block, ...]:
    """The blocks of a page, in order."""
    content = (ROOT / page).read_text(encoding="utf-8")
    return tuple(
        Block(
            page=page,
            line=content.count("\n", 0, found.start("text")),
            language=found["language"],
            title=found["title"] or "",
            text=found["text"],
            reason=found["reason"] or "",
        )
        for found in _FENCE.finditer(content)
    )


def runs(block: Block) -> bool:
    """Is it run, or written, when its page is tried?"""
    return not block.reason and (bool(block.title) or block.language in ("python", "console"))


def commands(block: Block) -> Iterator[list[str]]:
    """The words behind ``triplebeam`` of each command in a shell block."""
    if block.reason or block.title or block.language not in ("", "bash", "console"):
        return
    for line in block.text.replace("\\\n", " ").splitlines():
        command = line.strip().removeprefix("$ ")
        if command.startswith("triplebeam ") and (block.language != "console" or line.startswith("$ ")):
            words = shlex.split(command, comments=True)
            yield words[1 : next((at for at, word in enumerate(words) if word in (">", "|", "&&")), None)]


def session(block: Block) -> Iterator[tuple[list[str], list[str]]]:
    """Each command of a console block with the lines that it is said to print."""
    for piece in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, *printed = piece.splitlines()
        yield shlex.split(command, comments=True), [line.rstrip() for line in printed]


def prints(printed: str, shown: list[str]) -> bool:
    """Are the lines shown printed in that order? A line of ``…`` is any number of lines, ``…`` in a line anything."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n" for line in shown
    )
    lines = "\n".join(line.rstrip() for line in printed.splitlines())
    return re.fullmatch(pattern, f"{lines}\n" if lines else "") is not None
