"""Chats and interviews: text whose lines begin with who speaks, so that *I* and *you* have names."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

_TURN = re.compile(
    r"^[ \t]*(?:\[[^\]\n]{4,30}\][ \t]*)?(?P<speaker>[A-Z][\w'-]*(?: [A-Z][\w'.-]*){0,3})"
    r"[ \t]*(?:\([^)\n]{3,30}\))?(?::[ \t]+|：)(?=\S)",
    re.MULTILINE,
)
_RUN_TOGETHER = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ISO_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
#: Words that stand before a colon without speaking.
_NOT_SPEAKERS_WORDS = "Note Warning Tip Example Caution Important See Usage Description Syntax Default Update"
_NOT_SPEAKERS = frozenset(_NOT_SPEAKERS_WORDS.split())
_FEWEST_TURNS = 2


class Turn(NamedTuple):
    """What one speaker says at a time."""

    speaker: str
    words: str


def turns_of(text: str) -> list[Turn]:
    """The turns of a dialogue; none where fewer than two lines name a speaker, or hardly any speaker speaks twice."""
    starts = [match for match in _TURN.finditer(text) if match["speaker"] not in _NOT_SPEAKERS]
    speakers = {match["speaker"] for match in starts}
    opens = bool(starts) and not text[: starts[0].start()].strip()
    if len(starts) < _FEWEST_TURNS or not opens or (len(speakers) > 2 and len(starts) < 1.5 * len(speakers)):
        return []
    ends = [*(match.start() for match in starts[1:]), len(text)]
    return [Turn(_full(match["speaker"]), text[match.end() : end]) for match, end in zip(starts, ends, strict=True)]


def _full(speaker: str) -> str:
    """``LiHua`` is Li Hua: the people of a chat call each other so."""
    return _RUN_TOGETHER.sub(" ", speaker) if len(speaker) > 4 and not speaker.startswith(("Mc", "Mac")) else speaker


class Speakers:
    """Who says *I* and who is *you* at each place of a text that is made of turns."""

    def __init__(self, turns: list[tuple[int, str]]) -> None:
        """``turns``: where each turn begins in the text, and who speaks it."""
        self._starts = [start for start, _ in turns]
        self._names = [name for _, name in turns]
        self.all = list(dict.fromkeys(self._names))

    def speaker(self, position: int) -> str | None:
        """Who speaks at that place."""
        index = bisect_right(self._starts, position) - 1
        return self._names[index] if index >= 0 else None

    def addressee(self, position: int) -> str | None:
        """The other one of two speakers; among more it is not known who is meant."""
        others = [name for name in self.all if name != self.speaker(position)]
        return others[0] if len(others) == 1 else None


def conversation_facts(speakers: Speakers | None, heading: str) -> Iterator[tuple[str, str, str]]:
    """Who talked with whom, and on which day where the title gives it; in a crowd nobody knows who talks with whom."""
    if speakers is not None and len(speakers.all) == 2:
        date = _ISO_DATE.search(heading)
        yield speakers.all[0], f"talked on {date[0]} with" if date else "talked with", speakers.all[1]
