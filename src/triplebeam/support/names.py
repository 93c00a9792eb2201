"""Where words mention an entity: most words of its name close together, its surname, or its date in any writing."""

from calendar import month_name
from collections.abc import Iterator, Sequence
from itertools import takewhile

from triplebeam.support.page import Page
from triplebeam.support.vocabulary import LIGHT
from triplebeam.support.words import Word, content, is_role, words_of

_MONTH = {name[:length].casefold(): n for n, name in enumerate(month_name) if n for length in (3, len(name))}
_LONGEST_DATE = 4
#: Of a name of at least so many content words, a third may be missing.
_LONG_NAME = 4
#: So many words that are not part of the name may be among its words.
_STRANGERS = 2


def mentions(entity: str, page: Page, places: range) -> list[range]:
    """The places of all mentions among some words of a page, in order."""
    wanted = date_of(words_of(entity))
    if wanted:
        return list(_dates(wanted, page.words, places))
    name = content(entity)
    if not name:
        return []
    if name[0].is_number and _folded(name[1:]) <= _folded(page.title_words):
        name = name[:1]  # "27 World Series", where the passage about it says "won 27"
    owned = entity.endswith(("'s", "’s"))  # "Stroh's", a beer
    found = [range(each.start, each.stop + owned) for each in _named(name, page.words, places)]
    opening = {word.key for word in takewhile(lambda word: word.key in LIGHT, words_of(entity))}
    found = [_opened(each, opening, page.words) for each in found]
    return found or (list(_surnames(name, page, places)) if len(name) == len(words_of(entity)) else [])


def is_date(entity: str) -> bool:
    """The entity is a date or a year."""
    return bool(date_of(words_of(entity)))


def is_title(entity: str, page: Page, part: float = 0.5) -> bool:
    """The entity is what the passage is about: it shares its words with the title, or has at least a part of them."""
    name, title = _folded(content(entity)), _folded(page.title_words)
    shared = name & title
    if not shared:
        return False
    return title <= name or (name <= _folded(content(page.title)) and len(shared) >= part * len(title))


def _opened(mention: range, opening: set[str], words: Sequence[Word]) -> range:
    """A mention with the light words before it that the entity begins with as well: "by the early 1980s"."""
    first = mention.start
    while first and words[first - 1].key in opening:
        first -= 1
    return range(first, mention.stop)


def _folded(words: Sequence[Word]) -> set[str]:
    return {word.folded for word in words}


def _named(name: Sequence[Word], words: Sequence[Word], places: range) -> list[range]:
    """The shortest stretches that have the words of a name, no two of which overlap."""
    wanted = _folded(name)
    fewest = len(wanted) - (len(wanted) // 3 if len(wanted) >= _LONG_NAME else 0)
    stretches = []
    for first in places:
        if words[first].folded in wanted:
            last, found = _extent(wanted, words, first, places.stop)
            if len(found) >= fewest and _is_whole(name, words, first, last):
                stretches.append((-len(found), last - first, first))
    kept: list[range] = []
    for _, length, first in sorted(stretches):
        if all(first >= each.stop or first + length <= each.start for each in kept):
            kept.append(range(first, first + length))
    return sorted(kept, key=lambda each: each.start)


def _extent(wanted: set[str], words: Sequence[Word], first: int, stop: int) -> tuple[int, set[str]]:
    """The end of the words of a name that begin at a place, and which they are."""
    found, last, strangers = {words[first].folded}, first + 1, 0
    for place in range(first + 1, stop):
        if words[place].folded in wanted - found:
            found.add(words[place].folded)
            last = place + 1
        elif words[place].key not in LIGHT:
            strangers += 1
        if strangers > _STRANGERS or found == wanted:
            break
    return last, found


def _is_whole(name: Sequence[Word], words: Sequence[Word], first: int, last: int) -> bool:
    """Not a piece of a longer name or compound: not "Paris" in "Paris Hilton"."""
    after = words[last] if last < len(words) else None
    if words[first].gap == "-" or (after and after.gap == "-"):
        return False
    if not words[last - 1].is_name:
        return True
    if after and after.is_name and after.gap == " ":
        return False
    if len(name) > 1:
        return True
    opens = first < 2 or "." in words[first - 1].gap  # "Eventually Apple": the capital of a first word is no name's
    led = not opens and words[first - 1].is_name and not is_role(words[first - 1].key) and words[first].gap == " "
    return not led


def _surnames(name: Sequence[Word], page: Page, places: range) -> Iterator[range]:
    """The last word of a name of several, where the passage or its title has the whole name."""
    last = name[-1]
    if len(name) < 2 or not all(word.is_name for word in name) or len(last.key) < 3:
        return
    if not _folded(name) <= _folded(page.title_words) and not any(_named(name, page.words, range(len(page.words)))):
        return
    found = []
    for place in range(len(page.words)):
        if page.words[place].folded == last.folded:
            first = place
            while first and page.words[first - 1].is_name and _is_inside(page.words[first - 1], page.words[first]):
                first -= 1
            if _folded(page.words[first:place]) <= _folded(name):
                found.append(range(first, place + 1))
            elif not _folded(name) <= _folded(page.title_words):
                return  # somebody else has this surname
    yield from (each for each in found if each.start in places)


def _is_inside(before: Word, word: Word) -> bool:
    """Two words are parts of one name: "Ann Lee", "A. Lee"."""
    return word.gap == " " or (word.gap == ". " and len(before.key) == 1)


def _dates(wanted: dict[str, int], words: Sequence[Word], places: range) -> Iterator[range]:
    """Dates that imply the one named: a full date implies its year, not the other way round."""
    for first in places:
        for last in range(first + 1, min(first + _LONGEST_DATE, places.stop) + 1):
            if wanted.items() <= date_of(words[first:last]).items():
                yield range(first, last)
                break


def date_of(words: Sequence[Word]) -> dict[str, int]:
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
