"""Numbers that are a part of a name: ``Kestrel 4``, ``Python 3.12``, ``part 88-1042``."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.kinds import PROPER

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_NUMBER = re.compile(r"\d{1,4}(?:\.\d{1,3})?[A-Za-z]?")
_YEAR = re.compile(r"1\d{3}|20\d\d")
_NUMBERED_THINGS_WORDS = (
    "part item article error fault alarm code model type order ticket case issue bug form room unit flight route patent"
    " invoice contract licence license product spare valve bearing fuse relay sensor bolt seal kit cartridge"
)
_NUMBERED_THINGS = frozenset(_NUMBERED_THINGS_WORDS.split())
_HYPHENATED_CODE = re.compile(
    rf"\b(?:{'|'.join(_NUMBERED_THINGS_WORDS.split())}) (?P<code>\d{{1,6}}(?:-\d{{1,6}}){{0,4}}-\d{{3,6}})(?![\w–-])"
)
_CODE = re.compile(r"[A-Z]{1,4}-?\d[\w-]*|\d+[A-Z][\w-]*|[\d-]+-\d{3,6}|\d{4,}")
#: Kinds behind which a number is an amount, a score or a day.
_NOT_NUMBERED = frozenset(("NORP", "DATE", "TIME", "MONEY", "QUANTITY", "PERCENT", "CARDINAL", "ORDINAL"))


def numbered_names(doc: "Doc", names: "Iterable[Span]") -> "Iterator[Span]":
    """The names, given or written in capitals, that a number behind them belongs to, with that number."""
    ends = {name.end: name for name in names if len(name)}
    for number in doc[1:]:
        name = ends.get(number.i) or _proper_run(number)
        if name is not None and _is_part_of(number, name):
            yield _labelled(doc, name.start, number.i + 1, name.label_)


def _proper_run(number: "Token") -> "Span | None":
    """The proper nouns in a row before the number."""
    start = number.i
    while start and number.doc[start - 1].tag_ in PROPER:
        start -= 1
    return number.doc[start : number.i] if start < number.i else None


def _is_part_of(number: "Token", name: "Span") -> bool:
    """The parser counts nothing else with the number, it is no year and no score, and the name is not a person's."""
    if number.tag_ != "CD" or not _NUMBER.fullmatch(number.text) or _YEAR.fullmatch(number.text):
        return False
    counts = number.head.i not in range(name.start, name.end) or any(True for _ in number.children)
    kinds = {token.ent_type_ for token in name} | {name.label_}
    full_name = "PERSON" in kinds and len(name) > 1
    return not (counts or kinds & _NOT_NUMBERED or full_name or _goes_on(number)) and name[-1].tag_ in PROPER


def _goes_on(number: "Token") -> bool:
    """The number is one of a longer amount or date, or stands between two names as a score does."""
    following = number.doc[number.i + 1] if number.i + 1 < len(number.doc) else None
    if following is None:
        return False
    in_longer = following.ent_iob_ == "I" and bool(number.ent_type_)
    return in_longer or following.tag_ in (*PROPER, "CD") or following.text in ("–", "-", "/", ":", "%", "(")


def hyphenated_codes(text: str) -> list[tuple[int, int]]:
    """Where a code stands that the tokenizer would cut: ``88-1042`` behind ``part``."""
    return [match.span("code") for match in _HYPHENATED_CODE.finditer(text)]


def coded_things(doc: "Doc") -> "Iterator[Span]":
    """A common noun and the code behind it are one name: ``part 88-1042``, ``error E17``."""
    for noun in doc[:-1]:
        code = doc[noun.i + 1]
        tied = code.head == noun or noun.head == code
        if any(child.dep_ == "compound" for child in noun.lefts):
            continue  # "ZIP code 24738" is no "code 24738"
        if noun.lower_ in _NUMBERED_THINGS and tied and _CODE.fullmatch(code.text) and not _YEAR.fullmatch(code.text):
            yield _labelled(doc, noun.i, code.i + 1, "PRODUCT")


def _labelled(doc: "Doc", start: int, end: int, label: str) -> "Span":
    from spacy.tokens import Span

    return Span(doc, start, end, label=label)
