"""Make a text easy to parse: spacing put right, quotation marks and brackets taken out and remembered.

Both break an English parse more than anything else. A quoted title is remembered as a stretch that is one name, a
bracket that is understood as facts about the name before it. What is not understood stays where it is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from triplebeam.extract.local.brackets import facts_of
from triplebeam.extract.local.names import looks_like_title

_REPAIRS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"``|''|[“”„]", '"'),
        (r"[‘’]", "'"),
        (r"(?<=\d) ?-- ?(?=\d)", "–"),
        (r" --? ", " – "),
        (r"(?<=\w)- (?=[A-Z])", "-"),
        (r"(?<=[a-z]\.)(?=[A-Z][a-z])", " "),
        (r"(?<=\w) n't\b", "n't"),
        (r"(?<![\w.])([A-Z][\w.]*) ?\" ?[A-Z][\w.']*\" (?=[A-Z][a-z])", r"\1 "),
        (r"\(\s*", " ("),
        (r"(?<=[^\W_])[ \t]*\n\s*\n\s*", ". "),  # a heading has no full stop of its own
        (r"(?<!\s)\s+(?=[,;)])", ""),
        (r"\s+", " "),
    )
)
#: Signs of a text that went through a tokenizer, where a hyphen has come to stand between spaces as a dash does.
_TREEBANK = re.compile(r"``|''| -- |\w 's\b")
_LOOSE_HYPHEN = re.compile(r"(?<=\w) - (?=\w+ )")
_MARKED = re.compile(r'\s*\((?P<bracket>[^()]*)\)|\s*"\s*(?P<quoted>[^"]*?)(?P<end>[,.;]?)\s*"\s*')


class Aside(NamedTuple):
    """A bracket that was taken out: where it stood in the text that is left, and what it states."""

    position: int
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PlainText:
    """A text ready to be parsed, and what was taken out of it: stretches that are quoted titles, and brackets."""

    text: str
    titles: tuple[tuple[int, int], ...]
    asides: tuple[Aside, ...]


def tidy(text: str) -> str:
    """The same words with the spacing of print: ``made( 1990)`` becomes ``made (1990)``."""
    if _TREEBANK.search(text):
        text = _LOOSE_HYPHEN.sub("-", text)
    for pattern, replacement in _REPAIRS:
        text = pattern.sub(replacement, text)
    return text.strip()


def plain(text: str) -> PlainText:
    """The tidy text without its quoted titles' marks and without the brackets that are understood."""
    text = tidy(text)
    titles: list[tuple[int, int]] = []
    asides: list[Aside] = []
    kept, done = "", 0
    for mark in _MARKED.finditer(text):
        quoted = mark["quoted"]
        if quoted is not None and looks_like_title(quoted):
            kept += text[done : mark.start()]
            kept += "" if not kept or kept[-1] in " (" else " "
            titles.append((len(kept), len(kept) + len(quoted)))
            kept += quoted + mark["end"] + _space_before(text[mark.end() : mark.end() + 1])
        elif quoted is None and (facts := facts_of(mark["bracket"])) is not None:
            kept += text[done : mark.start()]
            asides.append(Aside(len(kept), tuple(facts)))
        else:
            continue
        done = mark.end()
    return PlainText(kept + text[done:], tuple(titles), tuple(asides))


def _space_before(following: str) -> str:
    return " " if following.isalnum() or following in ("(", '"', "–", "&") else ""


def joined(parts: Sequence[PlainText]) -> tuple[PlainText, list[int]]:
    """The parts as one text, and where each begins in it."""
    text, starts = "", []
    titles: list[tuple[int, int]] = []
    asides: list[Aside] = []
    for part in parts:
        starts.append(at := len(text))
        titles += ((start + at, end + at) for start, end in part.titles)
        asides += (aside._replace(position=aside.position + at) for aside in part.asides)
        text += part.text + (" " if part.text.endswith((".", "!", "?")) else ". " if part.text else "")
    return PlainText(text, tuple(titles), tuple(asides)), starts
