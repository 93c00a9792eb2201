"""The files of folders that an index follows: their names, and whether they changed since they were read.

Names do not depend on the directory a command is run from: a file or folder keeps the name it was first indexed by.
``triplebeam index my.index docs`` makes ``docs/a.md``, and so does ``triplebeam index ../my.index a.md`` in that folder
later, since the index remembers which folder ``docs`` is.
"""

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from triplebeam.errors import BadInputError
from triplebeam.ingest.folder_walk import Reading, Skipped, Unreadable, make_unreadable, stat_of
from triplebeam.ingest.sources import check_encoding, check_exist, document_id, files, read_file
from triplebeam.text.characters import replace_unstorable


class SourceNames:
    """Returns the name of a file, by the sources that are known."""

    def __init__(self, known: Mapping[str, str], sources: Iterable[Path] = ()) -> None:
        self.known = dict(known)
        """The name of each source, by its absolute path."""
        for source in sources:
            if self._find_below(source) is None:
                self._add(_make_absolute(source), document_id(source))

    def __call__(self, path: Path) -> str:
        """Return the name of a file; its path as it is where it is in no source."""
        return self._find_below(path) or document_id(path)

    def _find_below(self, path: Path) -> str | None:
        """Return the name of a path that is a known source, or in one; as it is written, else where its links lead."""
        absolute = _make_absolute(path)
        if (name := _name_in(self.known, absolute)) is not None or not self.known:
            return name
        real = {os.path.realpath(known): name for known, name in self.known.items()}
        for folder in (absolute, *absolute.parents):  # a link in a folder that a link leads to has its name there
            if (name := _name_in(real, folder.resolve())) is not None:
                return _join_name(name, absolute.relative_to(folder))
        return None

    def _add(self, absolute: Path, name: str) -> None:
        for other, taken in list(self.known.items()):
            if taken == name and Path(other).exists():
                raise BadInputError(
                    f"{name!r} is the name of {other} in this index, and you mean {absolute}: name it by its absolute"
                    " path, so that their documents are not mixed up."
                )
            if taken == name:  # it was moved
                del self.known[other]
        self.known[str(absolute)] = name


def _name_in(known: Mapping[str, str], absolute: Path) -> str | None:
    for folder in (absolute, *absolute.parents):
        if (name := known.get(str(folder))) is not None:
            return _join_name(name, absolute.relative_to(folder))
    return None


def _join_name(name: str, below: Path) -> str:
    return replace_unstorable(posixpath.normpath(posixpath.join(name, below.as_posix())))


def _make_absolute(path: Path) -> Path:
    """Make a path absolute and keep its links: what is linked into a folder has its name there."""
    return Path(os.path.normpath(path.absolute()))


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file by its name in the index. When its size or the time of its last change differs, it is read again."""

    name: str
    path: Path
    state: str
    """What changes when the file does: its size, and the time of its last change in nanoseconds."""


@dataclass(frozen=True)
class FolderFiles:
    """What is in some folders now."""

    folders: tuple[str, ...]
    """Their names in the index."""
    files: tuple[SourceFile, ...]
    unreadable: tuple[Unreadable, ...]
    """Folders and files that cannot be looked at."""
    unknown: tuple[str, ...] = ()
    """Their names in the index: nothing can be said about what is in them."""
    encoding: str | None = None
    skipped: tuple[Skipped, ...] = ()
    """Links that lead out of a folder."""

    @classmethod
    def of(
        cls, paths: Sequence[Path], names: SourceNames, encoding: str | None = None, *, follow_links: bool = False
    ) -> "FolderFiles":
        """List the files of a kind that is read. Nothing is opened."""
        check_exist(paths)
        check_encoding(encoding)
        found = [path for source in paths for path in files(source, follow_links)]
        skipped = [path for path in found if isinstance(path, Skipped) and path.reason]
        unreadable = [path for path in found if isinstance(path, Unreadable)]
        listed: dict[str, SourceFile] = {}
        for path in found:
            if not isinstance(path, Path):
                continue
            try:
                stat = stat_of(path)
            except OSError as error:
                unreadable.append(make_unreadable(path, error))
                continue
            if stat is not None and S_ISREG(stat.st_mode):
                listed[names(path)] = SourceFile(names(path), path, f"{stat.st_size} {stat.st_mtime_ns}")
        for source in paths:
            if source.is_dir() and not any(is_inside(names(source), name) for name in listed):
                links = "".join(f" ({each})" for each in skipped)
                raise BadInputError(
                    f"there is no file to read in {source}{links}: check that its disk is mounted; if it is empty on"
                    " purpose, remove its documents with `triplebeam remove`."
                )
        return cls(
            tuple(names(source) for source in paths),
            tuple(listed.values()),
            tuple(unreadable),
            tuple(names(Path(each.source)) for each in unreadable),
            encoding,
            tuple(skipped),
        )

    def has_source(self, source: str) -> bool:
        """Return whether a file of that name, existing or not, is in one of the folders."""
        return any(is_inside(folder, source) for folder in self.folders)

    def is_unreadable(self, source: str) -> bool:
        """Return whether it is unknown if a file of that name exists."""
        return any(is_inside(closed, source) for closed in self.unknown)

    def read(self, wanted: Sequence[SourceFile], seen: set[str]) -> Iterator[Reading]:
        """Read the documents of some files; ``seen`` are the ids of the others."""
        for file in wanted:
            yield from read_file(file.path, file.name, self.encoding, seen)


def is_inside(folder: str, source: str) -> bool:
    """Return whether a file of one name is in the folder of another, or the same."""
    return folder in (".", source) or source.startswith(f"{folder}/")
