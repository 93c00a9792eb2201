"""What stands in brackets after a name: lifespans, years, abbreviations and other names.

Brackets break an English parse more than anything else, so those that are understood are taken out of the text before
it is parsed, and what they say is stated of the name before them.
"""

import re
from typing import NamedTuple

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)[a-z]*\.?"
_DATE = rf"(?:c\.? ?|circa )?(?:\d{{1,2}} {_MONTH},? )?(?:{_MONTH} (?:\d{{1,2}}, ?)?)?\d{{3,4}}(?: (?:BC|AD|BCE|CE))?"
_BIRTH = re.compile(rf"\b(?:born|b\.|né|née)(?: ([^;,\d]*?))?,? ?(?:on |in )?({_DATE})(?:,? (?:in|at) ([A-Z][^;]*))?")
_DEATH = re.compile(rf"\b(?:died|d\.)(?: (?:on|in))? ({_DATE})(?:,? (?:in|at) ([A-Z][^;]*))?")
_LIFE = re.compile(
    rf"(?:^|[;:,] ?)({_DATE})(?:,? ?(?:in )?([A-Z][^;–]*?))? ?[–-] ?({_DATE})(?:,? ?(?:in )?([A-Z][^;]*))?"
)
_YEAR = re.compile(r"(?:both |all )?(?:in )?(\d{4})(?: film| album| song)?$")
_ABBREVIATION = re.compile(r"(?:the |or |abbreviated (?:as )?|also |formerly )*([A-Z][\w.&/-]*[A-Z0-9][\w.&/-]*)$")
_ALIAS = re.compile(
    r"(?:^|[;,] ?)(?:(?:also |commonly |better |formerly |previously |sometimes )*"
    r"(?:known as|called|known by|a\.?k\.?a\.?|nicknamed|born|née|né|formerly|or)) ((?:the )?[A-Z\"][^;,\d]{1,50})"
)
_MARKS = re.compile(r"\(([^()]*)\)")
_NOT_NAME = re.compile(r"^\W+|\W+$")


class Aside(NamedTuple):
    """A bracket that was taken out: where it stood in the text that is left, and what it states."""

    position: int
    facts: tuple[tuple[str, str], ...]


def take_out(text: str) -> tuple[str, list[Aside]]:
    """The text without the brackets that are understood, and those as facts of what stands before them."""
    asides: list[Aside] = []
    parts: list[str] = []
    length = done = 0
    for bracket in _MARKS.finditer(text):
        facts = facts_of(bracket[1])
        if facts is None:
            continue
        parts.append(text[done : bracket.start()].rstrip())
        length += len(parts[-1])
        asides.append(Aside(length, tuple(facts)))
        done = bracket.end()
    return "".join([*parts, text[done:]]), asides


def facts_of(content: str) -> list[tuple[str, str]] | None:
    """Predicates and objects that the bracket states, an empty list for mere sounds, None where it is not understood."""
    content = content.strip()
    if not re.search(r"[A-Za-z0-9]{2}", content):
        return []
    facts: list[tuple[str, str]] = []
    if life := _LIFE.search(content):
        facts += _dated("born", life[1], life[2]) + _dated("died", life[3], life[4])
    else:
        if birth := _BIRTH.search(content):
            facts += _dated("born", birth[2], birth[3])
        if death := _DEATH.search(content):
            facts += _dated("died", death[1], death[2])
    facts += [("also known as", name) for alias in _ALIAS.finditer(content) for name in _names(alias[1])]
    if not facts and (year := _YEAR.match(content)):
        facts = [("dated", year[1])]
    if not facts and (short := _ABBREVIATION.match(content)):
        facts = [("also known as", short[1])]
    return facts or None


def _dated(event: str, date: str, place: str | None) -> list[tuple[str, str]]:
    preposition = "on" if re.search(r"[A-Z]\w+ \d{1,2},|\d{1,2} [A-Z]", date) else "in"
    facts = [(f"{event} {preposition}", date.strip())]
    if place and place.strip(" ,"):
        facts.append((f"{event} in", place.strip(" ,")))
    return facts


def _names(text: str) -> list[str]:
    names = (_NOT_NAME.sub("", name) for name in re.split(r" (?:or|and) ", text))
    return [name for name in names if name]
