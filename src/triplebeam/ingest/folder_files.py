"""The files of folders that an index follows: their names, and whether they changed since they were read.

Names do not depend on the directory a command is run from: a file or folder keeps the name it was first indexed by.
``triplebeam index my.index docs`` makes ``docs/a.md``, and so does ``triplebeam index ../my.index a.md`` in that folder
later, since the index remembers which folder ``docs`` is.

Before the long work starts, files are counted by kind: which are read, which are skipped, and how to include them.
"""

import os
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from stat import S_ISREG

from triplebeam.errors import BadInputError, install_command
from triplebeam.ingest.folder_walk import Reading, Skipped, Unreadable, make_unreadable
from triplebeam.ingest.sources import EXTRAS, check_encoding, check_exist, document_id, files, find_ending, read_file
from triplebeam.system.durable import stat_of
from triplebeam.text.characters import replace_unstorable

#: What to do with files of a kind, or why nothing can be done; {it} is one file or several.
_BY_ADVICE = {
    "save {it} as .docx, .pptx or .xlsx": ".doc .ppt .xls .ods .odp .pages .key .numbers",
    "convert {it} to .html or .txt (for instance with pandoc)": ".tex .texi .texinfo .org .wiki .textile .pod .dbk",
    "unpack {it}": ".zip .tar .tgz .xz .bz2 .7z .rar .zst .gz",
    "convert {it} to .pdf or .txt": ".ps .eps .dvi .mobi .azw3 .chm .djvu",
    "images have no text": ".png .jpg .jpeg .gif .tif .tiff .bmp .webp .svg .ico .heic .avif",
    "recordings have no text": ".mp3 .wav .ogg .flac .m4a .mp4 .mov .avi .mkv .webm",
    "programs and fonts have no text": ".so .o .a .dll .dylib .exe .pyc .class .jar .wasm .woff .woff2 .ttf .otf .eot",
}
_ADVICE = {ending: advice for advice, endings in _BY_ADVICE.items() for ending in endings.split()}
_NAME_IT = "name {it} by path to read {it} as plain text"
_MAX_LINES = 8


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


@dataclass(frozen=True, slots=True)
class Scan:
    """Counts of files, by ending; the empty ending is that of files without one."""

    read: Mapping[str, int]
    skipped: Mapping[str, int]

    def describe_skipped(self) -> list[str]:
        """Return a line for each ending that is skipped, the most frequent first, with how to include such files."""
        ordered = sorted(self.skipped.items(), key=lambda each: (-each[1], each[0]))
        lines = [_line(ending, count) for ending, count in ordered[:_MAX_LINES]]
        if others := dict(ordered[_MAX_LINES:]):
            kinds = ", ".join(ending or "(none)" for ending in others)
            lines.append(f"{sum(others.values()):,} of other kinds: {kinds}")
        return lines

    def describe_missing_extras(self) -> list[str]:
        """Return a line for each extra of the package that files here need and that is not installed."""
        lines = []
        for extra, modules in EXTRAS.items():
            count = sum(self.read.get(ending, 0) for ending, module in modules.items() if find_spec(module) is None)
            if count:
                need = "1 file needs" if count == 1 else f"{count:,} files need"
                lines.append(f"{need} the extra {extra!r}: run {install_command(extra)}")
        return lines


def scan_sources(paths: Sequence[Path], *, follow_links: bool = False) -> Scan:
    """Walk through the sources without opening a file."""
    check_exist(paths)
    read: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for source in paths:
        for path in files(source, follow_links):
            if isinstance(path, Path):
                read[find_ending(path) or path.suffix.lower()] += 1
            elif isinstance(path, Skipped) and not path.reason:
                skipped[Path(path.source).suffix.lower()] += 1
    return Scan(dict(read), dict(skipped))


def _line(ending: str, count: int) -> str:
    files_ = "file" if count == 1 else "files"
    kind = f"{count:,} {ending} {files_}" if ending else f"{count:,} {files_} without an ending"
    return f"{kind}: {_ADVICE.get(ending, _NAME_IT).format(it='it' if count == 1 else 'them')}"


def wait_for_changes(look: Callable[[], object], wait: Callable[[], None]) -> Iterator[None]:
    """Yield at once, and then whenever what ``look`` returns has changed and was the same twice.

    So a file that is still being written is left alone until the next look.
    """
    done = before = look()
    yield
    while True:
        wait()
        now = look()
        if now == before and now != done:
            done = now
            yield
        before = now
