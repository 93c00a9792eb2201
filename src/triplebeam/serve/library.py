"""The indexes under some folders: found by name, opened once, and opened again when a new generation is published."""

import gc
import os
import re
import shutil
import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from secrets import token_hex

from triplebeam.assemble import Context, IndexReader, context_of, make_embedder
from triplebeam.assemble.models import Watch, open_source, watch
from triplebeam.embed.embedder import Embedder, LazyEmbedder
from triplebeam.errors import (
    BadInputError,
    IndexChangedError,
    IndexMissingError,
    TooManyOpenFilesError,
    nearest,
)
from triplebeam.extract.extractor import Extractor
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.build.writing import write_lock
from triplebeam.index.folder.manifest import read_manifest, retry_on_publish
from triplebeam.index.location import Folder, Location, find_location
from triplebeam.index.source import Manifest, Source
from triplebeam.serve.index_folders import (
    ENDING,
    CannotCreateError,
    CannotDeleteError,
    EmptyIndexError,
    IndexExistsError,
    NothingVisibleError,
    UnknownIndexError,
    check_files_are_here,
    check_name,
    indexes_and_data_folders,
    is_name,
)
from triplebeam.settings import Settings
from triplebeam.system.durable import explain_disk_errors, flush, make_folder

_DELETED = ".triplebeam-deleted-"
_DELETED_NAME = re.compile(re.escape(_DELETED) + "[0-9a-f]{16}")
_HOSTS = re.compile(r"\bopensearchs?://[^\s/]+/")
_MAX_NAMES_SHOWN = 5
_RETRIES = 3


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as a listing shows it."""

    id: str
    title: str
    passages: int


@dataclass(frozen=True)
class _Opened:
    """An open index, and the version of what was published at the time."""

    version: object
    index: IndexReader

    @cached_property
    def documents(self) -> dict[str, DocumentRow]:
        passages = self.index.passages
        titles = dict(zip(passages.documents, passages.titles, strict=True))
        return {id_: DocumentRow(id_, titles[id_], count) for id_, count in Counter(passages.documents).items()}


class Library:
    """The indexes under the folders given. Safe to use from many threads.

    A folder that is an index is served as it is; any other is a data folder, whose sub-folders ``NAME.index`` are
    indexes and in which new ones are created. ``embedder``, ``model`` and ``extractor`` replace the configured ones.
    """

    def __init__(
        self,
        places: Sequence[Path | Location],
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
        locations = [find_location(place) if isinstance(place, Path) else place for place in places]
        absolute = [Folder(each.state.absolute()) if isinstance(each, Folder) else each for each in locations]
        self._single, self._data = indexes_and_data_folders(absolute)
        self._opened: dict[str, _Opened] = {}
        self._watches: dict[Location, Watch] = {}
        self._opening: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._embedders: dict[str, Embedder] = {}
        self._loading = threading.Lock()
        self._only: str | None = None
        self._where: str | None = None

    def seen_with(self, index: str | None, where: str | None) -> "Library":
        """Return what the caller may access of the indexes: one of them, and the passages that match a filter."""
        seen = copy(self)  # what is open is shared
        seen._only, seen._where = index, where
        return seen

    @property
    def can_create(self) -> bool:
        """Is there a data folder to create indexes in?"""
        return bool(self._data) and not self.is_bound

    @property
    def is_bound(self) -> bool:
        """Is there anything that is not seen?"""
        return (self._only, self._where) != (None, None)

    @property
    def can_ask(self) -> bool:
        """Is a language model configured?"""
        return bool(self._given_model or self.settings.endpoint("answering").model)

    @property
    def home(self) -> Path:
        """The folder for a server's own files: in the first data folder, or beside the first index."""
        return (self._data[0] if self._data else next(iter(self._single.values())).state.parent) / ".triplebeam"

    @property
    def keys_file(self) -> Path:
        """Where the hashes of keys are: in the data folder itself, if there is one."""
        return (self._data[0] if self._data else self.home) / "keys.json"

    def names(self) -> list[str]:
        """Every index there is now, including empty and damaged ones."""
        return sorted(self._places())

    def location(self, name: str) -> Location:
        """Where an index is."""
        places = self._places()
        if name not in places:
            names = sorted(places)
            there = f"there are {', '.join(names[:_MAX_NAMES_SHOWN])}" if names else "there is none yet"
            raise UnknownIndexError(f"there is no index {name[:80]!r}{nearest(name[:80], names)}: {there}.")
        place = places[name]
        return place if isinstance(place, Location) else find_location(place)

    def is_published(self, name: str) -> bool:
        """Has an index documents to search?"""
        return self._watch(self.location(name))() is not None

    def manifest(self, name: str) -> Manifest:
        """Return the counts of an index, over the passages that the caller may access."""
        location = self.location(name)
        if self.is_bound or not isinstance(location, Folder):
            return self.index(name).status
        return retry_on_publish(location.state, lambda: read_manifest(location.state))

    def index(self, name: str, where: str | None = None) -> IndexReader:
        """Open the index of that name, of the generation that is published now; or a view of it."""
        for _ in range(_RETRIES):
            with suppress(IndexChangedError):  # published between opening and filtering
                return self._view(name, where)
        return self._view(name, where)

    def _view(self, name: str, where: str | None) -> IndexReader:
        index = self._open(name).index
        if self._where is not None:
            try:
                index = index.filter(self._where)
            except BadInputError:  # which would name fields and values that are not to be seen
                raise NothingVisibleError(
                    f"nothing of the index {name!r} may be seen here: ask whoever runs this server."
                ) from None
        return index if where is None else index.filter(where)

    def open_all(self) -> None:
        """Open every published index; there must be one."""
        published = [name for name in self.names() if self.is_published(name)]
        if not published:
            places = ", ".join(map(str, [*self._single.values(), *self._data]))
            raise IndexMissingError(f"there is no index in {places}: create one with `triplebeam index`.")
        for name in published:
            self.index(name)

    def documents(self, name: str) -> dict[str, DocumentRow]:
        """List an index's documents by id, in the order in which they were first indexed."""
        if not self.is_published(name):
            return {}
        opened = self._open(name) if self._where is None else _Opened(None, self.index(name))
        return opened.documents

    def create(self, name: str) -> None:
        """Create an empty index."""
        check_name(name)
        if not self._data:
            raise CannotCreateError(
                "this server was started with indexes only: start it with a data folder to create indexes in."
            )
        if name in self._places():
            raise IndexExistsError(f"there is already an index {name!r}: choose another name.")
        with explain_disk_errors(folder := self._data[0] / f"{name}{ENDING}"):
            make_folder(folder)

    def delete(self, name: str) -> None:
        """Delete an index of a data folder, with everything in it."""
        location = self.location(name)
        if name in self._single:
            raise CannotDeleteError(
                f"this server was started with the index {name!r} itself: only indexes of a data folder can be deleted."
            )
        check_files_are_here(location, name)
        folder = location.state
        with explain_disk_errors(folder), self._opening[name], write_lock(folder):
            folder.rename(folder.with_name(f"{_DELETED}{token_hex(8)}"))
            flush(folder.parent)
            self._opened.pop(name, None)
        self.sweep()

    def sweep(self) -> None:
        """Remove what is left of deleted indexes: also of one that a server did not get to remove."""
        for data in self._data:
            for left in data.glob(f"{_DELETED}*"):
                if _DELETED_NAME.fullmatch(left.name):
                    shutil.rmtree(left, ignore_errors=True)

    def embedder(self, name: str) -> Embedder:
        """Return the embedder of that name, loaded once for all indexes and builds."""
        with self._loading:
            if name not in self._embedders:
                self._embedders[name] = self._given_embedder or make_embedder(name, self.settings)
            return self._embedders[name]

    def redact(self, text: str) -> str:
        """Remove the paths of the library's folders and weights, and the hosts of clusters, from a message."""
        home = self.settings.home
        if home.is_absolute() and home != Path(home.anchor):
            text = text.replace(str(home), "the server's folder of weights")
        folders = {*self._data, *(place.state.parent for place in self._single.values())}
        for folder in sorted(map(str, folders), key=len, reverse=True):
            text = text.replace(f"{folder}{os.sep}", "")
        return _HOSTS.sub("", text)

    def _places(self) -> dict[str, Path | Location]:
        """List the indexes, at each call: `triplebeam index` may create some while a server runs."""
        found: dict[str, Path | Location] = dict(self._single)
        for data in self._data:
            for path in sorted(data.glob(f"*{ENDING}")):
                name = path.name.removesuffix(ENDING)
                if path.is_dir() and is_name(name):
                    found.setdefault(name, path)
        return {name: path for name, path in found.items() if self._only in (None, name)}

    def _open(self, name: str) -> _Opened:
        location = self.location(name)
        with self._opening[name]:
            version = self._watch(location)()
            if version is None:
                raise EmptyIndexError(f"the index {name!r} has no documents yet: add some first.")
            known = self._opened.get(name)
            if known is None or known.version != version:
                source = self._source(name, location)
                embedder = LazyEmbedder(partial(self.embedder, self.settings.embedder or source.manifest.embedder.name))
                index = IndexReader(Context(source, self.settings, embedder, self._given_model))
                known = self._opened[name] = _Opened(version, index)
            return known

    def _watch(self, location: Location) -> Watch:
        return self._watches.setdefault(location, watch(location))

    def _source(self, name: str, location: Location) -> Source:
        """Open the published generation. Where too many files are open, views and the generation before it go."""
        if known := self._opened.get(name):
            context_of(known.index).release()
        with suppress(TooManyOpenFilesError):
            return open_source(location)
        self._opened.pop(name, None)
        for each in list(self._opened.values()):
            context_of(each.index).release()
        del known
        gc.collect()
        return open_source(location)
