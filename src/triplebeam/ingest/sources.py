"""Walk what the user names (folders, files, BEIR folders) and read it, one document at a time.

Which reader takes which file is one table. A reader is a function of this package, as ``module:name``, imported when a
file of its ending is read.
"""

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from urllib.parse import unquote, urlsplit

from triplebeam.errors import BadInputError, SourceError
from triplebeam.ingest.archive import gunzip
from triplebeam.ingest.content import Content, NoDocumentError, decode
from triplebeam.ingest.folder_walk import FolderWalk, Reading, Skipped, Unreadable
from triplebeam.ingest.records import read_json_lines
from triplebeam.passage import Document, Link
from triplebeam.system.durable import stat_of
from triplebeam.text.characters import replace_unstorable
from triplebeam.text.stop_words import word_set

_BEIR_CORPORA = ("corpus.jsonl", "corpus.jsonl.gz")
_MAX_LINKS = 2000
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
        "plain:read_python": ".py",
        "xml:read_xml": ".xml",
        "plain:read_code": (".c .h .cc .cpp .hpp .java .go .rs .rb .pl .sh .lua .swift .kt .scala .cs .sql .r .jl .hs"),
        "plain:read_script": ".js .mjs .cjs .jsx .ts .mts .cts .tsx .php",
        "plain:read_configuration": ".yaml .yml .toml",
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


def read_sources(
    paths: Sequence[Path],
    encoding: str | None = None,
    name: Callable[[Path], str] | None = None,
    *,
    follow_links: bool = False,
) -> Iterator[Reading]:
    """Read every source in turn, lazily. What cannot be read is reported and the rest goes on.

    A file's id is its path as the user named it, such as ``docs/guide/start.md``, or what ``name`` returns for it: two
    files of one name in two folders are two documents, and the same command run again means the same documents.
    A folder with a BEIR corpus at its top is read as that corpus alone. Files of text are in ``encoding``; without one,
    each says or shows its own. A file of unknown kind is skipped in a folder, and read as plain text where it is named.
    So are links that lead out of a folder, unless ``follow_links``; they are reported as one.
    """
    check_exist(paths)
    check_encoding(encoding)
    return _read_all(paths, encoding, name or document_id, follow_links)


def check_exist(paths: Sequence[Path]) -> None:
    """Raise BadInputError where there is no such file or folder, or that cannot be found out."""
    for path in paths:
        try:
            found = stat_of(path)
        except OSError as error:
            raise BadInputError(f"{str(path)!r} cannot be opened ({error.strerror}): check the path.") from None
        if found is None:
            raise BadInputError(f"there is no file or folder {str(path)!r}: check the path.")


def check_encoding(encoding: str | None) -> None:
    """Raise BadInputError where there is no encoding of that name."""
    try:
        "".encode(encoding or "utf-8")
    except LookupError:
        raise BadInputError(f"there is no encoding {encoding!r}: name one such as utf-8, latin-1 or utf-16.") from None


def _read_all(
    paths: Sequence[Path], encoding: str | None, name: Callable[[Path], str], follow_links: bool
) -> Iterator[Reading]:
    seen: set[str] = set()
    for source in paths:
        for path in files(source, follow_links):
            if isinstance(path, Path):
                yield from read_file(path, name(path), encoding, seen)
            else:
                yield path


def files(source: Path, follow_links: bool = False) -> Iterator[Path | Unreadable | Skipped]:
    """Yield the files of one source; one of unknown kind is skipped in a folder, without a reason."""
    if not source.is_dir():
        yield source
        return
    folder = FolderWalk(source, follow_links)
    # Unlike Path.is_file, os.path.isfile is False in a folder that may not be entered; the walk reports that folder.
    corpora = [path for name in _BEIR_CORPORA if os.path.isfile(path := source / name) and folder.is_allowed(path)]  # noqa: PTH113
    for found in corpora[:1] or folder.walk():
        yield Skipped(str(found)) if isinstance(found, Path) and find_ending(found) is None else found


def document_id(path: Path) -> str:
    """Return the id of a file's document: its path as it was named."""
    return replace_unstorable(Path(os.path.normpath(path)).as_posix())


def read_file(path: Path, name: str, encoding: str | None, seen: set[str]) -> Iterator[Reading]:
    """Read the documents of one file, which has that name in the index; ``seen`` are the ids there were, and grows."""
    has_rows = False
    try:
        for line, outcome in _outcomes(path, name, encoding):
            has_rows = True
            if isinstance(outcome, Skipped):
                yield outcome
            elif isinstance(outcome, str):
                yield Unreadable(str(path), outcome, line)
            elif outcome.id in seen:
                reason = f"an earlier document has the same id, {outcome.id!r}; rename one of the two"
                yield Unreadable(str(path), reason, line)
            else:
                seen.add(outcome.id)
                yield replace(outcome, source=name)
        if not has_rows:
            yield Unreadable(str(path), "there is no text in it")
    except NoDocumentError as error:
        yield Skipped(str(path), str(error))
    except SourceError as error:
        yield Unreadable(str(path), str(error))
    except OSError as error:
        yield Unreadable(str(path), f"it cannot be read: {error.strerror}")


def _outcomes(path: Path, name: str, encoding: str | None) -> Iterator[tuple[int | None, Document | Skipped | str]]:
    ending = find_ending(path)
    if not path.is_file():  # opening a pipe would wait for ever
        raise SourceError("it is not a regular file, but a broken link, a pipe or a device")
    if path.stat().st_size == 0:
        yield None, Skipped(str(path), "the file is empty")
    elif ending in LINE_ENDINGS:
        yield from read_json_lines(path, name)
    else:
        yield from _documents(path, name, ending or path.suffix.lower(), encoding)


def _documents(path: Path, name: str, ending: str, encoding: str | None) -> Iterator[tuple[int | None, Document]]:
    """Yield the document of a file, or its parts by their numbers; their own fields take precedence over the file's."""
    content = read_content(path.read_bytes(), ending, encoding)
    modified = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
    fields = {"path": name, "type": ending.lstrip("."), "modified": modified}
    if content.text.strip():
        yield None, _document(content._replace(metadata={**content.metadata, **fields}), name, path.stem)
    for number, part in enumerate(content.parts, start=1):
        if part.text.strip():
            part = part._replace(metadata={**fields, **part.metadata, "path": name}, warnings=content.warnings)
            yield number, _document(part, f"{name}:{number}", path.stem)
            content = content._replace(warnings=())


def _document(content: Content, id_: str, title: str) -> Document:
    return Document(
        id=id_,
        text=replace_unstorable(content.text),
        title=replace_unstorable(content.title or title),
        metadata={replace_unstorable(name): replace_unstorable(text) for name, text in content.metadata.items()},
        headings=tuple(heading._replace(text=replace_unstorable(heading.text)) for heading in content.headings),
        links=document_links(content.links, id_),
        warnings=content.warnings,
    )


def document_links(links: Iterable[Link], document_id: str) -> tuple[Link, ...]:
    """Return links to files beside this one, whose ids are paths too, and to anchors inside it; not to other sites.

    A link that leads to the place where it is itself, or twice to one place from one paragraph, says nothing new, and
    is left to whoever joins passages: here nothing is looked up.
    """
    folder = posixpath.dirname(document_id)
    found = (Link(link.start, target) for link in links if (target := _target(link.target, folder, document_id)))
    return tuple(link for link, _ in zip(found, range(_MAX_LINKS), strict=False))


def _target(address: str, folder: str, document_id: str) -> str:
    try:
        parts = urlsplit(address.strip())
    except ValueError:  # "http://[half an address"
        return ""
    if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
        return ""
    anchor = f"#{unquote(parts.fragment)}" if parts.fragment else ""
    path = posixpath.normpath(posixpath.join(folder, unquote(parts.path))) if parts.path else document_id
    return replace_unstorable(path + anchor)


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
