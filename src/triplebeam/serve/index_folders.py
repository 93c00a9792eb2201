"""Which folders are indexes, and their names, which are also the names of folders."""

import re
from collections.abc import Sequence
from pathlib import Path

from triplebeam.errors import BadInputError
from triplebeam.index.folder.manifest import is_index
from triplebeam.index.opensearch.address import is_remote
from triplebeam.index.store.lookup import has_store
from triplebeam.serve.library_errors import BadIndexNameError, CannotDeleteError

ENDING = ".index"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def indexes_and_data_folders(folders: Sequence[Path]) -> tuple[dict[str, Path], list[Path]]:
    """The single indexes by name, and the data folders."""
    single: dict[str, Path] = {}
    data: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise BadInputError(f"there is no folder {folder}: name an index, or create a data folder.")
        if not _is_one_index(folder):
            data.append(folder)
            continue
        name = folder.name.removesuffix(ENDING)
        check_name(name)
        if single.setdefault(name, folder).resolve() != folder.resolve():
            raise BadInputError(f"{single[name]} and {folder} would both be the index {name!r}: rename one.")
    if not (single or data):
        raise BadInputError("there is no folder to serve: name an index, or a data folder.")
    return single, data


def _is_one_index(folder: Path) -> bool:
    """Is a folder one index, rather than a data folder?"""
    return is_index(folder) or has_store(folder) or folder.name.endswith(ENDING)


def is_name(name: str) -> bool:
    """Can this be the name of an index?"""
    return bool(_NAME.fullmatch(name)) and ".." not in name


def check_name(name: str) -> None:
    """Refuse a name that cannot be an index's."""
    if not is_name(name):
        raise BadIndexNameError(
            f"{name[:80]!r} cannot be an index's name: use up to 64 letters, digits, '-', '_' and single '.',"
            " starting with a letter or digit."
        )


def check_files_are_here(folder: Path, name: str) -> None:
    """Otherwise, deleting the folder would leave them, and say that they are gone."""
    if folder.is_symlink():
        raise CannotDeleteError(
            f"the index {name!r} is a link to a folder elsewhere, which would stay: delete that folder and the link on"
            " the server's machine."
        )
    if is_remote(folder):
        raise CannotDeleteError(
            f"the index {name!r} is on OpenSearch, where it would stay: delete its three indices on the cluster, then"
            " its folder on the server's machine."
        )
