"""Does a sentence say a statement in nearly its own words? For statements that are no triple, or that the model misses.

The statement's words are in the sentence, the title, the section or the date, in the sentence's order, and what comes
first in it begins a clause there: "Ann, who lived with Bob, died in Paris" says "Ann died in Paris", not "Bob died".
"""

import re
from calendar import month_name
from collections.abc import Sequence

from triplebeam.passage import Passage
from triplebeam.support.page import Page
from triplebeam.text.stop_words import word_set
from triplebeam.text.words import Word, content, words_of
from triplebeam.triple import Triple

#: Of a statement's words, this share may be others than the sentence's, if they are neither names nor numbers.
_OTHER_WORDS = 0.25
#: Words of more letters than this are compared by their beginnings: "visits" and "visited".
_STEM = 5
#: What a statement may add to say what kind of thing a name is, or who says it.
_KINDS = word_set(
    "option parameter setting command variable directive flag keyword function method field value argument property"
    " file page manual section default called named set said say says told mentioned user person according chat article"
    " passage document message"
)
_PREPOSITIONS = word_set("of with by for from to in at on than about after before under over near like s")
_CLAUSE = re.compile(r"[,;:()—–.\n]")


def restates(statement: str, page: Page, sentence: range, passage: Passage) -> bool:
    """Is a statement made of a sentence's words, in its order, with the title, the section and the date at most?"""
    words = [word for word in content(statement) if word.key not in _KINDS]
    inside, around = [page.words[place] for place in sentence], _around(page, passage)
    places = _matched(words, inside)
    others = [word for word, place in zip(words, places, strict=True) if place < 0 and word.folded not in around]
    found = [place for place in places if place >= 0]
    if any(map(_is_fixed, others)) or len(others) > _OTHER_WORDS * len(words) or 2 * len(found) < len(words):
        return False
    return found == sorted(found) and len(found) > 1 and _is_clause(inside, found) and not _cuts_a_name(inside, found)


def find_addition(statement: str, triple: Triple, page: Page, sentence: range, passage: Passage) -> str | None:
    """A name or a number that a statement has beyond its triple, its sentence, the title, the section and the date."""
    known = _around(page, passage) | {page.words[place].folded for place in sentence}
    known |= {word.folded for word in words_of(str(triple))}
    words = words_of(statement)  # the first one has a capital letter in any case
    new = [word for n, word in enumerate(words) if (_is_fixed(word) if n else word.text.isdigit())]
    return next((word.text for word in new if word.folded not in known and word.key not in _KINDS), None)


def _around(page: Page, passage: Passage) -> set[str]:
    """The words of the title, the section, the metadata and the date."""
    named = words_of(f"{page.title} {passage.title} {passage.origin}")
    return {word.folded for word in named} | _date_words(passage)


def _matched(words: Sequence[Word], inside: Sequence[Word]) -> list[int]:
    """The place of each word in the sentence, behind that of the word before where it can be; -1 if it has none."""
    places, last = [], -1
    for word in words:
        same = [place for place, each in enumerate(inside) if _is_same(word, each)]
        chosen = next((place for place in same if place > last), same[-1] if same else -1)
        places.append(chosen)
        last = max(last, chosen)
    return places


def _is_same(word: Word, other: Word) -> bool:
    if word.folded == other.folded:
        return True
    longer = min(len(word.folded), len(other.folded)) >= _STEM and not word.folded.isdecimal()
    return longer and word.folded[:_STEM] == other.folded[:_STEM] and not (word.is_name and other.is_name)


def _is_fixed(word: Word) -> bool:
    """Names, numbers and the words of code cannot be said otherwise."""
    return word.is_name or any(map(str.isdigit, word.text)) or "_" in word.gap


def _is_clause(inside: Sequence[Word], found: Sequence[int]) -> bool:
    """What the statement begins with begins a clause, and no other name comes between it and what is said of it."""
    first = found[0]
    if first and inside[first - 1].key in _PREPOSITIONS and not _CLAUSE.search(inside[first].gap):
        return False
    last = next((n for n in range(first, found[-1]) if n not in found or not inside[n].is_name), first + 1) - 1
    last = max(last, first)
    rest = next(place for place in (*found, found[-1]) if place > last or place == found[-1])
    return not any(word.is_name or word.key == "s" for word in inside[last + 1 : rest])


def _cuts_a_name(inside: Sequence[Word], found: Sequence[int]) -> bool:
    """Is a part of a longer name taken for the whole of it?"""
    pairs = ((n, n + 1) for n in found if n + 1 < len(inside) and n + 1 not in found)
    return any(inside[n].is_name and inside[m].is_name and inside[m].gap == " " for n, m in pairs)


def _date_words(passage: Passage) -> set[str]:
    """The words of the passage's date in any of its forms."""
    if not passage.date:
        return set()
    year, month, day = passage.date.split("-")
    name = month_name[int(month)].casefold()
    return {year, month, day, str(int(month)), str(int(day)), name, name[:3]}
