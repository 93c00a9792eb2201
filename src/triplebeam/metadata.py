"""Metadata in words: what a question may name of where and when a passage was written.

"What did TechCrunch report in October 2023?" names a source and a date, which stand in the fields of a row and not in
its text. Fields of the file system (its path, its type, when it was modified) say nothing that a question asks for.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date

#: Of the metadata of a file, what comes from the file system; it may change while the document does not.
FILE_FIELDS = frozenset(("path", "type", "modified"))
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ].*)?")
_LONGEST_NAME = 100
_LETTER = re.compile(r"[^\W\d_]")
#: In English, whatever the system's language is.
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def metadata_terms(metadata: Mapping[str, str]) -> Iterator[str]:
    """What goes into the term index: dates in words, and names twice, as the words of a title.

    A name is a short text; an address, a number or a whole text in a field is none.
    """
    for field, value in metadata.items():
        if field in FILE_FIELDS:
            continue
        if day := _day(value.strip()):
            yield f"{_MONTHS[day.month - 1]} {day.day} {day.year}"
        elif len(value) <= _LONGEST_NAME and _LETTER.search(value) and "://" not in value:
            yield f"{value}\n{value}"


def _day(value: str) -> date | None:
    match = _DATE.fullmatch(value)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None
