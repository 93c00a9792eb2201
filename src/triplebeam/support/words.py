"""The words of a text with their places, and what two forms of a word share."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from triplebeam.support.vocabulary import EQUIVALENTS, LIGHT, NO_ROLES, NUMBERS, ROLES, TRANSPARENT, VERBS

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+")
_SUFFIXES = ("ations", "ation", "ings", "ing", "ied", "ies", "ers", "ors", "ed", "er", "or", "es", "s")
_SHORTEST_STEM = 3


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
        return fold(self.key)

    @property
    def stem(self) -> str:
        """What its forms and its equivalents in a relation share."""
        return stem(self.key)

    @property
    def is_name(self) -> bool:
        """Begins with a capital letter, and is not "The" or "He"."""
        return self.text[0].isupper() and self.key not in LIGHT

    @property
    def is_plain(self) -> bool:
        """Begins with a small letter, and is more than an article, an auxiliary, a preposition or a pronoun."""
        return self.text[0].islower() and self.key not in LIGHT

    @property
    def is_number(self) -> bool:
        """Is written in digits."""
        return self.text[0].isdecimal()

    @property
    def is_verb(self) -> bool:
        """Looks like a verb: auxiliaries, past forms, a participle behind a comma; not a part of a compound."""
        if self.key in TRANSPARENT or self.gap == "-" or not self.text[0].islower():
            return False
        past = self.key.endswith("ed") and len(self.key) > 4
        participle = self.key.endswith("ing") and self.gap.startswith(",")
        return self.key in VERBS or past or participle


@lru_cache(maxsize=100_000)
def fold(key: str) -> str:
    """A lower-case word without accents, thousands separators and plural ending."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", key) if not unicodedata.combining(c)) or key
    plain = NUMBERS.get(plain, plain.replace(",", ""))
    return plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """What the forms of a word, and its equivalents in a relation, share."""
    known = EQUIVALENTS.get(word) or EQUIVALENTS.get(word.removesuffix("s"))
    if known or not word.isalpha():
        return known or word
    suffix = next((each for each in _SUFFIXES if word.endswith(each) and len(word) - len(each) >= _SHORTEST_STEM), "")
    word = word if word.endswith("ss") else word.removesuffix(suffix)
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    word = word[:-1] if word.endswith(("e", "y")) and len(word) > _SHORTEST_STEM else word
    return EQUIVALENTS.get(word, word)


def words_of(text: str) -> list[Word]:
    """The words of a text, in order."""
    words, before = [], 0
    for match in _WORD.finditer(text):
        words.append(Word(match[0], match[0].casefold(), match.start(), match.end(), text[before : match.start()]))
        before = match.end()
    return words


def content(text: str) -> list[Word]:
    """The words of a text that are more than articles, auxiliaries, prepositions and pronouns; else all words."""
    words = words_of(text)
    return [word for word in words if word.key not in LIGHT] or words


def is_role(key: str) -> bool:
    """Names a part that one entity plays towards another: "director", "wife"."""
    return key in ROLES or (len(key) > 4 and key.endswith(("er", "or", "ers", "ors", "ist")) and key not in NO_ROLES)
