"""Plain text files, and the care that every format's text needs."""

import codecs
import re
from pathlib import Path
from typing import NamedTuple

from triplebeam.errors import SourceError

_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BLANK_LINES = re.compile(r"\n{3,}")


class Content(NamedTuple):
    """What a format's reader takes out of a file. An empty title stands for "none found"."""

    text: str
    title: str = ""


def read_text(path: Path) -> Content:
    """Read a text file as it is."""
    return Content(decode(path.read_bytes()))


def decode(data: bytes) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark. Other encodings are not guessed: a wrong guess is silent."""
    encoding = "utf-16" if data.startswith(_UTF_16_MARKS) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        name = encoding.removesuffix("-sig").upper()
        raise SourceError(f"byte {error.start} is not {name}; save the file as UTF-8") from error
    if "\0" in text:
        raise SourceError("it holds NUL characters, so it is no text in UTF-8; save the file as UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def tidy(text: str) -> str:
    """Lay out text put together from pieces: no white space at line ends, one blank line at most, cells (after a tab)
    joined by bars.
    """
    lines = (" | ".join(filter(None, map(_one_space, line.split("\t")))) for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def _one_space(text: str) -> str:
    return " ".join(text.split())
