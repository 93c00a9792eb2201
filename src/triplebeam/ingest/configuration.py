"""Configuration (YAML, TOML): the text as it is, with tables and the keys at the margin as headings."""

import re

from triplebeam.ingest.text import Content
from triplebeam.passage import Heading

#: "[tool.ruff]", "[[product]]", or "services:" over what is indented or a list
_SECTION = re.compile(
    r"^(?:\[{1,2}(?P<table>[^\[\]\n]{1,100})\]{1,2}[ \t]*(?:#.*)?$"
    r"|(?P<key>[\w\"'./-]{1,100}):[ \t]*(?:#.*)?\n(?=[ \t]+\S|- ))",
    re.MULTILINE,
)


def configuration_content(source: str) -> Content:
    """Read YAML or TOML. Nothing is parsed, so that a broken file is text all the same."""
    text = source.expandtabs()
    found = ((match, match.lastgroup or "table") for match in _SECTION.finditer(text))
    return Content(text, headings=tuple(Heading(match.start(group), 1, match[group]) for match, group in found))
