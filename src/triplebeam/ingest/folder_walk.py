"""Walk through a folder: its files in order of their names, and links that lead nowhere else.

A link out of the folder may have been put there by whoever may write into it, and not by whoever indexes it: it is
skipped and counted, unless links are to be followed. Whatever they do, links form no endless loop, and a file that can
be reached in several ways is read once, under its own name where it has one in the folder.

What programs wrote for programs (installed packages, lock files, packed scripts) is left out of a folder, with the
reason; a user who names such a file by itself means it.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR
from typing import TypeAlias

from triplebeam.passage import Document
from triplebeam.system.durable import stat_of

_HIDDEN = (".", "~$")  # "~$report.docx" is the lock that Word keeps beside an open file
_NOT_DOCUMENTS = frozenset(("__pycache__",))
_PACKAGES = "it holds installed packages, not documents"
_PACKAGE_FOLDERS = frozenset(("node_modules", "bower_components", "jspm_packages", "site-packages"))
#: A folder of this name may hold documents about vendors; beside one of these files it holds code of others.
_VENDOR, _VENDOR_MARKS = "vendor", ("go.mod", "composer.json", "Gemfile", "package.json")
_ENVIRONMENT_MARK = "pyvenv.cfg"
_LOCK_FILES = frozenset(
    ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "packages.lock.json", "composer.lock", "yarn.lock")
)
_PACKED = re.compile(r"[.-]min\.(?:m?js|css)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file, or a line of one, that should have been a document and is not."""

    source: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        """Format as one line: the place, then the reason."""
        place = self.source if self.line is None else f"{self.source}, line {self.line}"
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Skipped:
    """An empty file, or one of a kind that is not read, met in a folder. No error: folders hold all sorts of things."""

    source: str
    reason: str = ""
    """Said where it is not the kind of the file."""

    def __str__(self) -> str:
        """Format as one line."""
        return f"{self.source}: {self.reason}" if self.reason else self.source


Reading: TypeAlias = Document | Unreadable | Skipped


class FolderWalk:
    """One walk through a folder, which knows where it has been."""

    def __init__(self, folder: Path, follow_links: bool) -> None:
        self.folder = folder
        self.follow_links = follow_links
        self._root = _resolve_links(folder)
        self._entered: set[Path] = set()
        """Real folders."""
        self._linked: set[Path] = set()
        """Real files that were read under the name of a link."""
        self._links: list[Path] = []
        """Links that were met and not followed yet: what has a name of its own in the folder comes first."""
        self._leaving: list[Path] = []

    def walk(self) -> Iterator[Path | Unreadable | Skipped]:
        """Yield the files, what cannot be looked at, and at the end the links that leave the folder, as one."""
        yield from self._descend(self.folder)
        while self._links:
            path = self._links.pop(0)
            try:
                yield from self._follow(path)
            except OSError as error:
                yield make_unreadable(path, error)
        if self._leaving:
            others = len(self._leaving) - 1
            also = f", as do {others:,} other links" if others > 1 else ", as does 1 other link" if others else ""
            yield Skipped(
                str(self._leaving[0]),
                f"it links outside the folder{also}: allow that with --follow-links (in Python follow_links=True)",
            )

    def is_allowed(self, path: Path) -> bool:
        """Return whether a path may be read: it is in the folder, or links are followed."""
        return self.follow_links or _resolve_links(path).is_relative_to(self._root)

    def _descend(self, start: Path) -> Iterator[Path | Unreadable | Skipped]:
        waiting = [start]
        while waiting:
            path = waiting.pop()
            try:
                if path != start and path.is_symlink():
                    self._links.append(path)
                elif not ((stat := stat_of(path)) and S_ISDIR(stat.st_mode)):
                    if not self._linked or _resolve_links(path) not in self._linked:
                        yield Skipped(str(path), reason) if (reason := reason_to_skip_file(path)) else path
                elif path != self.folder and (reason := reason_to_skip_folder(path)):
                    yield Skipped(str(path), reason)
                else:
                    waiting += self._enter(path)
            except OSError as error:
                yield make_unreadable(path, error)

    def _enter(self, folder: Path) -> list[Path]:
        """Return what is in a folder, last name first; nothing where it was entered before, or is no part of this."""
        if not self.is_allowed(folder):  # Windows has links to folders that do not look like links
            self._leaving.append(folder)
            return []
        real = _resolve_links(folder)
        if real in self._entered or folder.name in _NOT_DOCUMENTS or _is_index(folder):
            return []
        self._entered.add(real)
        children = sorted(folder.iterdir(), key=lambda child: child.name, reverse=True)
        return [child for child in children if not child.name.startswith(_HIDDEN)]

    def _follow(self, link: Path) -> Iterator[Path | Unreadable | Skipped]:
        if not self.is_allowed(link):
            self._leaving.append(link)
        elif (stat := stat_of(link)) is None:
            yield link  # it is broken, which is told when it is read
        elif S_ISDIR(stat.st_mode):
            yield from self._descend(link)
        else:
            real = _resolve_links(link)
            has_a_name = real.parent in self._entered and not real.name.startswith(_HIDDEN)
            if not has_a_name and real not in self._linked:
                self._linked.add(real)
                yield link


def make_unreadable(path: Path, error: OSError) -> Unreadable:
    """Return the outcome for a file or folder that the system refuses to open."""
    return Unreadable(str(path), f"it cannot be opened: {error.strerror}")


def _resolve_links(path: Path) -> Path:
    return Path(os.path.realpath(path))  # unlike Path.resolve, it raises nothing where links form a loop


def _is_index(folder: Path) -> bool:
    """Return whether this folder is an index, which is kept beside its documents and is none of them."""
    return (folder / "store.sqlite").is_file() and (folder / "write.lock").is_file()


def reason_to_skip_folder(folder: Path) -> str:
    """Return why a folder is left out, or nothing."""
    is_vendored = folder.name == _VENDOR and any((folder.parent / mark).is_file() for mark in _VENDOR_MARKS)
    is_environment = (folder / _ENVIRONMENT_MARK).is_file()
    return _PACKAGES if folder.name in _PACKAGE_FOLDERS or is_vendored or is_environment else ""


def reason_to_skip_file(path: Path) -> str:
    """Return why a file is left out by its name, or nothing."""
    if path.name in _LOCK_FILES:
        return "it is a lock file, which a package manager writes"
    return "it is a minified script" if _PACKED.search(path.name) else ""
