"""The fields at the head of a Markdown or AsciiDoc file, between two fences."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

# The line after the fence and remarks must be a field: a text may well open with a horizontal rule.
_FRONT_MATTER = re.compile(
    r"\A(---|\+\+\+)[ ]*\n(?=(?:[ \t]*(?:#[^\n]*)?\n)*[\w.-]+\s*[:=])(?P<fields>.*?)\n(?:\1|\.\.\.)[ ]*(?:\n|\Z)",
    re.DOTALL,
)
#: The title, authors and date of a manual page in Markdown, as pandoc reads them.
_TITLE_BLOCK = re.compile(r"\A%[ \t]+(?P<title>\S[^\n]*)\n(?:%[^\n]*\n){0,2}")
_FIELD = re.compile(r"^([\w.-]+)\s*[:=][ \t]*(.*(?:\n(?:[ \t]+|- ).*)*)", re.MULTILINE)
#: What may be between the fences: a field, what continues it, a comment, a table of TOML, nothing.
_LINE = re.compile(r"[\w.-]+\s*[:=]|[ \t]|- |#|\[|\]|\Z")
#: Two fields: one line such as "note: …" may well follow a rule.
_UNFINISHED = re.compile(r"\A(---|\+\+\+)[ ]*\n[a-z][\w.-]*[:=][^\n]*\n[a-z][\w.-]*[:=]")
_OPEN = re.compile(r"\"[^\"\n]*|'[^'\n]*|\[[^\]\n]*|\{[^}\n]*")
_ITEM = re.compile(r"^\s*-\s+", re.MULTILINE)
#: What YAML writes around a value: the sign of a text on the lines below, a remark behind a quotation.
_BLOCK_SIGN = re.compile(r"\A[>|][+-]?\s*\n")
_REMARK = re.compile(r"(?<=[\"'])[ \t]+#[^\n]*\Z")
_MAX_WARNINGS = 3


class FrontMatter(NamedTuple):
    """The fields, what follows them, and what is wrong with them."""

    fields: Mapping[str, str]
    body: str
    warnings: tuple[str, ...] = ()


def parse_front_matter(source: str) -> FrontMatter:
    """Parse the fields of YAML or TOML as strings.

    Values are kept as they are written, without quotes; the items of a list are joined by commas. That is all a filter
    needs, and no document can make a YAML parser build what it likes.
    """
    if block := _TITLE_BLOCK.match(source):
        return FrontMatter({"title": block["title"].strip()}, source[block.end() :])
    found = _FRONT_MATTER.match(source)
    if found is None:
        never = ("its front matter has no end, so it was read as text: close it with the line it begins with",)
        return FrontMatter({}, source, never if _UNFINISHED.match(source) else ())
    values = _FIELD.findall(found["fields"])
    fields = {"title" if name == "Title" else name: value for name, text in values if (value := _value(text))}
    return FrontMatter(fields, source[found.end() :], tuple(_find_faults(found["fields"], values))[:_MAX_WARNINGS])


def _find_faults(lines: str, values: list[tuple[str, str]]) -> Iterator[str]:
    """Find lines that were left out, and values that begin and do not end."""
    for number, line in enumerate(lines.split("\n"), start=2):
        if not _LINE.match(line):
            yield f"line {number} of its front matter is no field and was left out: {line[:40]!r}"
    for name, text in values:
        if _OPEN.fullmatch(text):
            yield f"the field {name!r} of its front matter begins with {text[0]} and has no end: {text[:40]!r}"


def _value(text: str) -> str:
    text = _REMARK.sub("", _BLOCK_SIGN.sub("", text))
    items = [item.strip() for item in _ITEM.split(text)]
    joined = ", ".join(filter(None, items))
    if joined.startswith("[") and joined.endswith("]"):
        joined = ", ".join(item.strip().strip("\"'") for item in joined[1:-1].split(","))
    return " ".join(joined.strip("\"'").split())
