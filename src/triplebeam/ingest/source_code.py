"""Source code and configuration as they are written; classes, functions, tables and outer keys are sections."""

import ast
import re
import warnings
from collections.abc import Iterator
from itertools import accumulate

from triplebeam.ingest.content import DAMAGE, Content, NoDocumentError
from triplebeam.passage import Heading

#: "[tool.ruff]", "[[product]]", or "services:" over what is indented or a list
_SECTION = re.compile(
    r"^(?:\[{1,2}(?P<table>[^\[\]\n]{1,100})\]{1,2}[ \t]*(?:#.*)?$"
    r"|(?P<key>[\w\"'./-]{1,100}):[ \t]*(?:#.*)?\n(?=[ \t]+\S|- ))",
    re.MULTILINE,
)
#: A script of this many characters is looked at; more than half of them in lines of this many is no person's work.
_MIN_SCRIPT_CHARACTERS, _MAX_LINE_CHARACTERS = 2_000, 1_000


def read_code(source: str) -> Content:
    """Read any language: the text alone."""
    return Content(source.expandtabs())


def read_script(source: str) -> Content:
    """Read a script as it is written. One that a program packed, in lines that no person writes, is no document."""
    packed = sum(len(line) for line in source.split("\n") if len(line) > _MAX_LINE_CHARACTERS)
    if len(source) > _MIN_SCRIPT_CHARACTERS and 2 * packed > len(source):
        raise NoDocumentError(
            f"it is a minified script: most of it is in lines of over {_MAX_LINE_CHARACTERS:,} characters"
        )
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
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    waiting: list[tuple[int, ast.stmt]] = [(1, node) for node in reversed(tree.body)]
    while waiting:
        level, node = waiting.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield Heading(starts[first - 1], level, node.name)
            waiting += [(level + 1, inner) for inner in reversed(node.body)]


def read_configuration(source: str) -> Content:
    """Read YAML or TOML. Nothing is parsed, so that a broken file is text all the same."""
    text = source.expandtabs()
    found = ((match, match.lastgroup or "table") for match in _SECTION.finditer(text))
    return Content(text, headings=tuple(Heading(match.start(group), 1, match[group]) for match, group in found))
