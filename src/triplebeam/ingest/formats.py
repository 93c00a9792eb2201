"""Which reader takes which file: the one table. A reader is a function of this package, as ``module:name``, imported
when a file of its ending is read.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from triplebeam.ingest.text import Content, decode
from triplebeam.passage import Document
from triplebeam.text.stop_words import word_set

_SCRIPTS = ".js .mjs .cjs .jsx .ts .mts .cts .tsx .php"
_CONFIGURATION = ".yaml .yml .toml"
_MANUAL_SECTIONS = ".1 .2 .3 .4 .5 .6 .7 .8"
_SOURCE_CODE = ".c .h .cc .cpp .hpp .java .go .rs .rb .pl .sh .lua .swift .kt .scala .cs .sql .r .jl .hs"

#: The file is one document, of text.
TEXT_READERS: Mapping[str, str] = {
    ".txt": "plain:read_plain",
    ".text": "plain:read_plain",
    ".md": "markdown:read_markdown",
    ".markdown": "markdown:read_markdown",
    ".html": "html:read_html",
    ".htm": "html:read_html",
    ".xhtml": "html:read_html",
    ".rst": "restructured_text:read_restructured_text",
    ".adoc": "asciidoc:read_asciidoc",
    ".asciidoc": "asciidoc:read_asciidoc",
    ".csv": "tables:read_csv",
    ".tsv": "tables:read_csv",
    ".json": "tables:read_json",
    ".ipynb": "markdown:read_notebook",
    ".py": "source_code:read_python",
    ".xml": "xml:read_xml",
    **dict.fromkeys(_SOURCE_CODE.split(), "source_code:read_code"),
    **dict.fromkeys(_SCRIPTS.split(), "source_code:read_script"),
    **dict.fromkeys(_CONFIGURATION.split(), "source_code:read_configuration"),
    **dict.fromkeys(_MANUAL_SECTIONS.split(), "man_page:read_man_page"),
}

#: The file is one document, of a form of its own.
BINARY_READERS: Mapping[str, str] = {
    ".pdf": "pdf:read_pdf",
    ".docx": "docx:read_docx",
    ".pptx": "office:read_pptx",
    ".xlsx": "office:read_xlsx",
    ".odt": "odt:read_odt",
    ".epub": "epub:read_epub",
    ".rtf": "office:read_rtf",
    ".eml": "mail:read_mail",
    ".mbox": "mail:read_mailbox",
}

#: Each line of the file is one.
LINE_READERS: Mapping[str, str] = {
    ".jsonl": "json_lines:read_json_lines",
    ".jsonl.gz": "json_lines:read_json_lines",
}

#: Every file ending that is read. Files of text may be gzipped.
ENDINGS = (*TEXT_READERS, *BINARY_READERS, *LINE_READERS)
#: Zip files by another name.
ZIPPED = (".docx", ".pptx", ".xlsx", ".odt", ".epub")

_GZIP, _PLAIN = ".gz", ".txt"
#: Libraries, logs and versions whose names end as those of manual pages do: "libc.so.6", "mail.log.1", "notes-2.1".
_NO_MANUAL = re.compile(r"\.(?:so|dylib|log|tar|zip|gz|bak|old|orig|dump|db)(?:\.\d+)*\.\d\Z|(?:\A|[-_. v])\d+\.\d\Z")
_BY_LENGTH = sorted(ENDINGS, key=len, reverse=True)
#: Files that are text by their name, with whatever ending or none.
_TEXT_NAMES = word_set(
    "readme license licence copying copyright news changes changelog authors contributors contributing thanks credits "
    "install installing todo faq history notice notes manifest hacking maintainers release-notes"
)


def find_ending(path: Path) -> str | None:
    """Give the known ending of a file's name, in any case, or nothing; ``README`` counts as ``.txt``."""
    name = path.name.lower()
    if known := next((ending for ending in _BY_LENGTH if name.endswith(ending)), None):
        return None if known in _MANUAL_SECTIONS.split() and _NO_MANUAL.search(name) else known
    if name.endswith(_GZIP):
        inner = find_ending(path.with_name(path.name[: -len(_GZIP)])) if len(name) > len(_GZIP) else None
        return inner + _GZIP if inner is not None and inner in TEXT_READERS else None
    return _PLAIN if name.split(".")[0] in _TEXT_NAMES else None


def read_content(data: bytes, ending: str, encoding: str | None = None) -> Content:
    """Read the bytes of a file that is one document."""
    if ending.endswith(_GZIP):
        data, ending = _reader("archive:gunzip")(data), ending.removesuffix(_GZIP)
    binary = ending in BINARY_READERS
    reader = BINARY_READERS[ending] if binary else TEXT_READERS.get(ending, TEXT_READERS[_PLAIN])
    content: Content = _reader(reader)(data if binary else decode(data, encoding))
    return content


def read_lines(path: Path, name: str, ending: str) -> Iterator[tuple[int, Document | str]]:
    """Read a file whose lines are documents: each with its number, or what is wrong with it."""
    lines: Iterator[tuple[int, Document | str]] = _reader(LINE_READERS[ending])(path, name)
    return lines


def _reader(place: str) -> Any:
    return resolve_name(f"{__package__}.{place}")
