"""The files of folders that an index is kept in step with, and whether they changed since they were read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from triplebeam.errors import BadInputError
from triplebeam.ingest.folder_walk import make_unreadable, stat_of
from triplebeam.ingest.formats import find_ending
from triplebeam.ingest.naming import SourceNames
from triplebeam.ingest.outcome import Reading, Skipped, Unreadable
from triplebeam.ingest.sources import check_encoding, check_exist, files, read_file


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file by its name in the index. When its size or the time of its last change differs, it is read again."""

    name: str
    path: Path
    size: int
    modified: int
    """In nanoseconds."""

    @property
    def state(self) -> str:
        """What changes when the file does."""
        return f"{self.size} {self.modified}"


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
        cls,
        paths: Sequence[Path],
        names: SourceNames,
        encoding: str | None = None,
        *,
        follow_links: bool = False,
    ) -> "FolderFiles":
        """List the files of a kind that is read. Nothing is opened."""
        check_exist(paths)
        check_encoding(encoding)
        found = [(path, source) for source in paths for path in files(source, follow_links)]
        skipped = [path for path, _ in found if isinstance(path, Skipped)]
        unreadable = [path for path, _ in found if isinstance(path, Unreadable)]
        readable = [p for p, source in found if isinstance(p, Path) and (find_ending(p) is not None or p == source)]
        listed: dict[str, SourceFile] = {}
        for path in readable:
            file = _look_at(path, names(path))
            if isinstance(file, Unreadable):
                unreadable.append(file)
            elif file:
                listed[file.name] = file
        for source in paths:
            if source.is_dir() and not any(names(source) == "." or is_inside(names(source), name) for name in listed):
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


def _look_at(path: Path, name: str) -> SourceFile | Unreadable | None:
    """Stat a file; None where it is gone or no regular file."""
    try:
        stat = stat_of(path)
    except OSError as error:
        return make_unreadable(path, error)
    if stat is None or not S_ISREG(stat.st_mode):
        return None
    return SourceFile(name, path, stat.st_size, stat.st_mtime_ns)


def is_inside(folder: str, source: str) -> bool:
    """Return whether a file of one name is in the folder of another, or the same."""
    return folder in (".", source) or source.startswith(f"{folder}/")
