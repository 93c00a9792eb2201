"""PDF to plain text, by PDFium: it keeps words apart where others run them together, and is many times as fast."""

import json
import re
import subprocess
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import chain, compress, groupby
from pathlib import Path
from typing import Any

from triplebeam.errors import SourceError
from triplebeam.ingest.content import Composer, Content, clean_title

_PROGRAM = Path(__file__).with_name("pdf_process.py")
#: For a small file; a large one may take more.
_MAX_BYTES, _MAX_SECONDS = 1 << 30, 30
_BYTES_PER_SECOND = 100_000
_MAX_BOOKMARKS_OF_A_PAGE = 200
_EDGE_LINES = 2
_MIN_REPEATS = 3
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_NUMBER = re.compile(r"^(?:(?:chapter|appendix|section|part)\s+\w+|\d+|[a-z]\.\d+)(?:\.\d+)*[.:)]?\s+", re.IGNORECASE)
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
_MAX_SCRAP_CHARACTERS, _MIN_SCRAPS = 2, 4
_MAX_SHORT_SHARE = 0.8


def read_pdf(data: bytes) -> Content:
    """Read a PDF's text layer. A file that opens with an empty password is read like any other."""
    layer = _read_layer(data)
    outline: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for page, level, title in layer["outline"]:
        if len(outline[page]) < _MAX_BOOKMARKS_OF_A_PAGE:
            outline[page].append((level, _key(title)))
    content = _compose(_drop_running_heads([clean_lines(page) for page in layer["pages"]]), outline)
    if not content.text:
        raise SourceError("the PDF has no text layer; run character recognition (OCR) on it first")
    return content._replace(title=clean_title(layer["title"]))


def _read_layer(data: bytes) -> dict[str, Any]:
    """Run a process that reads the file, within limits of memory and CPU time that grow with the file."""
    memory, seconds = _MAX_BYTES + 4 * len(data), _MAX_SECONDS + len(data) // _BYTES_PER_SECOND
    command = [sys.executable, "-P", str(_PROGRAM), str(memory), str(seconds)]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode == 0:
        layer: dict[str, Any] = json.loads(done.stdout)
        if "error" in layer:
            raise SourceError(layer["error"])
        return layer
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    if done.returncode < 0 or not last or "memory" in last[0].lower():
        raise SourceError(
            f"the PDF takes more than {memory >> 20:,} MB of memory or {seconds:,} s to read: save its text in another"
            " format, or in parts"
        )
    raise SourceError(f"the PDF is damaged ({last[0][:200]})")


def _drop_running_heads(pages: list[list[str]]) -> list[list[str]]:
    """Drop lines that several pages have at their top or bottom, whatever the number in them.

    Where they are most of it, the pages are copies of one form, such as labels or certificates, and stay as they are.
    """
    edges = Counter(
        key for page in pages for key in {_edge(line) for line in (*page[:_EDGE_LINES], *page[-_EDGE_LINES:])}
    )
    kept = []
    for page in pages:
        inner = range(_EDGE_LINES, len(page) - _EDGE_LINES)
        is_own = (n in inner or (_edge(line) and edges[_edge(line)] < _MIN_REPEATS) for n, line in enumerate(page))
        kept.append([*compress(page, is_own)])
    before, after = (sum(map(len, chain.from_iterable(each))) for each in (pages, kept))
    return kept if 2 * after >= before else pages


def _edge(line: str) -> str:
    """Return a line without its page number; nothing is left of one that is only that."""
    return " ".join(_DIGITS.sub("", line.lower()).split()).strip(" -–—|.")


def _compose(pages: list[list[str]], outline: Mapping[int, list[tuple[int, str]]]) -> Content:
    """Compose paragraphs from lines. A sentence that runs over a page's end stays in one."""
    composer = Composer()
    for number, lines in enumerate(pages):
        waiting = list(outline.get(number, ()))
        width = sorted(map(len, lines))[len(lines) * 9 // 10] if lines else 0
        for line in lines:
            key = _key(line) if waiting else ""
            heading = next((mark for mark in waiting if _is_heading(key, mark[1])), None)
            if heading is not None:
                waiting.remove(heading)
                composer.heading(heading[0], line)
                continue
            composer.words(line)
            composer.end_line()
            if len(line) < _MAX_SHORT_SHARE * width and _ENDS_SENTENCE.search(line):
                composer.end_paragraph()
        if lines and _ENDS_SENTENCE.search(lines[-1]):
            composer.end_paragraph()
    return composer.content()


def _is_heading(key: str, title: str) -> bool:
    """Return whether a line is the whole title, numbered or not; of a long one, what fits on the line."""
    return bool(title) and (key == title or (len(key) > 30 and title.startswith(key)))


def _key(title: str) -> str:
    return "".join(_NUMBER.sub("", " ".join(title.split()), count=1).casefold().split())


def clean_lines(text: str) -> list[str]:
    """Return the lines of a page's text."""
    text = _HYPHENATED.sub("", _JOINED_HYPHEN.sub("", text.replace("\r\n", "\n")))
    text = _LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), _CONTROLS.sub(" ", text))
    text = _STRAY_ACCENT.sub("", _SPLIT_ACCENT.sub(_compose_accent, text))
    lines = (line.strip() for line in text.split("\n"))
    return _drop_scraps([line for line in lines if line and not _LEADER.search(line)])


def _compose_accent(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", found[2].replace("ı", "i") + _ACCENTS[found[1]])


def _drop_scraps(lines: list[str]) -> list[str]:
    """Drop several lines of a letter or two each: what a drawing or a title set sideways leaves."""
    kept: list[str] = []
    for is_scrap, run in groupby(lines, key=lambda line: len(line) <= _MAX_SCRAP_CHARACTERS):
        found = list(run)
        if not (is_scrap and len(found) >= _MIN_SCRAPS):
            kept += found
    return kept
