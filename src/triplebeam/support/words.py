"""The words of a text with their places."""

import re
import unicodedata
from calendar import month_name
from functools import lru_cache
from typing import NamedTuple

from triplebeam.text.word_set import word_set

ARTICLES = word_set("a an the")
PRONOUNS = word_set("he she it they his her its their him them")
REFLEXIVES = word_set("himself herself itself themselves")
AUXILIARIES = word_set(
    "is was are were be been being am has have had do does did will would can could may might must shall should"
)
#: Words that no name is known by.
LIGHT = ARTICLES | PRONOUNS | AUXILIARIES
LIGHT |= word_set(
    "on upon in at within inside during since until before after near around between to into onto toward towards from"
    " of with alongside against by for as through over under across via about along behind beyond above below off"
    " without and or s t also who which that this there where one then later now both such other"
)
#: With a capital letter behind a name, no part of it: "Directed by Ann Lee Produced by Per Lund Released 1985".
ROW_STARTS = word_set("born created died directed established founded produced published released starring written")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DIGITS = {word: str(number) for number, word in enumerate(_NUMBERS, start=1)}
#: What follows a year at once where the dash before a second date is lost: "6 June 19505 October 2015".
_YEAR, _DAY = r"(?<!\d)[12]\d{3}", r"(?:[12]\d|3[01]|[1-9])"
_DATE = rf"(?:{_DAY} )?(?:{'|'.join(month_name[1:])}) (?:{_DAY},? )?{_YEAR}(?!\d)"
LOST_DASH = re.compile(rf"(?<={_YEAR})(?={_DATE})")
_WORD = re.compile(rf"{_YEAR}(?={_DATE})|\d+(?:[.,]\d+)*|[^\W_]+")


class Word(NamedTuple):
    """A word, its lower-case key, its place in the text, and what is between it and the word before."""

    text: str
    key: str
    start: int
    end: int
    gap: str

    @property
    def folded(self) -> str:
        """Without accents and plural ending, a number in digits: what two mentions of an entity are compared by."""
        return _fold(self.key)

    @property
    def is_name(self) -> bool:
        """Begins with a capital letter, and is not "The" or "He"."""
        return self.text[0].isupper() and self.key not in LIGHT


@lru_cache(maxsize=100_000)
def _fold(key: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFKD", key) if not unicodedata.combining(c)) or key
    plain = _DIGITS.get(plain, plain.replace(",", ""))
    return plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain


def words_of(text: str) -> list[Word]:
    """The words of a text, in order."""
    words, before = [], 0
    for match in _WORD.finditer(text):
        words.append(Word(match[0], match[0].casefold(), match.start(), match.end(), text[before : match.start()]))
        before = match.end()
    return words


def content(text: str) -> list[Word]:
    """The words of a text that a name is known by; all words, if there are no such words."""
    words = words_of(text)
    return [word for word in words if word.key not in LIGHT] or words
