"""Files and folders that programs wrote for programs: installed packages, lock files, packed scripts.

They are left out of a folder, with the reason; a user who names one by itself means it.
"""

import re
from pathlib import Path

from triplebeam.errors import SourceError

_PACKAGES = "it holds installed packages, not documents"
_PACKAGE_FOLDERS = frozenset(("node_modules", "bower_components", "jspm_packages", "site-packages"))
#: A folder of this name may hold documents about vendors; beside one of these files it holds code of others.
_VENDOR, _VENDOR_MARKS = "vendor", ("go.mod", "composer.json", "Gemfile", "package.json")
_ENVIRONMENT_MARK = "pyvenv.cfg"
_LOCK_FILES = frozenset(
    ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "packages.lock.json", "composer.lock", "yarn.lock")
)
_PACKED = re.compile(r"[.-]min\.(?:m?js|css)", re.IGNORECASE)
#: A script of this many characters is looked at; more than half of them in lines of this many is no person's work.
_MIN_SCRIPT_CHARACTERS, _MAX_LINE_CHARACTERS = 2_000, 1_000


class NoDocumentError(SourceError):
    """A file of a kind that is read is no document all the same, and is skipped."""


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


def check_written_by_hand(script: str) -> None:
    """Raise NoDocumentError where most of a script is in lines that no person writes."""
    packed = sum(len(line) for line in script.split("\n") if len(line) > _MAX_LINE_CHARACTERS)
    if len(script) > _MIN_SCRIPT_CHARACTERS and 2 * packed > len(script):
        raise NoDocumentError(
            f"it is a minified script: most of it is in lines of over {_MAX_LINE_CHARACTERS:,} characters"
        )
