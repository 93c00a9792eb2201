"""Lines of a page as they were meant: hyphens at line ends, accents, ligatures, dotted lines, scraps of drawings."""

import re
import unicodedata
from itertools import groupby

#: PDFium's sign for a hyphen at a line's end, where it joins the two halves.
_JOINED_HYPHEN = re.compile("[\ufffe\u0002\u00ad]")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\r?\n(?=[a-zà-ÿ])")
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_ACCENTS = {"¨": "\u0308", "´": "\u0301", "ˆ": "\u0302", "˜": "\u0303", "ˇ": "\u030c", "¸": "\u0327", "˚": "\u030a"}
_SPLIT_ACCENT = re.compile(r"(?<=[^\W\d_])[ ]?([¨´ˆ˜ˇ˚])[ ]?(?=[^\W\d_])([aeiouyncszAEIOUYNCSZı])")
_STRAY_ACCENT = re.compile(r"(?:^|(?<=\s))[¨´ˆ˜ˇ¸˚](?=\s|$)", re.MULTILINE)
_LEADER = re.compile(r"(?:[.…·]\s?){5,}\s*[\divxlc]*\s*$")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffd]")
_ENDS_SENTENCE = re.compile(r"[.!?:。！？][\"'”’»)\]]*\Z")
_SCRAP, _MANY_SCRAPS = 2, 4
_SHORT_SHARE = 0.8


def clean_lines(text: str) -> list[str]:
    """The lines of a page's text."""
    text = _HYPHENATED.sub("", _JOINED_HYPHEN.sub("", text.replace("\r\n", "\n")))
    text = _LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), _CONTROLS.sub(" ", text))
    text = _STRAY_ACCENT.sub("", _SPLIT_ACCENT.sub(_accented, text))
    lines = (line.strip() for line in text.split("\n"))
    return _without_scraps([line for line in lines if line and not _LEADER.search(line)])


def _accented(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", found[2].replace("ı", "i") + _ACCENTS[found[1]])


def _without_scraps(lines: list[str]) -> list[str]:
    """Several lines of a letter or two each are what a drawing or a title set sideways leaves."""
    kept: list[str] = []
    for is_scrap, run in groupby(lines, key=lambda line: len(line) <= _SCRAP):
        found = list(run)
        if not (is_scrap and len(found) >= _MANY_SCRAPS):
            kept += found
    return kept


def ends_sentence(line: str) -> bool:
    """Does a sentence end here?"""
    return _ENDS_SENTENCE.search(line) is not None


def ends_paragraph(line: str, width: int) -> bool:
    """A sentence ends on a line that is shorter than most."""
    return len(line) < _SHORT_SHARE * width and ends_sentence(line)
