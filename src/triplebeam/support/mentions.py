"""Where a passage mentions an entity: by its name or a surname, by a date, or by a word for the title."""

from calendar import month_name
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from triplebeam.support.page import Page, Word, name_words, words_of
from triplebeam.support.words import DENIALS, LIGHT

_MONTH = {name[:length].casefold(): n for n, name in enumerate(month_name) if n for length in (3, len(name))}
_WIDEST_SKIP = 3
_LONGEST_DATE = 4


class Mention(NamedTuple):
    """Words ``first`` to ``last`` (not included) of a page mention an entity."""

    first: int
    last: int


def mentions_of(entity: str, page: Page) -> list[Mention]:
    """All mentions, in order of place."""
    name, title = name_words(entity), is_title(entity, page)
    if not name:
        return []
    found = [*_dates(name, page), *_named(name, page)]
    if found or title:
        found += _surnames(name, page, title)
    if title:
        starts = [sentence.subject for sentence in page.sentences if sentence.on_title]
        found += [Mention(place, place + 1) for place in starts if page.words[place].key not in DENIALS]
    return sorted(set(found))


def is_title(entity: str, page: Page) -> bool:
    """The entity is the title, a part of it of several words or before a comma, or its last word: a surname."""
    name, title = _folded(name_words(entity)), page.title_words
    whole = _folded(title)
    if not title or not name or name == whole:
        return bool(title and name)
    if len(name) == 1:
        before_comma = len(title) > 1 and title[1].gap.startswith(",")
        return name == (whole[:1] if before_comma else whole[-1:] if len(whole) in (2, 3) else [])
    shorter, longer = sorted((name, _folded(name_words(page.title))), key=len)
    return len(shorter) > 1 and any(longer[n : n + len(shorter)] == shorter for n in range(len(longer)))


def is_date(entity: str) -> bool:
    """The entity is a date or a year."""
    return bool(_date(words_of(entity)))


def _folded(words: Sequence[Word]) -> list[str]:
    return [word.folded for word in words]


def _named(name: Sequence[Word], page: Page) -> Iterator[Mention]:
    """The words of the name in order, with few between: "oldest stadiums" in "oldest and modern stadiums"."""
    carrying = [word for word in name if word.key not in LIGHT - {"and"}] or list(name)
    if carrying[0].key.isdecimal() and set(_folded(carrying[1:])) <= set(_folded(page.title_words)):
        carrying = carrying[:1]
    skips = 0 if carrying[0].key.isdecimal() else 1 if all(word.is_name for word in carrying) else _WIDEST_SKIP
    for first, word in enumerate(page.words):
        if word.folded == carrying[0].folded:
            last = _end(carrying, page.words, first, skips)
            if last and _is_whole(page.words, first, last):
                yield Mention(first, last)


def _end(carrying: Sequence[Word], words: Sequence[Word], first: int, skips: int) -> int:
    """The end of a match that begins at a word; 0 where there is none."""
    place = first
    for wanted in carrying[1:]:
        place += 1
        while place < len(words) and words[place].folded != wanted.folded:
            listed = wanted.is_name and words[place].key == "and"
            skips -= words[place].key not in LIGHT
            if skips < 0 or words[place].is_verb or listed or "." in words[place].gap:
                return 0
            place += 1
    return place + 1 if place < len(words) else 0


def _is_whole(words: Sequence[Word], first: int, last: int) -> bool:
    """Not a piece of a longer name, number or compound: not "Paris" in "Paris Hilton", nor "3" in "3.5"."""
    after = words[last] if last < len(words) else None
    before = words[first - 1] if first else None
    for one, other in ((before, words[first]), (words[last - 1], after)):
        if (
            one
            and other
            and (other.gap == "-" or (other.gap in ".," and one.key.isdecimal() and other.key.isdecimal()))
        ):
            return False
    if not words[last - 1].is_name:
        return True
    lonely = last - first == 1 and before is not None and before.is_name and words[first].gap == " "
    return not lonely and not (after and after.gap == " " and after.is_name)


def _surnames(name: Sequence[Word], page: Page, title: bool) -> Iterator[Mention]:
    """The last word of a name, unless another name of the passage has it too."""
    part, whole = name[-1], _folded(name)
    if len(name) < 2 or len(part.key) < 3 or not all(word.is_name and word.gap in (" ", ". ") for word in name[1:]):
        return
    for place, word in enumerate(page.words):
        if word.folded == part.folded and word.is_name:
            first = place
            while first and page.words[first - 1].is_name and page.words[first].gap == " ":
                first -= 1
            if set(_folded(page.words[first:place])) <= set(whole):
                yield Mention(first, place + 1)
            elif not title:
                return


def _dates(name: Sequence[Word], page: Page) -> Iterator[Mention]:
    """Dates that imply the one named: a full date implies its year, not the other way round."""
    wanted = _date(name)
    if "month" not in wanted:
        return
    for first in range(len(page.words)):
        for last in range(first + 1, min(first + _LONGEST_DATE, len(page.words)) + 1):
            if wanted.items() <= _date(page.words[first:last]).items():
                yield Mention(first, last)
                break


def _date(words: Sequence[Word]) -> dict[str, int]:
    """The parts of the date that these words are, and nothing else: 25 August 1963, August 25, 1963, 1963-08-25."""
    parts: dict[str, int] = {}
    for word in words:
        key = word.key[:-2] if word.key[:-2].isdecimal() and not word.key.isdecimal() else word.key  # 25th
        number = int(key) if key.isdecimal() and len(key) <= 4 else 0
        dashed = word.gap == "-" and "year" in parts and "month" not in parts
        part = "month" if key in _MONTH or dashed else "year" if number > 31 else "day" if number else ""
        if word.key in ("of", "the"):
            continue
        if not part or part in parts:
            return {}
        parts[part] = _MONTH.get(key, number)
    return parts if "month" in parts or (parts.keys() == {"year"} and parts["year"] > 999) else {}
