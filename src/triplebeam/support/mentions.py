"""Where a passage mentions an entity: by a name or part of it, a form of a date, or a word that means the title."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from triplebeam.support.coreference import coreferences, is_title
from triplebeam.support.dates import read_date
from triplebeam.support.page import Page, Word, without_article, words_of
from triplebeam.support.words import ARTICLES, LIGHT, PREPOSITIONS, listed

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
#: Behind these, the words before name the same thing: "EmArcy" is "EmArcy Records".
_KINDS = listed("company records corporation inc ltd language band")
_WIDEST_SKIP = 3
_LONGEST_DATE = 4


class Mention(NamedTuple):
    """Words ``first`` to ``last`` (not included) of a page mention an entity; a pronoun may refer to the title."""

    first: int
    last: int
    is_coreference: bool = False


def mentions_of(entity: str, page: Page) -> list[Mention]:
    """All mentions, in order of place."""
    name = without_article(words_of(entity))
    if not name:
        return []
    if is_title(name, page) and len(name) == len(page.title_words):
        name = page.title_words  # with the title's capitals
    found = [*_dates(name, page), *_verbatim(name, page)]
    found = found or list(_loose(name, page))
    if found or is_title(name, page):
        found += _parts(name, page)
    found += [Mention(place, place + length, is_coreference=True) for place, length in coreferences(name, page)]
    return sorted(set(found))


def is_date(entity: str) -> bool:
    """The entity is a date or a year."""
    return read_date(words_of(entity)) is not None


def _verbatim(name: Sequence[Word], page: Page) -> Iterator[Mention]:
    keys, words = [word.folded for word in name], page.words
    for first in range(len(words) - len(keys) + 1):
        last = first + len(keys)
        same = words[first].folded == keys[0] and [word.folded for word in words[first:last]] == keys
        if same and _is_whole_name(words, first, last, name):
            yield Mention(first, last)


def _is_whole_name(words: Sequence[Word], first: int, last: int, name: Sequence[Word]) -> bool:
    """Not a piece of a longer name, number or compound: not "Paris" in "Paris Hilton", nor "3" in "3.5"."""
    after = words[last] if last < len(words) else None
    before = words[first - 1] if first else None
    digits = name[-1].key[0].isdecimal() or name[0].key[0].isdecimal()
    if digits:
        tail = after is not None and after.gap in (".", ",") and after.key[0].isdecimal()
        head = before is not None and words[first].gap in (".", ",") and before.key[0].isdecimal()
        return not tail and not head
    if (after and after.gap == "-") or (before and words[first].gap == "-"):
        return False
    if not name[-1].capital:
        return True
    if after and after.gap == " " and after.capital and after.key not in LIGHT:
        return False
    # A single word may be a surname only where nothing that looks like a first name precedes it.
    lonely = len(name) == 1 and before is not None and words[first].gap == " "
    return not (lonely and before and before.capital and before.key not in LIGHT | _GENERIC)


def _loose(name: Sequence[Word], page: Page) -> Iterator[Mention]:
    """The words of the name, in order, with few words between: "oldest stadiums" in "oldest and modern stadiums"."""
    carrying = [word for word in name if word.key not in LIGHT] or list(name)
    proper = all(word.capital for word in carrying)
    if len(carrying) < 2 or (proper and any(word.key in PREPOSITIONS for word in name)):
        return
    for sentence in page.sentences:
        for first in range(sentence.first, sentence.last):
            last = _follow(carrying, page.words, first, sentence.last, 1 if proper else _WIDEST_SKIP)
            if last and _is_whole_name(page.words, first, last, carrying):
                yield Mention(first, last)


def _follow(carrying: Sequence[Word], words: Sequence[Word], first: int, end: int, skips: int) -> int:
    """The end of a loose match that begins at a word; 0 where there is none."""
    if words[first].folded != carrying[0].folded:
        return 0
    place = first
    for wanted in carrying[1:]:
        place += 1
        while place < end and words[place].folded != wanted.folded:
            if skips == 0 or words[place].verb or (wanted.capital and words[place].key == "and"):
                return 0
            skips -= words[place].key not in ARTICLES
            place += 1
        if place >= end:
            return 0
    return place + 1


def _parts(name: Sequence[Word], page: Page) -> Iterator[Mention]:
    """A surname or the head of a longer name, where no other name of the passage has the same part."""
    if len(name) < 2 or not all(word.capital and word.key not in LIGHT for word in name):
        return
    whole = [word.folded for word in name]
    if not any(word.key in _GENERIC for word in name):
        part = name[-1]
    elif len(name) == 2 and name[1].key in _KINDS:
        part = name[0]
    else:
        return
    others = [run for run in page.names if part.folded in {word.folded for word in run} and not _same(run, whole)]
    unclear = bool(others) and not (part is name[-1] and is_title(name, page))
    if unclear or len(part.key) < 3 or part.key.isdecimal():
        return
    for place, word in enumerate(page.words):
        if word.folded == part.folded and word.capital and _is_whole_name(page.words, place, place + 1, [part]):
            yield Mention(place, place + 1)


def _same(run: Sequence[Word], whole: Sequence[str]) -> bool:
    """A run of words with capitals is the name, with or without what comes before or after it."""
    folded = [word.folded for word in run]
    return set(folded) <= set(whole) or set(whole) <= set(folded)


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
