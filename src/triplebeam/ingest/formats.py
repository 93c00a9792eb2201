"""Which reader takes which file: the one table."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from triplebeam.ingest.archive import gunzipped
from triplebeam.ingest.asciidoc import asciidoc_content
from triplebeam.ingest.docx import read_docx
from triplebeam.ingest.epub import read_epub
from triplebeam.ingest.html import html_content
from triplebeam.ingest.json_lines import read_json_lines
from triplebeam.ingest.mail import read_mail, read_mailbox
from triplebeam.ingest.man_page import man_page_content
from triplebeam.ingest.markdown import markdown_content, notebook_content
from triplebeam.ingest.odt import read_odt
from triplebeam.ingest.office import read_pptx, read_rtf, read_xlsx
from triplebeam.ingest.pdf import read_pdf
from triplebeam.ingest.plain import plain_content
from triplebeam.ingest.restructured_text import restructured_text_content
from triplebeam.ingest.source_code import code_content, configuration_content, python_content, script_content
from triplebeam.ingest.tables import csv_content, json_content
from triplebeam.ingest.text import Content, decode
from triplebeam.ingest.xml import xml_content
from triplebeam.passage import Document
from triplebeam.text.stop_words import word_set

_SCRIPTS = ".js .mjs .cjs .jsx .ts .mts .cts .tsx .php"
_CONFIGURATION = ".yaml .yml .toml"
_MANUAL_SECTIONS = ".1 .2 .3 .4 .5 .6 .7 .8"
_SOURCE_CODE = ".c .h .cc .cpp .hpp .java .go .rs .rb .pl .sh .lua .swift .kt .scala .cs .sql .r .jl .hs"

#: The file is one document, of text.
TEXT_READERS: Mapping[str, Callable[[str], Content]] = {
    ".txt": plain_content,
    ".text": plain_content,
    ".md": markdown_content,
    ".markdown": markdown_content,
    ".html": html_content,
    ".htm": html_content,
    ".xhtml": html_content,
    ".rst": restructured_text_content,
    ".adoc": asciidoc_content,
    ".asciidoc": asciidoc_content,
    ".csv": csv_content,
    ".tsv": csv_content,
    ".json": json_content,
    ".ipynb": notebook_content,
    ".py": python_content,
    ".xml": xml_content,
    **dict.fromkeys(_SOURCE_CODE.split(), code_content),
    **dict.fromkeys(_SCRIPTS.split(), script_content),
    **dict.fromkeys(_CONFIGURATION.split(), configuration_content),
    **dict.fromkeys(_MANUAL_SECTIONS.split(), man_page_content),
}

#: The file is one document, of a form of its own.
BINARY_READERS: Mapping[str, Callable[[bytes], Content]] = {
    ".pdf": read_pdf,
    ".docx": read_docx,
    ".pptx": read_pptx,
    ".xlsx": read_xlsx,
    ".odt": read_odt,
    ".epub": read_epub,
    ".rtf": read_rtf,
    ".eml": read_mail,
    ".mbox": read_mailbox,
}

#: Each line of the file is one.
LINE_READERS: Mapping[str, Callable[[Path, str], Iterator[tuple[int, Document | str]]]] = {
    ".jsonl": read_json_lines,
    ".jsonl.gz": read_json_lines,
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


def ending_of(path: Path) -> str | None:
    """Give the known ending of a file's name, in any case, or nothing; ``README`` counts as ``.txt``."""
    name = path.name.lower()
    if known := next((ending for ending in _BY_LENGTH if name.endswith(ending)), None):
        return None if known in _MANUAL_SECTIONS.split() and _NO_MANUAL.search(name) else known
    if name.endswith(_GZIP):
        inner = ending_of(path.with_name(path.name[: -len(_GZIP)])) if len(name) > len(_GZIP) else None
        return inner + _GZIP if inner is not None and inner in TEXT_READERS else None
    return _PLAIN if name.split(".")[0] in _TEXT_NAMES else None


def read_content(data: bytes, ending: str, encoding: str | None = None) -> Content:
    """Read the bytes of a file that is one document."""
    if ending.endswith(_GZIP):
        data, ending = gunzipped(data), ending.removesuffix(_GZIP)
    if ending in BINARY_READERS:
        return BINARY_READERS[ending](data)
    return TEXT_READERS.get(ending, plain_content)(decode(data, encoding))
