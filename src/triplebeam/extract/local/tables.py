"""Rows of tables as facts about what their first column names: (first cell, header, cell). No parser reads them.

A table stands in a passage as lines with bars between their cells (`Composer`), a row of a CSV file as a paragraph of
``name: value``. Empty cells leave no trace between bars, so a row with fewer cells than the header has states nothing.
Where a passage begins in the middle of a table its header is unknown, and nothing is stated either.
"""

import re
from collections.abc import Iterator, Sequence

from triplebeam.extract.local.prose import without_code
from triplebeam.extract.local.worth import Row, is_worth_naming
from triplebeam.passage import Passage

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


def is_csv(passage: Passage) -> bool:
    """The passage is of a file whose rows are paragraphs of ``name: value``."""
    return passage.metadata.get("type") in _CSV


def table_facts(passage: Passage) -> list[Row]:
    """What the tables of a passage state, row by row, and at most ``MAX_FACTS`` facts."""
    facts = _csv_facts(passage) if is_csv(passage) else _bar_facts(passage)
    return [row for row, _ in zip(facts, range(MAX_FACTS), strict=False)]


def _csv_facts(passage: Passage) -> Iterator[Row]:
    """Of the paragraphs that begin with the same column; one that begins with another is the end of a row."""
    rows = [_fields(block) for block in _BLANK_LINE.split(passage.text)]
    whole = rows[0][:1] if passage.position == 0 else rows[-1][:1] if len(rows) > 1 else []
    for fields in rows:
        if whole and fields[:1] and fields[0][0] == whole[0][0]:
            yield from _row_facts(*zip(*fields, strict=True))


def _fields(block: str) -> list[tuple[str, str]]:
    return [(match["name"].strip(), match["value"]) for line in block.split("\n") if (match := _FIELD.fullmatch(line))]


def _bar_facts(passage: Passage) -> Iterator[Row]:
    """Of each table whose header is in the passage."""
    for number, block in enumerate(_BLANK_LINE.split(without_code(passage.text).strip())):
        header, *rows = (line.strip().split(_BAR) for line in block.split("\n"))
        begins = number > 0 or passage.position == 0
        if begins and _is_header(header) and rows and _names_things(header, rows):
            for row in rows:
                if len(row) == len(header):
                    yield from _row_facts(header, row)


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


def _row_facts(header: Sequence[str], cells: Sequence[str]) -> Iterator[Row]:
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
