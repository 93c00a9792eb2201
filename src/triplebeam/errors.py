"""What can go wrong, in words a person can act on.

Each message says what happened, with the value, and what to do next. The command line prints
it as one line and exits 2.
"""

import difflib
import json
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

#: So many characters before a broken one, and from it on, are quoted.
_QUOTED_CHARACTERS = 20


class TriplebeamError(Exception):
    """Anything Triplebeam can explain to its user; everything else is a bug."""


class BadInputError(TriplebeamError):
    """What the user typed or passed cannot be used as it is: a method name, a parameter, a file's format."""


class SourceError(TriplebeamError):
    """A document could not be read. The others are indexed nevertheless."""


class ModelMissingError(TriplebeamError):
    """The weights or the endpoint of a model are not there."""


class EndpointError(TriplebeamError):
    """A model's endpoint answered with something that cannot be used, or not at all."""


class ClusterError(TriplebeamError):
    """A cluster that holds an index cannot be reached, or refused a request."""

    def __init__(self, message: str, status: int = 0, kind: str = "") -> None:
        super().__init__(message)
        self.status, self.kind = status, kind


class IndexMissingError(TriplebeamError):
    """There is no index at the place named."""


class IndexChangedError(IndexMissingError):
    """The generation that is open is no longer in the folder: another was published."""


class IndexDamagedError(TriplebeamError):
    """A file of the index is missing or is not what the manifest says."""


class TooManyOpenFilesError(TriplebeamError):
    """The process has as many files open as it may: nothing is damaged."""


#: How an index of another format is replaced.
REPAIR = "run `triplebeam index` on the same sources again, or `triplebeam repair`; what was extracted is kept."
INDEX_AGAIN = "index the documents again into a new folder, or use the Triplebeam that wrote it."


class IndexFormatError(TriplebeamError):
    """A file was written in a format that this version does not read."""


class CannotWriteError(TriplebeamError):
    """A folder may not be written to. What was there before is as it was."""


class DiskFullError(CannotWriteError):
    """There is no space left on a disk. What was there before is as it was."""


class IndexBusyError(TriplebeamError):
    """Another process is writing to the index."""


class EmbedderMismatchError(TriplebeamError):
    """The index was built with another embedder than the one it is opened with."""


class ExtractionError(TriplebeamError):
    """Triples could not be extracted from a passage; the reason is kept in quarantine."""


class ExtraMissingError(TriplebeamError, ImportError):
    """A library that is installed on request only is not there. It is an `ImportError` too: `try: import` works."""

    def __init__(self, extra: str) -> None:
        self.extra = extra
        super().__init__(f"this needs libraries that are not installed: run {install_command(extra)}.")


def install_command(extra: str) -> str:
    """How an extra is added to this environment, with its path: pipx and uv keep each program in one of its own."""
    tool = "pip install"
    if Path(sys.prefix, "pipx_metadata.json").exists():
        tool = "pipx install --force"
    elif Path(sys.prefix, "uv-receipt.toml").exists():
        tool = "uv tool install"
    editable, source = _installed_from()
    return f"{tool}{' -e' if editable else ''} {shlex.quote(f'{source}[{extra}]')}"


def _installed_from() -> tuple[bool, str]:
    """Whether the installation is editable, and its folder where it has one: a package index need not have the same."""
    from importlib.metadata import PackageNotFoundError, distribution  # slow to import, and needed for messages alone
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        origin = json.loads(distribution("triplebeam").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, json.JSONDecodeError):  # run without being installed; written by no installer
        origin = {}
    match origin:
        case {"url": str(url), "dir_info": {**how}}:
            return bool(how.get("editable")), url2pathname(urlsplit(url).path)
    return False, "triplebeam"


def nearest(name: str, known: Iterable[str]) -> str:
    """Suggest what was probably meant, as the end of an error message; empty where nothing is similar."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def check_question(question: str) -> None:
    """Check that a question is text and has words."""
    if not question.strip():
        raise BadInputError("the question is empty: ask for something.")
    check_text("question", question)


def check_text(what: str, text: str) -> None:
    """No byte that a terminal could not decode, and no half of a character (a lone surrogate)."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        near = text[max(error.start - _QUOTED_CHARACTERS, 0) : error.start + _QUOTED_CHARACTERS]
        raise BadInputError(
            f"the {what} has {text[error.start]!r}, which is not a valid character, in {near!r}: check the encoding of"
            " the terminal or of the program that sent it."
        ) from None
