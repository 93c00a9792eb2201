"""Which stretches of a passage are prose, and in chats and interviews, who speaks them.

Code, tables, contents pages and headings are not read as sentences. In text whose lines begin with who speaks, *I* and
*you* have names.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from triplebeam.extract.local.lexicon import get_words
from triplebeam.text.stop_words import FUNCTION_WORDS
from triplebeam.text.words import compile_word

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_BULLET = re.compile(r"^[ \t]*(?:[-*+•·◦▪]|\(?\d{1,3}[.)]|\[\d+\])[ \t]+")
_EMPHASIS = re.compile(r"\*\*(?=\S)|(?<=\S)\*\*")
_SIGNS = re.compile(r"[¶\u200b-\u200d\ufe0f\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]+")
_LINE_BREAK_IN_WORD = re.compile(r"(?<=[a-z])\u2010\n[ \t]*(?=[a-z])")  # as pages of manuals are set
_DOT_LEADER = re.compile(r"(?:\. ?){4,}|…{2,}")
_CODE_LINE = re.compile(
    r"^\s*(?:[$#>%] |#|//|/\*|\.\. |[{}<\[(]|[\w.-]+ ?[:=]{1,2}=? ?[\w\"'$/{\[]*$)|[;{}\\]\s*$|[=!]=|&&|\|\|"
)
_CODE = re.compile(
    r"\w ?[-+|]?= ?[\w\"'(\[{]|\b(?:def|elif|return|import|const|void|int|char|struct|static|unsigned) \w|\w\.\w+\("
    r"|->|\)\s*[:;{]|>>>|\w\[\w+\]|\"\)|'\)"
)
_STAMP = re.compile(r"\b\d{1,2}[:.]\d{2} ?(?:[ap]\.?m\.?)? ?(?:[A-Z]{2,4} )?[—–-] ")
_WORD = compile_word(without=r"\d_", joined_by="'", flags=re.ASCII)
_ENDS = tuple(".!?:…\"'”’)。")
_FULL_LINE = 55
_MIN_WORDS = 3
#: A sentence of so few words may do without small ones: ``Marie Curie discovered polonium.``
_MAX_SHORT_WORDS = 8
_MIN_FUNCTION_WORD_SHARE = 0.2
_MAX_SIGN_SHARE = 0.08
_TURN = re.compile(
    r"^[ \t]*(?:\[[^\]\n]{4,30}\][ \t]*)?(?P<speaker>[A-Z][\w'-]*(?: [A-Z][\w'.-]*){0,3})"
    r"[ \t]*(?:\([^)\n]{3,30}\))?(?::[ \t]+|：)(?=\S)",
    re.MULTILINE,
)
_RUN_TOGETHER = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PERSONAL = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Ww]e|[Uu]s|[Oo]ur|[Yy]ou|[Yy]our)\b")
_ISO_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
#: Words that stand before a colon without speaking.
_NOT_SPEAKERS = get_words("not_speakers")


def extract_prose(text: str) -> str:
    """Return the paragraphs and list items that are prose, with a blank line between them."""
    return "\n\n".join(unit for unit in _units(drop_code(text)) if reads_like_prose(unit))


def drop_code(text: str) -> str:
    """Return the text without what stands between fences."""
    return _FENCE.sub("\n\n", text)


def reads_like_prose(unit: str) -> bool:
    """Return whether a text has the function words of English, ends like a sentence, and has few signs of code."""
    words = _WORD.findall(unit.replace("''", '"'))  # some texts close a quotation so: no apostrophe
    if len(words) < _MIN_WORDS or " | " in unit or _DOT_LEADER.search(unit):
        return False
    if 12 * len(_CODE.findall(unit)) > len(words):
        return False
    held = sum(word.lower() in FUNCTION_WORDS for word in words)
    signs = sum(unit.count(sign) for sign in "{}=|\\→<>")
    short = len(words) <= _MAX_SHORT_WORDS and unit.endswith((".", "!", "?"))
    return (
        (short or held >= _MIN_FUNCTION_WORD_SHARE * len(words))
        and signs <= _MAX_SIGN_SHARE * len(words)
        and (unit.endswith(_ENDS) or len(words) >= 4 * _MIN_WORDS)
    )


def _units(text: str) -> Iterator[str]:
    """Paragraphs and list items, each on one line: a line goes on where the one before it was full and did not end."""
    unit, last = "", ""
    for line in _plain_lines(text):
        item = _BULLET.sub("", line).strip()
        if not item or _CODE_LINE.search(line) or (line.startswith("    ") and not unit):
            yield from filter(None, [unit])
            unit = last = ""
            continue
        if unit and _goes_on(last, item, line):
            unit = f"{unit} {item}"
        else:
            yield from filter(None, [unit])
            unit = item
        last = item
    yield from filter(None, [unit])


def _plain_lines(text: str) -> list[str]:
    without_marks = _SIGNS.sub(" ", _STAMP.sub("", _EMPHASIS.sub("", _LINE_BREAK_IN_WORD.sub("", text))))
    return without_marks.expandtabs(8).splitlines()


def _goes_on(last: str, item: str, line: str) -> bool:
    if _BULLET.match(line):
        return False
    return (len(last) >= _FULL_LINE and not last.endswith((":",))) or (item[:1].islower() and not last.endswith(_ENDS))


class Turn(NamedTuple):
    """What one speaker says at a time."""

    speaker: str
    words: str


def split_turns(text: str) -> list[Turn]:
    """Return the turns of a dialogue; none where fewer than two lines name a speaker, or hardly any speaks twice."""
    starts = [match for match in _TURN.finditer(text) if match["speaker"] not in _NOT_SPEAKERS]
    speakers = {match["speaker"] for match in starts}
    opens = bool(starts) and not text[: starts[0].start()].strip()
    if len(starts) < 2 or not opens or (len(speakers) > 2 and len(starts) < 1.5 * len(speakers)):
        return []
    if 3 * len(_PERSONAL.findall(text)) < len(starts):
        return []  # "Type:" and "Function:" do not talk
    ends = [*(match.start() for match in starts[1:]), len(text)]
    return [
        Turn(_split_name(match["speaker"]), text[match.end() : end]) for match, end in zip(starts, ends, strict=True)
    ]


def _split_name(speaker: str) -> str:
    """``LiHua`` is Li Hua: the people of a chat call each other so."""
    return _RUN_TOGETHER.sub(" ", speaker) if len(speaker) > 4 and not speaker.startswith(("Mc", "Mac")) else speaker


class Speakers:
    """Who says *I* and who is *you* at each place of a text that is made of turns."""

    def __init__(self, turns: list[tuple[int, str]]) -> None:
        """Take ``turns``: where each turn begins in the text, and who speaks it."""
        self._starts = [start for start, _ in turns]
        self._names = [name for _, name in turns]
        self.all = list(dict.fromkeys(self._names))

    def speaker(self, position: int) -> str | None:
        """Who speaks at that place."""
        index = bisect_right(self._starts, position) - 1
        return self._names[index] if index >= 0 else None

    def addressee(self, position: int) -> str | None:
        """Return the other one of two speakers; among more it is not known who is meant."""
        others = [name for name in self.all if name != self.speaker(position)]
        return others[0] if len(others) == 1 else None


def extract_conversation(speakers: Speakers | None, heading: str) -> Iterator[tuple[str, str, str]]:
    """Who talked with whom, and on which day where the title gives it; in a crowd nobody knows who talks with whom."""
    if speakers is not None and len(speakers.all) == 2:
        date = _ISO_DATE.search(heading)
        yield speakers.all[0], f"talked on {date[0]} with" if date else "talked with", speakers.all[1]
