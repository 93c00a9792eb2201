"""Where a passage mentions an entity: by its name or a part of it, by a date, or by a word for the title."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from triplebeam.support.dates import read_date
from triplebeam.support.page import Page, Word, name_words, words_of
from triplebeam.support.words import DENIALS, LIGHT, listed

#: Words that are no name by themselves, though they are part of many: "Lake Michigan" is not "Michigan".
_GENERIC = listed(
    "north south east west northern southern eastern western new old great upper lower central lake river mount"
    " mountain battle university college school house county city town state states united national international royal"
    " saint st san santa los las el la de le company records band group club league union republic kingdom empire party"
    " church museum park island islands street road bridge fort cape port war first second american british french"
    " german jr sr president king queen prince princess sir lord lady pope emperor association society institute"
    " council court center centre hall theatre theater press award awards festival series film album army navy force"
    " station harbour harbor bay sea ocean valley hill hills beach heights language corporation inc ltd airport stadium"
    " district"
)
_WIDEST_SKIP = 3
_LONGEST_DATE = 4


class Mention(NamedTuple):
    """Words ``first`` to ``last`` (not included) of a page mention an entity."""

    first: int
    last: int


def mentions_of(entity: str, page: Page) -> list[Mention]:
    """All mentions, in order of place."""
    name = name_words(entity)
    if not name:
        return []
    found = [*_dates(name, page), *_loose(name, page)]
    if found or is_title(entity, page):
        found += _parts(name, page)
    if is_title(entity, page):
        found += _words_for_title(page)
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
    return any(longer[n : n + len(shorter)] == shorter for n in range(len(longer))) and len(shorter) > 1


def is_date(entity: str) -> bool:
    """The entity is a date or a year."""
    return read_date(words_of(entity)) is not None


def _folded(words: Sequence[Word]) -> list[str]:
    return [word.folded for word in words]


def _loose(name: Sequence[Word], page: Page) -> Iterator[Mention]:
    """The words of the name in order, with few between: "oldest stadiums" in "oldest and modern stadiums"."""
    carrying = [word for word in name if word.key not in LIGHT - {"and"}] or list(name)
    if carrying[0].key.isdecimal() and set(_folded(carrying[1:])) <= set(_folded(page.title_words)):
        carrying = carrying[:1]
    skips = 1 if all(word.is_name for word in carrying) else _WIDEST_SKIP
    for sentence in page.sentences:
        for first in range(sentence.first, sentence.last):
            if page.words[first].folded == carrying[0].folded:
                last = _follow(carrying, page.words, first, sentence.last, skips)
                if last and _is_whole_name(page.words, first, last, carrying):
                    yield Mention(first, last)


def _follow(carrying: Sequence[Word], words: Sequence[Word], first: int, end: int, skips: int) -> int:
    """The end of a loose match that begins at a word; 0 where there is none."""
    place = first
    for wanted in carrying[1:]:
        place += 1
        while place < end and words[place].folded != wanted.folded:
            if words[place].is_verb or (wanted.is_name and words[place].key == "and" and wanted.gap == " "):
                return 0
            skips -= words[place].key not in LIGHT
            place += 1
            if skips < 0:
                return 0
        if place >= end:
            return 0
    return place + 1


def _is_whole_name(words: Sequence[Word], first: int, last: int, name: Sequence[Word]) -> bool:
    """Not a piece of a longer name, number or compound: not "Paris" in "Paris Hilton", nor "3" in "3.5"."""
    after = words[last] if last < len(words) else None
    before = words[first - 1] if first else None
    if name[-1].key[0].isdecimal() or name[0].key[0].isdecimal():
        tail = after is not None and after.gap in (".", ",") and after.key[0].isdecimal()
        head = before is not None and words[first].gap in (".", ",") and before.key[0].isdecimal()
        return not tail and not head
    if (after and after.gap == "-") or (before and words[first].gap == "-"):
        return False
    if not words[last - 1].is_name:
        return True
    if after and after.gap == " " and after.is_name:
        return False
    # A single word may be a surname only where nothing that looks like a first name precedes it.
    lonely = len(name) == 1 and before is not None and words[first].gap == " "
    return not (lonely and before and before.is_name and before.key not in _GENERIC)


def _parts(name: Sequence[Word], page: Page) -> Iterator[Mention]:
    """A surname, where no other name of the passage has the same."""
    part, whole = name[-1], _folded(name)
    joined = all(word.is_name and word.gap in ("", " ", ". ") for word in name[1:])
    if len(name) < 2 or len(part.key) < 3 or part.key in _GENERIC or not joined:
        return
    for place, word in enumerate(page.words):
        if word.folded == part.folded and word.is_name:
            first = place
            while first and page.words[first - 1].is_name and page.words[first].gap == " ":
                first -= 1
            run = _folded(page.words[first:place])
            if all(each in whole for each in run):
                yield Mention(first, place + 1)
            elif not is_title(" ".join(w.text for w in name), page):
                return


def _words_for_title(page: Page) -> Iterator[Mention]:
    for sentence in page.sentences:
        if sentence.on_title and page.words[sentence.subject].key not in DENIALS:
            yield Mention(sentence.subject, sentence.subject + 1)


def _dates(name: Sequence[Word], page: Page) -> Iterator[Mention]:
    wanted = read_date(name)
    if wanted is None or not wanted.month:
        return
    for first in range(len(page.words)):
        for last in range(first + 1, min(first + _LONGEST_DATE, len(page.words)) + 1):
            said = read_date(page.words[first:last])
            if said and said.month and said.covers(wanted):
                yield Mention(first, last)
                break
