"""Make a text easy to parse: spacing put right, quotation marks and brackets taken out and remembered.

Both break an English parse more than anything else. A quoted title is remembered as a stretch that is one name, a
bracket that is understood as facts about the name before it. What is not understood stays where it is.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from triplebeam.extract.local.brackets import facts_of

_REPAIRS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"``|''|[“”„]", '"'),
        (r"[‘’]", "'"),
        (r"(?<=\d) ?-- ?(?=\d)", "–"),
        (r"(?<=\w) - (?=\w+ )", "-"),
        (r" --? ", " – "),
        (r"(?<=\w)- (?=[A-Z])", "-"),
        (r"(?<=[a-z]\.)(?=[A-Z][a-z])", " "),
        (r"(?<=\w) n't\b", "n't"),
        (r"\(\s*", " ("),
        (r"\s+(?=[,;)])", ""),
        (r"\s+", " "),
    )
)
_MARKED = re.compile(r'\s*\((?P<bracket>[^()]*)\)|\s*"\s*(?P<quoted>[^"]*?)(?P<end>[,.;]?)\s*"\s*')
_LONGEST_TITLE = 12
_WORD = re.compile(r"\w[\w'.-]*")
_SMALL_WORDS = frozenset(
    ("a", "an", "and", "at", "by", "de", "for", "from", "in", "into", "la", "le", "of", "on", "or", "the", "to", "with")
)


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
    for pattern, replacement in _REPAIRS:
        text = pattern.sub(replacement, text)
    return text.strip()


def plain(text: str) -> PlainText:
    """The tidy text without its quoted titles' marks and without the brackets that are understood."""
    text = tidy(text)
    parts: list[str] = []
    titles: list[tuple[int, int]] = []
    asides: list[Aside] = []
    length = done = 0
    for mark in _MARKED.finditer(text):
        facts = facts_of(mark["bracket"]) if mark["quoted"] is None else None
        if facts is None and (mark["quoted"] is None or not looks_like_title(mark["quoted"])):
            continue
        before = text[done : mark.start()]
        if facts is None:
            before += " " if before[-1:] not in ("", "(", " ") or length else ""
        parts.append(before)
        length += len(before)
        if facts is None:
            after = text[mark.end() : mark.end() + 1]
            space = " " if after.isalnum() or after in ("(", '"', "–", "&") else ""
            parts.append(mark["quoted"] + mark["end"] + space)
            titles.append((length, length + len(mark["quoted"])))
            length += len(parts[-1])
        else:
            asides.append(Aside(length, tuple(facts)))
        done = mark.end()
    return PlainText("".join([*parts, text[done:]]), tuple(titles), tuple(asides))


def looks_like_title(quoted: str) -> bool:
    """Few words, all but the small ones beginning with a capital or a digit: a work's name, not someone's words."""
    words = _WORD.findall(quoted)
    large = [word for word in words[1:] if word not in _SMALL_WORDS]
    return 0 < len(words) <= _LONGEST_TITLE and all(not word[0].islower() for word in [words[0], *large])
