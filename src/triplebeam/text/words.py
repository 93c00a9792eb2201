"""What a word is: a run of letters and digits, with its place in the text.

There are two more definitions: search terms (`terms`), and what stands between white space (`str.split`). Where only
some letters count, or where signs join them, a pattern is made by `compile_word`, and never written again.
"""

import re
from calendar import month_name
from functools import lru_cache
from typing import NamedTuple

from triplebeam.text.characters import strip_accents
from triplebeam.text.stop_words import LIGHT_WORDS

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DIGITS = {word: str(number) for number, word in enumerate(_NUMBERS, start=1)}
#: What follows a year at once where the dash before a second date is lost: "6 June 19505 October 2015".
_YEAR, _DAY = r"(?<!\d)[12]\d{3}", r"(?:[12]\d|3[01]|[1-9])"
_DATE = rf"(?:{_DAY} )?(?:{'|'.join(month_name[1:])}) (?:{_DAY},? )?{_YEAR}(?!\d)"
LOST_DASH = re.compile(rf"(?<={_YEAR})(?={_DATE})")


def compile_word(*, without: str = "_", joined_by: str = "", flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Compile the pattern of a word: letters, digits and underscores, but for the characters in ``without``.

    A word goes on behind the signs in ``joined_by``: with ``'.-``, ``O'Brien`` and ``U.S.-led`` are one word each.
    """
    letters = rf"[^\W{without}]+"
    return re.compile(rf"{letters}(?:[{joined_by}]+(?:{letters})?)*" if joined_by else letters, flags)


WORD = compile_word()
#: A word without digits: "mp3" is "mp".
LETTERS = compile_word(without=r"\d_")
_WORD_OR_NUMBER = re.compile(rf"{_YEAR}(?={_DATE})|\d+(?:[.,]\d+)*|{WORD.pattern}")


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
        return self.text[0].isupper() and self.key not in LIGHT_WORDS


@lru_cache(maxsize=100_000)
def _fold(key: str) -> str:
    plain = strip_accents(key) or key
    plain = _DIGITS.get(plain, plain.replace(",", ""))
    return plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain


def words_of(text: str) -> list[Word]:
    """List the words of a text, in order; a number with its separators is one word."""
    words, before = [], 0
    for match in _WORD_OR_NUMBER.finditer(text):
        words.append(Word(match[0], match[0].casefold(), match.start(), match.end(), text[before : match.start()]))
        before = match.end()
    return words


def content(text: str) -> list[Word]:
    """List the words of a text that a name is known by; all words, if there are no such words."""
    words = words_of(text)
    return [word for word in words if word.key not in LIGHT_WORDS] or words
