"""A passage with its speakers, defined terms, list heads and days written out, so that each sentence can stand alone.

    Mira: I went there yesterday.           ->  Mira: Mira went there yesterday (2024-05-02).
    max_delay / This parameter is fixed.    ->  max_delay: max_delay is fixed.
    Formats: / - CSV                        ->  Formats: CSV

What the check reads is made here, once for each passage; the check itself knows nothing of chats or manuals. A place in
the passage's own text is found in the new one by `Resolved.place`.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from triplebeam.passage import Passage
from triplebeam.text.sentences import sentence_spans
from triplebeam.text.stop_words import word_set

#: Ends at an empty line.
PARAGRAPH = re.compile(r"(?:(?!\n[ \t]*\n).)+", re.DOTALL)
#: A line of a chat or a transcript: perhaps a time, a name, perhaps something in brackets, a colon.
_TURN = re.compile(
    r"^(?:[\[(]?[\d/:., -]{4,20}(?:[AP]M)?[\])]?\s*+(?:[-–]\s*+)?)?"
    r"(?P<speaker>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,3})(?: ?[\[(][^\])\n]{1,40}[\])])?:[ \t]+(?=\S)",
    re.MULTILINE,
)
#: What stands before a colon in a manual.
_LABELS = word_set(
    "default required introduced changed deprecated added note notes warning tip important example type name usage"
    " syntax value values returns parameters description version see subtype a q from to subject date cc summary"
)
#: In lines, on average, where several talk.
_MAX_SPEAKER_WORDS = 6
HUMP = re.compile(r"(?<=[a-z])(?<!\bMc)(?<!\bMac)(?=[A-Z])")
#: A line that is a defined term: an option, a setting, or a name in the spelling of code, alone on its line.
_TERM = re.compile(
    r"^[ \t]*(?P<term>(?:-{1,2}\w|/\w|\w+[_.]\w*|\w+=(?=\W*$)|[A-Z]\w*[a-z][A-Z]\w*|[A-Z]{3,}|`)[^\n]{0,80}?"
    r"|(?:(?<=\n\n)|\A)[a-z][\w-]+(?=\n\n))[ \t]*+(?::[ \t]*+)?$",
    re.MULTILINE,
)
_THIS = re.compile(
    r"\b(?:This|The|this) (?:option|parameter|setting|command|variable|directive|flag|keyword|function|method|field"
    r"|value|argument|property|attribute|switch|key)\b(?! (?:of|for|in|named|called|that|which)\b)"
)
_ITEM = re.compile(r"^[ \t]*(?:[-*•+]|\d{1,2}[.)])[ \t]+(?=\S)", re.MULTILINE)
#: What leads to a list: a line that ends with a colon, or a sentence that says "the following".
_LEAD = re.compile(
    r"^(?P<lead>[^\n]{3,200}):[ \t]*$|^=== \"(?P<tab>[^\"\n]+)\""
    r"|(?=[^\n]*[.:]\s)(?P<following>[^\n]{0,300}\bthe following\b[^\n]*?)[.:](?=\s)",
    re.MULTILINE,
)
#: The condition that a list stands under is not repeated with each item.
_CONDITION = re.compile(r"(?:.*[.!?] )?(?:(?:If|When)\b[^,\n]*, )?", re.DOTALL)
#: A file of settings: the name of a section, and its lines.
_SECTION = re.compile(
    r"^(?P<section>\[[^\]\n]+\])[ \t]*\n(?P<lines>(?:[ \t]*(?:[\w.]+ ?=|[;#])[^\n]*\n?)+)", re.MULTILINE
)
_LINE = re.compile(r"^(?=[ \t]*(?:[\w.]+ ?=|[;#]))", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*(?P<edge>\|?)(?P<cells>[^\n|]+\|[^\n]*?)\|?[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"[\s|:-]*")
#: What a speaker calls himself and, in a talk of two, the other.
_PERSONS = re.compile(
    r"(?<![\w'’])(?:(?P<i_am>I(?:['’]m| am))|(?P<i_have>I(?:['’]ve| have))|(?P<i_will>I['’]ll)|(?P<i>I|me|myself)"
    r"|(?P<my>my|mine)|(?P<you_are>you(?:['’]re| are))|(?P<you_have>you(?:['’]ve| have))|(?P<you>you|yourself)"
    r"|(?P<your>yours?)|(?P<we>we|us)|(?P<our>ours?))(?![\w'’])",
    re.IGNORECASE,
)
_ENDINGS = {"am": " is", "are": " is", "have": " has", "will": " will", "my": "'s", "your": "'s", "our": "'s"}
DAYS = re.compile(r"\b(?:today|tonight|this morning|yesterday|last night|tomorrow)\b", re.IGNORECASE)
_DAYS_LATER = {"yesterday": -1, "last night": -1, "tomorrow": 1}


class Change(NamedTuple):
    """What stands in the place of a stretch of the text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Resolved:
    """A passage's text after some changes, which are in the order of their places and do not overlap."""

    original: str
    changes: Sequence[Change]
    speakers: Sequence[tuple[int, str]] = ()
    """Where each speaker begins to speak, in the order of the text."""

    @cached_property
    def text(self) -> str:
        """The new text."""
        ends = [0, *(each.end for each in self.changes)]
        pieces = (
            f"{self.original[end : each.start]}{each.text}" for end, each in zip(ends, self.changes, strict=False)
        )
        return "".join([*pieces, self.original[ends[-1] :]])

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Find a stretch of the passage in the new text, with whatever was put before it."""
        return self._move_place(start, opening=True), self._move_place(end, opening=False)

    def _move_place(self, place: int, *, opening: bool) -> int:
        moved = 0
        for each in self.changes:
            grown = len(each.text) - (each.end - each.start)
            if each.end < place or (each.end == place and not (opening and each.start == each.end)):
                moved += grown
            elif each.start < place:  # inside what was replaced: all of it counts
                return each.start + moved + (0 if opening else len(each.text))
            else:
                break
        return place + moved

    def speaker_at(self, place: int) -> str:
        """Name who speaks at a place of the passage's own text; empty where nobody does."""
        return next((speaker for start, speaker in reversed(self.speakers) if start <= place), "")

    def head_at(self, start: int, end: int) -> str:
        """Return what is written before a sentence: its speaker, its term, its section or what leads to its list."""
        return next((each.text for each in self.changes if start <= each.end <= end and each.text.endswith(": ")), "")

    def list_speakers(self, start: int, end: int) -> list[str]:
        """List who begins to speak within a stretch of the passage's own text."""
        return [speaker for place, speaker in self.speakers if start <= place < end]


@lru_cache(maxsize=128)
def resolve(text: str, day: str = "") -> Resolved:
    """Write out what the sentences of a text leave to its layout; the day is the one that the text is from."""
    turns = [each for each in _TURN.finditer(text) if each["speaker"].casefold() not in _LABELS]
    lines = sum(map(bool, map(str.strip, text.splitlines())))
    spoken = len(turns) > 1 or any(str(each.lastgroup)[:2] in ("i_", "my") for each in _PERSONS.finditer(text))
    longest = _MAX_SPEAKER_WORDS if len(set(map(_name, turns))) > 1 else 2
    if turns and spoken and longest * len(turns) >= lines:
        changes = [*_name_speakers(text, turns), *_add_dates(text, day)]
        speakers = [(each.start(), _name(each)) for each in turns]
    else:
        changes, speakers = (
            [*_settings(text), *_define_terms(text), *_complete_list_items(text), *_write_out_tables(text)],
            [],
        )
    kept: list[Change] = []
    for change in sorted(changes):
        if not kept or change.start >= kept[-1].end:
            kept.append(change)
    return Resolved(text, tuple(kept), tuple(speakers))


def resolve_passage(passage: Passage) -> Resolved:
    """Write out the layout of a passage."""
    return resolve(passage.text, passage.date)


def _name(turn: re.Match[str]) -> str:
    """Write a speaker's name as people do: "Li Hua" for LiHua."""
    return HUMP.sub(" ", turn["speaker"])


def _name_speakers(text: str, turns: Sequence[re.Match[str]]) -> Iterator[Change]:
    """Each turn begins anew, and its speaker and, in a talk of two, the other one are named for "I" and "you"."""
    speakers = list(dict.fromkeys(map(_name, turns)))
    for turn, end in zip(turns, [*(each.start() for each in turns[1:]), len(text)], strict=False):
        me = _name(turn)
        [*others] = (each for each in speakers if each != me)
        yield Change(turn.start(), turn.end(), f"{chr(10) if turn.start() else ''}{me}: ")
        for start, _ in sentence_spans(text, turn.end(), end):
            if start > turn.end():
                yield Change(start, start, f"{me}: ")
        for person in _PERSONS.finditer(text, turn.end(), end):
            kind, ending = str(person.lastgroup).partition("_")[::2]
            named = _name_pronoun(kind, me, others[0] if len(others) == 1 else "")
            if named and not (kind == "i" and not ending and person[0] == "i"):
                yield Change(*person.span(), named + _ENDINGS.get(ending or kind, ""))


def _name_pronoun(kind: str, me: str, other: str) -> str:
    if kind in ("i", "my"):
        return me
    return other if kind in ("you", "your") else f"{me} and {other}" if other else ""


def _add_dates(text: str, day: str) -> Iterator[Change]:
    """Add the date after "yesterday" and the like."""
    if day:
        for each in DAYS.finditer(text):
            later = _DAYS_LATER.get(each[0].casefold(), 0)
            with suppress(OverflowError):  # of a date without end, 9999-12-31
                meant = date.fromisoformat(day) + timedelta(later)
                yield Change(each.end(), each.end(), f" ({meant.isoformat()})")


def _define_terms(text: str) -> Iterator[Change]:
    """Put the term before each sentence of its entry, which begins anew."""
    terms = list(_TERM.finditer(text))
    for term, end in zip(terms, [*(each.start() for each in terms[1:]), len(text)], strict=False):
        paragraphs = PARAGRAPH.finditer(text, term.end(), end)
        spans = [span for each in paragraphs for span in sentence_spans(text, *each.span())]
        if spans:
            yield Change(term.start(), spans[0][0], f"{chr(10) if term.start() else ''}{term['term']}: ")
        for number, (start, stop) in enumerate(spans):
            if number:
                yield Change(start, start, f"{term['term']}: ")
            for this in _THIS.finditer(text, start, stop):
                yield Change(*this.span(), term["term"])


def _settings(text: str) -> Iterator[Change]:
    """Put the name of its section before each line of settings."""
    for section in _SECTION.finditer(text):
        for line in _LINE.finditer(text, section.start("lines"), section.end("lines")):
            yield Change(line.start(), line.start(), f"\n{section['section']}: ")


def _complete_list_items(text: str) -> Iterator[Change]:
    """Put the line that leads to a list before each of its items."""
    leads = list(_LEAD.finditer(text))
    for item in _ITEM.finditer(text):
        found = next((each for each in reversed(leads) if each.end() < item.start()), None)
        lead = _CONDITION.sub("", found[str(found.lastgroup)], count=1).strip() if found else ""
        yield Change(*item.span(), f"\n{lead}: " if lead else "\n")


def _write_out_tables(text: str) -> Iterator[Change]:
    """Put each cell of a table behind the head of its column; in Markdown a rule follows the heads."""
    heads: list[str] = []
    for before, row in pairwise([None, *_ROW.finditer(text)]):
        cells = [cell.strip() for cell in row["cells"].split("|")] if row else []
        if before and row and _RULE.fullmatch(row["cells"]):
            heads = [cell.strip() for cell in before["cells"].split("|")]
        elif row and heads:
            said = ", ".join(f"{head} {cell}".strip() for head, cell in zip(heads, cells, strict=False) if cell)
            yield Change(*row.span(), f"\n{said}.")
        elif row and not row["edge"]:
            heads = cells
