"""Rows of tables as facts about what their first column names: (first cell, header, cell). No parser reads them.

A table stands in a passage as lines with bars between their cells (`Composer`), a row of a CSV file as a paragraph of
``name: value``. Empty cells leave no trace between bars, so a row with fewer cells than the header has states nothing.
Where a passage begins in the middle of a table its header is unknown, and nothing is stated either.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from triplebeam.extract.local.lexicon import get_words
from triplebeam.extract.local.prepare.prose import drop_code
from triplebeam.passage import Passage
from triplebeam.text.names import entity_key

Row: TypeAlias = tuple[str, str, str]

_MAX_PART_CHARACTERS = 120
_UNITS = get_words("units")
_EMPTY_NOUNS = get_words("empty_nouns") | {"it", "he", "she", "they", "you"}
_SIGNS = re.compile(r"[|{}<>=#\\→*^\[\]]|https?:")
_PLACE_IN_TEXT = re.compile(
    r"(?i:section|chapter|figure|table|appendix|example|page|step|note|part)s?(?: [\dA-Z][\d.]*)?$"
)
_LETTERS = re.compile(r"[^\W\d_]{2}|(?:[A-Z]\.){2}|[A-Z]\d|[A-Z]-\d")
_DATED = re.compile(r"\d{4}|\d:\d|\d(?:st|nd|rd|th)\b")
#: The most facts of one passage's tables.
MAX_FACTS = 100
_MAX_NAME, _MAX_CELL, _MAX_HEADER = 60, 80, 40
_BAR = " | "
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_FIELD = re.compile(r"(?P<name>[^:\n]{1,40}): (?P<value>\S.*)")
_CSV = ("csv", "tsv")
#: Two capitalised words, a digit, or signs within: how names and codes are written, and labels of fields are not.
_LIKE_A_NAME = re.compile(r"\d|[A-Z]\w* [A-Z]|\w[_./:-]\w|^\W|[a-z][A-Z]|[A-Z]{2}")
_ROW_NUMBER = re.compile(r"\W*\d*\W*")
_COMMAND = re.compile(r"^[$>]|[=;~\"$]|(?:^|\s)-{1,2}\w|/\w+/|\./|\w\.\w")
_SENTENCE_END = (".", "!", "?", ":", ",", ";")


def is_worth_naming(name: str) -> bool:
    """Return whether this is a name: two letters or a date, but no unit, pronoun, bare number or empty noun."""
    if name in _EMPTY_NOUNS or name.casefold() in _UNITS or _SIGNS.search(name) or _PLACE_IN_TEXT.match(name):
        return False
    return _LETTERS.search(name) is not None or _DATED.search(name) is not None


def keep_worthy(rows: Iterable[Row]) -> list[Row]:
    """Once each under the normal form, with two ends of bearable length, and not what a longer row says as well."""
    kept: dict[tuple[str, ...], Row] = {}
    for row in rows:
        keys = tuple(entity_key(part) for part in row)
        if keys[0] != keys[2] and max(len(part) for part in row) <= _MAX_PART_CHARACTERS and _names_two(row):
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


def is_csv(passage: Passage) -> bool:
    """Return whether the passage is of a file whose rows are paragraphs of ``name: value``."""
    return passage.metadata.get("type") in _CSV


def extract_tables(passage: Passage) -> list[Row]:
    """Return what the tables of a passage state, row by row, and at most ``MAX_FACTS`` facts."""
    facts = _read_csv(passage) if is_csv(passage) else _read_bars(passage)
    return [row for row, _ in zip(facts, range(MAX_FACTS), strict=False)]


def _read_csv(passage: Passage) -> Iterator[Row]:
    """Of the paragraphs that begin with the same column; one that begins with another is the end of a row."""
    rows = [_split_fields(block) for block in _BLANK_LINE.split(passage.text)]
    whole = rows[0][:1] if passage.position == 0 else rows[-1][:1] if len(rows) > 1 else []
    for fields in rows:
        if whole and fields[:1] and fields[0][0] == whole[0][0]:
            yield from _read_row(*zip(*fields, strict=True))


def _split_fields(block: str) -> list[tuple[str, str]]:
    return [(match["name"].strip(), match["value"]) for line in block.split("\n") if (match := _FIELD.fullmatch(line))]


def _read_bars(passage: Passage) -> Iterator[Row]:
    """Of each table whose header is in the passage."""
    for number, block in enumerate(_BLANK_LINE.split(drop_code(passage.text).strip())):
        header, *rows = (line.strip().split(_BAR) for line in block.split("\n"))
        begins = number > 0 or passage.position == 0
        if begins and _is_header(header) and rows and _names_things(header, rows):
            for row in rows:
                if len(row) == len(header):
                    yield from _read_row(header, row)


def _is_header(cells: Sequence[str]) -> bool:
    """At least two columns, each with a short name of its own; the pipes of a shell command have none."""
    return (
        len(cells) > 1
        and len(set(cells)) == len(cells)
        and all(len(cell) <= _MAX_HEADER and not cell.endswith(_SENTENCE_END) for cell in cells)
        and all(any(map(str.isalpha, cell)) or cell == "#" for cell in cells)
        and not any(map(_COMMAND.search, cells))
    )


def _names_things(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Of two columns the first may be labels of fields, as in an infobox: then there is no header."""
    like_names = sum(_LIKE_A_NAME.search(row[0]) is not None for row in rows)
    return len(header) > 2 or 2 * like_names > len(rows)


def _read_row(header: Sequence[str], cells: Sequence[str]) -> Iterator[Row]:
    """About the first cell that names something: a row's number does not."""
    cells = [cell.replace("`", "").strip() for cell in cells]
    first = next((place for place, cell in enumerate(cells) if not _ROW_NUMBER.fullmatch(cell)), len(cells))
    if first == len(cells) or len(cells[first]) > _MAX_NAME or not is_worth_naming(cells[first]):
        return
    for name, cell in zip(header[first + 1 :], cells[first + 1 :], strict=True):
        if _says_something(cell):
            yield cells[first], name.replace("`", "").strip(), cell


def _says_something(cell: str) -> bool:
    """Short, and a name, a date or several words: ``boolean`` and ``yes`` say the same of half a table."""
    return len(cell) <= _MAX_CELL and (" " in cell or _LIKE_A_NAME.search(cell) is not None or not cell.islower())
