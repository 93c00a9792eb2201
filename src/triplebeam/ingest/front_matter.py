"""The fields at the head of a Markdown or AsciiDoc file, between two fences."""

import re
from collections.abc import Mapping

# The line after the fence must be a field: a text may well open with a horizontal rule.
_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ ]*\n(?=[\w.-]+\s*[:=])(?P<fields>.*?)\n\1[ ]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([\w.-]+)\s*[:=][ \t]*(.*(?:\n(?:[ \t]+|- ).*)*)", re.MULTILINE)
_ITEM = re.compile(r"^\s*-\s+", re.MULTILINE)


def front_matter(source: str) -> tuple[Mapping[str, str], str]:
    """The fields of YAML or TOML as strings, and what follows them.

    Values are kept as they are written, without quotes; the items of a list are joined by commas. That is all a filter
    needs, and no document can make a YAML parser build what it likes.
    """
    found = _FRONT_MATTER.match(source)
    if found is None:
        return {}, source
    fields = {name: _value(text) for name, text in _FIELD.findall(found["fields"])}
    return {name: value for name, value in fields.items() if value}, source[found.end() :]


def _value(text: str) -> str:
    items = [item.strip() for item in _ITEM.split(text)]
    joined = ", ".join(filter(None, items))
    if joined.startswith("[") and joined.endswith("]"):
        joined = ", ".join(item.strip().strip("\"'") for item in joined[1:-1].split(","))
    return " ".join(joined.strip("\"'").split())
