"""Which reader takes which file: the one table. A reader is a function of this package, as ``module:name``, imported
when a file of its ending is read.
"""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

from triplebeam.errors import SourceError
from triplebeam.ingest.archive import gunzip
from triplebeam.ingest.content import Content, decode
from triplebeam.text.stop_words import word_set

_MANUAL_SECTIONS = ".1 .2 .3 .4 .5 .6 .7 .8"


def _by_ending(endings_by_reader: Mapping[str, str]) -> Mapping[str, str]:
    return {ending: reader for reader, endings in endings_by_reader.items() for ending in endings.split()}


#: The file is one document, of text.
TEXT_READERS = _by_ending(
    {
        "plain:read_plain": ".txt .text",
        "markdown:read_markdown": ".md .markdown",
        "html:read_html": ".html .htm .xhtml",
        "restructured_text:read_restructured_text": ".rst",
        "plain:read_asciidoc": ".adoc .asciidoc",
        "records:read_csv": ".csv .tsv",
        "records:read_json": ".json",
        "markdown:read_notebook": ".ipynb",
        "source_code:read_python": ".py",
        "xml:read_xml": ".xml",
        "source_code:read_code": (
            ".c .h .cc .cpp .hpp .java .go .rs .rb .pl .sh .lua .swift .kt .scala .cs .sql .r .jl .hs"
        ),
        "source_code:read_script": ".js .mjs .cjs .jsx .ts .mts .cts .tsx .php",
        "source_code:read_configuration": ".yaml .yml .toml",
        "man_page:read_man_page": _MANUAL_SECTIONS,
    }
)
#: The file is one document, of a form of its own.
BINARY_READERS = _by_ending(
    {
        "pdf:read_pdf": ".pdf",
        "office:read_docx": ".docx",
        "office:read_pptx": ".pptx",
        "office:read_xlsx": ".xlsx",
        "office:read_odt": ".odt",
        "xml:read_epub": ".epub",
        "office:read_rtf": ".rtf",
        "mail:read_mail": ".eml",
        "mail:read_mailbox": ".mbox",
    }
)
#: Each line of the file is one.
LINE_ENDINGS = (".jsonl", ".jsonl.gz")
#: Every file ending that is read. Files of text may be gzipped.
ENDINGS = (*TEXT_READERS, *BINARY_READERS, *LINE_ENDINGS)
#: Zip files by another name.
ZIPPED = (".docx", ".pptx", ".xlsx", ".odt", ".epub")
#: Which extra brings the module that files of an ending need.
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "office": {".pptx": "pptx", ".xlsx": "openpyxl", ".rtf": "striprtf"},
    "rst": {".rst": "docutils"},
}

_GZIP, _PLAIN = ".gz", ".txt"
#: Libraries, logs and versions whose names end as those of manual pages do: "libc.so.6", "mail.log.1", "notes-2.1".
_NO_MANUAL = re.compile(r"\.(?:so|dylib|log|tar|zip|gz|bak|old|orig|dump|db)(?:\.\d+)*\.\d\Z|(?:\A|[-_. v])\d+\.\d\Z")
#: Packages add a word to the section of their manual pages: "history.3readline", "req.1ssl".
_MANUAL_OF_PACKAGE = re.compile(r"(\.[1-8])(?:ncurses|perl|pm|posix|readline|ssl|tcl)\Z")
_BY_LENGTH = sorted(ENDINGS, key=len, reverse=True)
#: Files that are text by their name, with whatever ending or none.
_TEXT_NAMES = word_set(
    "readme license licence copying copyright news changes changelog authors contributors contributing thanks credits "
    "install installing todo faq history notice notes manifest hacking maintainers release-notes"
)


def find_ending(path: Path) -> str | None:
    """Give the known ending of a file's name, in any case, or nothing; ``README`` counts as ``.txt``."""
    name = _MANUAL_OF_PACKAGE.sub(r"\1", path.name.lower())
    if known := next((ending for ending in _BY_LENGTH if name.endswith(ending)), None):
        return None if known in _MANUAL_SECTIONS.split() and _NO_MANUAL.search(name) else known
    if name.endswith(_GZIP):
        inner = find_ending(path.with_name(path.name[: -len(_GZIP)])) if len(name) > len(_GZIP) else None
        return inner + _GZIP if inner is not None and inner in TEXT_READERS else None
    return _PLAIN if name.split(".")[0] in _TEXT_NAMES else None


def read_content(data: bytes, ending: str, encoding: str | None = None) -> Content:
    """Read the bytes of a file that is one document."""
    if ending.endswith(_GZIP):
        data, ending = gunzip(data), ending.removesuffix(_GZIP)
    binary = ending in BINARY_READERS
    reader = BINARY_READERS[ending] if binary else TEXT_READERS.get(ending, TEXT_READERS[_PLAIN])
    content: Content = resolve_name(f"{__package__}.{reader}")(data if binary else decode(data, encoding))
    return content


def import_extra(module: str, extra: str) -> ModuleType:
    """Import a module, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise SourceError(f"this needs the package {module}: install the extra triplebeam[{extra}]") from error
