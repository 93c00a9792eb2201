"""Names of files that do not depend on the directory a command is run from.

A file or folder keeps the name it was first indexed by. ``triplebeam index my.index docs`` makes ``docs/a.md``, and so
does ``triplebeam index ../my.index a.md`` in that folder later, since the index remembers which folder ``docs`` is.
"""

import os
import posixpath
from collections.abc import Iterable, Mapping
from pathlib import Path

from triplebeam.errors import BadInputError
from triplebeam.ingest.sources import document_id
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
