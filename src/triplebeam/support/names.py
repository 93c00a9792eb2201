"""Where words mention an entity: most words of its name close together, its surname, or its date in any writing."""

from calendar import month_name
from collections.abc import Iterator, Sequence
from itertools import takewhile

from triplebeam.support.page import Page
from triplebeam.text.stop_words import LIGHT_WORDS, REFLEXIVES, word_set
from triplebeam.text.words import Word, content, words_of
from triplebeam.triple import Triple

_MONTH = {name[:length].casefold(): n for n, name in enumerate(month_name) if n for length in (3, len(name))}
_MAX_DATE_WORDS = 4
#: With a capital letter behind a name, no part of it: "Directed by Ann Lee Produced by Per Lund Released 1985".
_ROW_STARTS = word_set("born created died directed established founded produced published released starring written")
#: Content words of a name from which on a third of them may be missing.
_MIN_LONG_NAME_WORDS = 4
#: So many words that are not part of the name may be among its words.
_STRANGERS = 2


def mentions(entity: str, page: Page, places: range) -> list[range]:
    """Find the places of all mentions among some words of a page."""
    whole, name = words_of(entity), content(entity)
    if is_date(entity):
        return list(_dates(_date_of(whole), page.words, places))
    found = [_widen_mention(each, whole, name, page.words) for each in _find_name(name, page.words, places)]
    found = found or (list(_surnames(name, page, places)) if name == whole else [])
    return [*found, *_reflexives(found, page.words, places)]


def object_mentions(triple: Triple, page: Page, places: range) -> list[range]:
    """Find the places of all mentions of a triple's object; if it has none, of the rows of a table that have it."""
    return mentions(triple.object, page, places) or _row_values(triple, page, places)


def _row_values(triple: Triple, page: Page, places: range) -> list[range]:
    """Where the object is a value in a table without punctuation: right behind its predicate, before another row."""
    row, size = [word.folded for word in words_of(f"{triple.predicate} {triple.object}")], len(words_of(triple.object))
    ends = [n for n, word in enumerate(page.words) if word.key in _ROW_STARTS and word.is_name and n <= places.stop]
    rows = [range(end - len(row), end) for end in ends if end - len(row) >= places.start]
    found = [each for each in rows if [page.words[n].folded for n in each] == row]
    return [each[-size:] for each in found] if 0 < size < len(row) else []


def is_date(entity: str) -> bool:
    """Return whether the entity is a date or a year."""
    return bool(_date_of(words_of(entity)))


def is_title(entity: str, page: Page) -> bool:
    """Decide whether a passage is about the entity: it has the title's words, or at least half and no others."""
    name, title, whole = _fold_words(content(entity)), _fold_words(page.title_words), _fold_words(content(page.title))
    if is_date(entity) and name != whole:  # a chat is not about its day
        return False
    has_other_number = any(map(str.isdecimal, name - whole))  # "Season 12" is not "Season 6"
    return not has_other_number and 2 * len(name & title) >= len(title) > 0 and (title <= name or name <= whole)


def _widen_mention(mention: range, whole: Sequence[Word], name: Sequence[Word], words: Sequence[Word]) -> range:
    """Widen a mention by the light words that the entity begins or ends with: "On Broadway", "Stroh's"."""
    opening = {word.key for word in whole[: whole.index(name[0])]}
    closing = {word.key for word in whole[whole.index(name[-1]) + 1 :]}
    before = takewhile(lambda place: words[place].key in opening, range(mention.start - 1, -1, -1))
    behind = takewhile(lambda place: words[place].key in closing, range(mention.stop, len(words)))
    return range(mention.start - len(list(before)), mention.stop + len(list(behind)))


def _reflexives(found: Sequence[range], words: Sequence[Word], places: range) -> Iterator[range]:
    """Where a reflexive pronoun refers to the entity, being the last that is named before: "sung by herself"."""
    for place in places:
        if words[place].key in REFLEXIVES:
            last = next((each for each in reversed(places[: places.index(place)]) if words[each].is_name), -1)
            if any(last in mention for mention in found):
                yield range(place, place + 1)


def _fold_words(words: Sequence[Word]) -> set[str]:
    return {word.folded for word in words}


def _find_name(name: Sequence[Word], words: Sequence[Word], places: range) -> list[range]:
    """Find the shortest stretches that have the words of a name, no two of which overlap."""
    wanted = _fold_words(name)
    fewest = len(wanted) - (len(wanted) // 3 if len(wanted) >= _MIN_LONG_NAME_WORDS else 0)
    is_phrase = not all(word.is_name for word in name)
    fixed = _fold_words([word for word in name if word.is_name or word.text[0].isdigit()]) if is_phrase else set()
    stretches = []
    for first in places:
        if words[first].folded in wanted:
            last, found = _extent(wanted, words, first, places.stop)
            is_there = found >= fewest and fixed <= _fold_words(words[first:last])
            if is_there and _is_whole(words, first, last):
                stretches.append((-found, last - first, first))
    kept: list[range] = []
    for _, length, first in sorted(stretches):
        if all(first >= each.stop or first + length <= each.start for each in kept):
            kept.append(range(first, first + length))
    return sorted(kept, key=lambda each: each.start)


def _extent(wanted: set[str], words: Sequence[Word], first: int, stop: int) -> tuple[int, int]:
    """Find the end of the words of a name that begin at a place, and how many they are."""
    found, last, strangers = {words[first].folded}, first + 1, 0
    for place in range(first + 1, stop):
        if words[place].folded in wanted - found:
            found.add(words[place].folded)
            last = place + 1
        elif words[place].key not in LIGHT_WORDS:
            strangers += 1
        if strangers > _STRANGERS or found == wanted:
            break
    return last, len(found)


def _is_whole(words: Sequence[Word], first: int, last: int) -> bool:
    """Not the beginning of a longer name, nor a part of a compound: not "Paris" in "Paris Hilton"."""
    after = words[last].gap if last < len(words) else ""
    longer = after == " " and words[last - 1].is_name and words[last].is_name
    return not longer and "-" not in (words[first].gap, after)


def _surnames(name: Sequence[Word], page: Page, places: range) -> Iterator[range]:
    """Find the last word of a name of several, where the passage or title has the whole name and no one shares it."""
    found, in_title = [], _fold_words(name) <= _fold_words(page.title_words)
    known = in_title or _find_name(name, page.words, range(len(page.words)))
    if not known or len(name) < 2 or not (in_title or all(word.is_name for word in name)):
        return
    for place, word in enumerate(page.words):
        if word.folded == name[-1].folded and word.is_name:
            first = _first_of_name(page.words, place)
            if _fold_words(page.words[first:place]) <= _fold_words(name):
                found.append(range(first, place + 1))
            elif not in_title:
                return  # somebody else has this surname
    yield from (each for each in found if each.start in places)


def _first_of_name(words: Sequence[Word], last: int) -> int:
    """Where the name begins that ends at a place: "Ann Lee", "A. Lee"."""
    before, gap = words[last - 1], words[last].gap
    joined = gap == " " or (gap == ". " and len(before.key) == 1)
    return _first_of_name(words, last - 1) if last and before.is_name and joined else last


def _dates(wanted: dict[str, int], words: Sequence[Word], places: range) -> Iterator[range]:
    """Dates that imply the one named: a full date implies its year, not the other way round."""
    for first in places:
        for last in range(first + 1, min(first + _MAX_DATE_WORDS, places.stop) + 1):
            if wanted.items() <= _date_of(words[first:last]).items():
                yield range(first, last)
                break


def _date_of(words: Sequence[Word]) -> dict[str, int]:
    """Parse the parts of the date that these words are, and nothing else: August 25, 1963, 1963-08-25."""
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
