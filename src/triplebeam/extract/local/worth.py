"""Which rows are worth keeping: both ends name something, and no longer row says the same."""

import re
from collections.abc import Iterable
from typing import TypeAlias

from triplebeam.text.names import entity_key

Row: TypeAlias = tuple[str, str, str]

_LONGEST_PART = 120
_UNITS_WORDS = "kb mb gb tb kib mib gib tib byte bytes bit bits ms sec secs seconds minutes hours km cm mm kg px am pm"
_UNITS = frozenset(_UNITS_WORDS.split())
_SIGNS = re.compile(r"[|{}<>=#\\→*\[\]]|https?:")
_PLACE_IN_TEXT = re.compile(
    r"(?i:section|chapter|figure|table|appendix|example|page|step|note|part)s?(?: [\dA-Z][\d.]*)?$"
)
_LETTERS = re.compile(r"[^\W\d_]{2}|(?:[A-Z]\.){2}|[A-Z]\d|[A-Z]-\d")
_DATED = re.compile(r"\d{4}|\d:\d|\d(?:st|nd|rd|th)\b")


def is_worth_naming(name: str) -> bool:
    """The name has two letters or is a date; signs, units and bare numbers name nothing."""
    if name.casefold() in _UNITS or _SIGNS.search(name) or _PLACE_IN_TEXT.match(name):
        return False
    return _LETTERS.search(name) is not None or _DATED.search(name) is not None


def worth_keeping(rows: Iterable[Row]) -> list[Row]:
    """Once each under the normal form, with two ends of bearable length, and not what a longer row says as well."""
    kept: dict[tuple[str, ...], Row] = {}
    for row in rows:
        keys = tuple(entity_key(part) for part in row)
        if keys[0] != keys[2] and max(len(part) for part in row) <= _LONGEST_PART and _names_two(row):
            kept.setdefault(keys, row)
    return [row for keys, row in kept.items() if not any(_says_more(other, keys, row[2]) for other in kept)]


def _names_two(row: Row) -> bool:
    return is_worth_naming(row[0]) and is_worth_naming(row[2]) and not _SIGNS.search(row[1])


def _says_more(longer: tuple[str, ...], row: tuple[str, ...], object_: str) -> bool:
    """``X, is town in, Y`` says more than ``X, is, town``, and ``X, has a role in, Y`` more than ``X, role in, Y``."""
    if longer[0] != row[0]:
        return False
    if longer[2] == row[2] and longer[1] != row[1]:
        return longer[1].endswith(f" {row[1]}")
    return object_.islower() and longer[1].startswith(f"{row[1]} {row[2]} ")
