"""Make a text easy to parse: spacing put right, quotation marks and brackets taken out and remembered.

Both break an English parse more than anything else. A quoted title is remembered as a stretch that is one name, a
bracket that is understood as facts about the name before it. What is not understood stays where it is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from triplebeam.extract.local.prepare.names import looks_like_title

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)[a-z]*\.?"
_DATE = rf"(?:c\.? ?|circa )?(?:\d{{1,2}} {_MONTH},? )?(?:{_MONTH} (?:\d{{1,2}}, ?)?)?\d{{3,4}}(?: (?:BC|AD|BCE|CE))?"
_BIRTH = re.compile(rf"\b(?:born|b\.|né|née)(?: ([^;,\d]*?))?,? ?(?:on |in )?({_DATE})(?:,? (?:in|at) ([A-Z][^;]*))?")
_DEATH = re.compile(rf"\b(?:died|d\.)(?: (?:on|in))? ({_DATE})(?:,? (?:in|at) ([A-Z][^;]*))?")
_LIFE = re.compile(
    rf"(?:^|[;:,] ?)({_DATE})(?:,? ?(?:in |at )?([A-Z][^;–]*?))? ?[–-] ?({_DATE})(?:,? ?(?:in |at )?([A-Z][^;]*))?"
)
_YEAR = re.compile(r"(?:both |all )?(?:in )?(\d{4})(?: film| album| song)?$")
_ABBREVIATION = re.compile(r"(?:the |or |abbreviated (?:as )?|also |formerly )*([A-Z][\w.&/-]*[A-Z0-9][\w.&/-]*)$")
_ALIAS = re.compile(
    r"(?:^|[;,] ?)(?i:(?:also |commonly |better |formerly |previously |sometimes )*"
    r"(?:known as|called|known by|a\.?k\.?a\.?|nicknamed|born|née|né|formerly)) (?:the )?"
    rf"(?!{_MONTH}|Zqx|\"[a-z])([A-Z\"][^;,\d]{{1,50}})"
)
_FOREIGN = re.compile(
    r"(?:^|[;,] ?)(?:in )?(?:[A-Z][a-z]+ )?(?:[A-Z][a-z]*(?:ese|ish|an|ic|ch|ek|ew|in|i)|Urdu|Tamil): ([^;,()]{2,60})"
)
_QUOTED = re.compile(r'^"\s*([^\W\d_a-z][^"]+)"$')
_ASIDE = re.compile(r"[\d.,]+ \S+$|[a-z, -]{2,30}$|.*\bpopulation\b")
_REMARK = re.compile(
    r"(?:see|e\.g|i\.e|cf|for example|such as|including|and|or|but|which|where|if|though|not|as) ?\b", re.I
)
_MAX_CHARACTERS = 200
_NOT_NAME = re.compile(r"^\W+|\W+$")
_REPAIRS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"``|''|[“”„]", '"'),
        (r"[‘’]", "'"),
        (r" --? ", " – "),
        (r"(?<=\w)- (?=[A-Z])", "-"),
        (r"(?<=[a-z]\.)(?=[A-Z][a-z])", " "),
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


def read_bracket(content: str) -> list[tuple[str, str]] | None:
    """Return what the bracket states (predicate, object): nothing for sounds, measures and asides, None if unknown."""
    content = content.strip()
    if len(content) > _MAX_CHARACTERS:
        return None
    if not re.search(r"[A-Za-z0-9]{2}", content) or _ASIDE.match(content):
        return []
    facts: list[tuple[str, str]] = []
    if life := _LIFE.search(content):
        facts += _date_event("born", life[1], life[2]) + _date_event("died", life[3], life[4])
    else:
        if birth := _BIRTH.search(content):
            facts += _date_event("born", birth[2], birth[3])
        if death := _DEATH.search(content):
            facts += _date_event("died", death[1], death[2])
    facts += [("also known as", name) for alias in _ALIAS.finditer(content) for name in _split_names(alias[1])]
    if not facts and (year := _YEAR.match(content)):
        facts = [("dated", year[1])]
    if not facts and (short := _ABBREVIATION.match(content)):
        facts = [("also known as", short[1])]
    if not facts:
        others = [*_FOREIGN.finditer(content), *_QUOTED.finditer(content)]
        facts = [("also known as", name) for other in others for name in _split_names(other[1])]
    return facts or ([] if _REMARK.match(content) else None)


def _date_event(event: str, date: str, place: str | None) -> list[tuple[str, str]]:
    preposition = "on" if re.search(r"[A-Z]\w+ \d{1,2},|\d{1,2} [A-Z]", date) else "in"
    facts = [(f"{event} {preposition}", date.strip())]
    if place and place.strip(" ,"):
        facts.append((f"{event} in", place.strip(" ,")))
    return facts


def _split_names(text: str) -> list[str]:
    names = (_NOT_NAME.sub("", name) for name in re.split(r" (?:or|and) ", text))
    return [name for name in names if name]


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
    """Return the same words with the spacing of print: ``made( 1990)`` becomes ``made (1990)``."""
    if _TREEBANK.search(text):
        text = _LOOSE_HYPHEN.sub("-", text)
    for pattern, replacement in _REPAIRS:
        text = pattern.sub(replacement, text)
    return text.strip()


def make_plain(text: str) -> PlainText:
    """Return the tidy text without its quoted titles' marks and without the brackets that are understood."""
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
            following = text[mark.end() : mark.end() + 1]
            kept += quoted + mark["end"] + (" " if following.isalnum() or following in ("(", '"', "–", "&") else "")
        elif quoted is None and (facts := read_bracket(mark["bracket"])) is not None:
            kept += text[done : mark.start()]
            asides.append(Aside(len(kept), tuple(facts)))
        else:
            continue
        done = mark.end()
    return PlainText(kept + text[done:], tuple(titles), tuple(asides))


def join_texts(parts: Sequence[PlainText]) -> tuple[PlainText, list[int]]:
    """Return the parts as one text, and where each begins in it."""
    text, starts = "", []
    titles: list[tuple[int, int]] = []
    asides: list[Aside] = []
    for part in parts:
        starts.append(at := len(text))
        titles += ((start + at, end + at) for start, end in part.titles)
        asides += (aside._replace(position=aside.position + at) for aside in part.asides)
        text += part.text + (" " if part.text.endswith((".", "!", "?")) else ". " if part.text else "")
    return PlainText(text, tuple(titles), tuple(asides)), starts
