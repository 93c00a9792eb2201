"""Source code and configuration as they are written; classes, functions, tables and outer keys are sections."""

import ast
import re
import warnings
from collections.abc import Iterator

from triplebeam.ingest.damage import DAMAGE
from triplebeam.ingest.generated import check_written_by_hand
from triplebeam.ingest.text import Content
from triplebeam.passage import Heading

#: "[tool.ruff]", "[[product]]", or "services:" over what is indented or a list
_SECTION = re.compile(
    r"^(?:\[{1,2}(?P<table>[^\[\]\n]{1,100})\]{1,2}[ \t]*(?:#.*)?$"
    r"|(?P<key>[\w\"'./-]{1,100}):[ \t]*(?:#.*)?\n(?=[ \t]+\S|- ))",
    re.MULTILINE,
)


def read_code(source: str) -> Content:
    """Read any language: the text alone."""
    return Content(source.expandtabs())


def read_script(source: str) -> Content:
    """Read a script as it is written, and refuse one that a program packed."""
    check_written_by_hand(source)
    return read_code(source)


def read_python(source: str) -> Content:
    """Read Python, with a heading for each class and function; what does not parse is text all the same."""
    text = source.expandtabs()
    try:
        with warnings.catch_warnings(action="ignore"):  # invalid escapes in strings
            tree = ast.parse(text)
        return Content(text, headings=tuple(_headings(tree, text)))
    except (MemoryError, *DAMAGE):  # nested beyond what the parser takes
        return Content(text)


def _headings(tree: ast.Module, text: str) -> Iterator[Heading]:
    starts = _line_starts(text)
    waiting: list[tuple[int, ast.stmt]] = [(1, node) for node in reversed(tree.body)]
    while waiting:
        level, node = waiting.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield Heading(starts[first - 1], level, node.name)
            waiting += [(level + 1, inner) for inner in reversed(node.body)]


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def read_configuration(source: str) -> Content:
    """Read YAML or TOML. Nothing is parsed, so that a broken file is text all the same."""
    text = source.expandtabs()
    found = ((match, match.lastgroup or "table") for match in _SECTION.finditer(text))
    return Content(text, headings=tuple(Heading(match.start(group), 1, match[group]) for match, group in found))
