"""The collections a server has: folders on the disk, each opened once and again when a new generation is published."""

import os
import re
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from triplebeam.assemble import DEFAULT_METHOD, Index, make_embedder
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.extract.extractor import Extractor
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.manifest import MANIFEST, is_index
from triplebeam.index.snapshot import Snapshot
from triplebeam.names import nearest
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.settings import Settings

ENDING = ".index"
DEFAULT_SEARCH = DEFAULT_METHOD
DEFAULT_ASK = "auto"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class DocumentRow(NamedTuple):
    """A document as a listing shows it."""

    id: str
    title: str
    passages: int


@dataclass(frozen=True)
class _Opened:
    """A collection with what says whether it is still the published one."""

    signature: tuple[int, int, int]
    collection: Index

    @cached_property
    def documents(self) -> dict[str, DocumentRow]:
        """Its documents by id, in their order; gathered when first asked for, since every passage is looked at."""
        rows: dict[str, DocumentRow] = {}
        passages = self.collection.passages
        for passage in map(passages.at, range(len(passages))):
            before = rows.get(passage.document_id)
            count = before.passages + 1 if before else 1
            rows[passage.document_id] = DocumentRow(passage.document_id, passage.title, count)
        return rows


class Library:
    """The collections under the folders a server was started with. Safe to use from many threads.

    A folder that is an index is one collection; any other is a data folder, whose sub-folders ``NAME.index`` are
    collections and in which new ones are made. ``embedder``, ``model`` and ``extractor`` are for ones without a name.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        settings: Settings,
        *,
        embedder: Embedder | None = None,
        model: LanguageModel | None = None,
        extractor: Extractor | None = None,
    ) -> None:
        self.settings = settings
        self.given_extractor = extractor
        self._given_embedder = embedder
        self._given_model = model
        self._single, self._data = _sorted_out([folder.absolute() for folder in folders])
        self._opened: dict[str, _Opened] = {}
        self._opening: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._embedders: dict[str, Embedder] = {}
        self._loading = threading.Lock()

    @property
    def can_create(self) -> bool:
        """Is there a data folder to make collections in?"""
        return bool(self._data)

    @property
    def can_ask(self) -> bool:
        """Is a language model configured?"""
        return bool(self._given_model or self.settings.endpoint("answering").model)

    @property
    def home(self) -> Path:
        """The folder the server keeps its own things in: the first data folder's, or one beside the first index."""
        return (self._data[0] if self._data else next(iter(self._single.values())).parent) / ".triplebeam"

    @property
    def keys_file(self) -> Path:
        """Where the hashes of keys are: in the data folder itself, where there is one."""
        return (self._data[0] if self._data else self.home) / "keys.json"

    def names(self) -> list[str]:
        """Every collection there is now, also those that are empty or damaged."""
        return sorted(self._folders())

    def folder(self, name: str) -> Path:
        """Where a collection is; the problem is 404 where there is none of that name."""
        folders = self._folders()
        if name not in folders:
            there = f"there are {', '.join(sorted(folders)[:5])}" if folders else "there is none yet"
            raise HTTPProblem(
                404,
                "unknown_collection",
                f"there is no collection {name[:80]!r}{nearest(name[:80], sorted(folders))}: {there}.",
            )
        return folders[name]

    def collection(self, name: str) -> Index:
        """The collection of that name, of the generation that is published now."""
        return self._open(name).collection

    def documents(self, name: str) -> dict[str, DocumentRow]:
        """A collection's documents by id, in their order; none of an empty collection."""
        return self._open(name).documents if is_index(self.folder(name)) else {}

    def create(self, name: str) -> None:
        """Make an empty collection; documents come with a job."""
        check_name(name)
        if not self._data:
            raise HTTPProblem(
                409,
                "cannot_create",
                "this server was started with indexes only: start it with a data folder to make collections in.",
            )
        if name in self._folders():
            raise HTTPProblem(409, "exists", f"there is a collection {name!r} already: choose another name.")
        try:
            (self._data[0] / f"{name}{ENDING}").mkdir(exist_ok=True)
        except OSError as error:
            raise HTTPProblem(
                503, "read_only", f"the collection {name!r} cannot be made: {error.strerror}; see the data folder."
            ) from error

    def embedder(self, name: str) -> Embedder:
        """The embedder of that name, loaded once for all collections and builds."""
        with self._loading:
            if name not in self._embedders:
                self._embedders[name] = self._given_embedder or make_embedder(name, self.settings)
            return self._embedders[name]

    def told(self, text: str) -> str:
        """What an error says, without where on its disk the server keeps its files."""
        folders = {*self._data, *(folder.parent for folder in self._single.values())}
        for folder in sorted(map(str, folders), key=len, reverse=True):
            text = text.replace(f"{folder}{os.sep}", "")
        return text

    def _folders(self) -> dict[str, Path]:
        """Looked up each time: collections may be made by `triplebeam index` while the server runs."""
        found = dict(self._single)
        for data in self._data:
            for path in sorted(data.glob(f"*{ENDING}")):
                name = path.name.removesuffix(ENDING)
                if path.is_dir() and _NAME.fullmatch(name) and ".." not in name:
                    found.setdefault(name, path)
        return found

    def _open(self, name: str) -> _Opened:
        folder = self.folder(name)
        with self._opening[name]:
            signature = _signature(folder, name)
            known = self._opened.get(name)
            if known is None or known.signature != signature:
                known = self._opened[name] = _Opened(signature, self._collection(folder))
            return known

    def _collection(self, folder: Path) -> Index:
        index = Snapshot.open(folder)
        embedder = self.embedder(self.settings.embedder or index.manifest.embedder.name)
        return Index.of(index, self.settings, embedder, self._given_model)


def check_name(name: str) -> None:
    """Refuse a name that is no plain word: it becomes a folder."""
    if not _NAME.fullmatch(name) or ".." in name:
        raise HTTPProblem(
            400,
            "bad_name",
            f"{name[:80]!r} cannot be a collection's name: use up to 64 letters, digits, '-', '_' and single '.',"
            " the first a letter or digit.",
        )


def is_collection(folder: Path) -> bool:
    """Is a folder one index, rather than a folder of them?"""
    return is_index(folder) or (folder / "store.sqlite").is_file() or folder.name.endswith(ENDING)


def _sorted_out(folders: Sequence[Path]) -> tuple[dict[str, Path], list[Path]]:
    """The single indexes by name, and the data folders."""
    single: dict[str, Path] = {}
    data: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise BadInputError(f"there is no folder {folder}: name an index, or make a folder for collections.")
        if not is_collection(folder):
            data.append(folder)
            continue
        name = folder.name.removesuffix(ENDING)
        if not _NAME.fullmatch(name) or ".." in name:
            raise BadInputError(f"{name!r} of {folder} cannot be a collection's name: rename the folder.")
        if single.setdefault(name, folder) != folder:
            raise BadInputError(f"{single[name]} and {folder} would both be the collection {name!r}: rename one.")
    if not (single or data):
        raise BadInputError("there is no folder to serve: name an index, or a folder for collections.")
    return single, data


def _signature(folder: Path, name: str) -> tuple[int, int, int]:
    """What changes when a generation is published: the manifest is a new file each time."""
    try:
        stat = (folder / MANIFEST).stat()
    except FileNotFoundError:
        raise HTTPProblem(
            409, "empty_collection", f"the collection {name!r} has no documents yet: add some, then ask."
        ) from None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
