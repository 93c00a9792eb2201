"""Which folders are indexes, their names, what can be wrong with them, and what a client may read of an error."""

import logging
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from triplebeam.errors import BadInputError, ClusterError, ExtraMissingError, IndexMissingError, TriplebeamError
from triplebeam.index.folder.manifest import is_index
from triplebeam.index.location import Cluster, Folder, Location
from triplebeam.index.store.tables import has_store

_LOG = logging.getLogger("triplebeam")
ENDING = ".index"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class UnknownIndexError(BadInputError):
    """There is no index of that name."""


class BadIndexNameError(BadInputError):
    """The name cannot be an index's: it is also the name of its folder."""


class EmptyIndexError(IndexMissingError):
    """The index has been created, and nothing is published in it yet."""


class NothingVisibleError(TriplebeamError):
    """What the indexes are filtered by leaves nothing of one."""


class IndexExistsError(TriplebeamError):
    """There is an index of that name already."""


class CannotCreateError(TriplebeamError):
    """There is no data folder to create indexes in."""


class CannotDeleteError(TriplebeamError):
    """The index is none of a data folder, or its files are elsewhere."""


def indexes_and_data_folders(places: Sequence[Location]) -> tuple[dict[str, Location], list[Path]]:
    """Return the single indexes by name, and the data folders."""
    single: dict[str, Location] = {}
    data: list[Path] = []
    for place in places:
        folder = place.state
        if isinstance(place, Folder) and not folder.is_dir():
            raise BadInputError(f"there is no folder {folder}: name an index, or create a data folder.")
        is_one_index = is_index(folder) or has_store(folder) or folder.name.endswith(ENDING)
        if isinstance(place, Folder) and not is_one_index:
            data.append(folder)
            continue
        name = folder.name.removesuffix(ENDING)
        check_name(name)
        if single.setdefault(name, place).state.resolve() != folder.resolve():
            raise BadInputError(f"{single[name]} and {place} would both be the index {name!r}: rename one.")
    if not (single or data):
        raise BadInputError("there is no folder to serve: name an index, or a data folder.")
    return single, data


def is_name(name: str) -> bool:
    """Return whether this can be the name of an index."""
    return bool(_NAME.fullmatch(name)) and ".." not in name


def check_name(name: str) -> None:
    """Refuse a name that cannot be an index's."""
    if not is_name(name):
        raise BadIndexNameError(
            f"{name[:80]!r} cannot be an index's name: use up to 64 letters, digits, '-', '_' and single '.',"
            " starting with a letter or digit."
        )


def check_files_are_here(location: Location, name: str) -> None:
    """Refuse an index whose files deleting the folder would leave, and say that they are gone."""
    if location.state.is_symlink():
        raise CannotDeleteError(
            f"the index {name!r} is a link to a folder elsewhere, which would stay: delete that folder and the link on"
            " the server's machine."
        )
    if isinstance(location, Cluster):
        raise CannotDeleteError(
            f"the index {name!r} is on OpenSearch, where it would stay: delete its three indices on the cluster, then"
            " its folder on the server's machine."
        )


def message_of(error: TriplebeamError, redact: Callable[[str], str]) -> str:
    """Return what a client may read of an error. For the log alone: what a cluster says and where it is, and the
    command that installs an extra.
    """
    match error:
        case ClusterError():
            said = (
                "the cluster of this index cannot be reached, or refused the request: the server's log has the reason."
            )
        case ExtraMissingError():
            said = f"the server lacks the extra {error.extra!r}: its log has the command that installs it."
        case _:
            return redact(str(error))
    _LOG.warning("%s", error)
    return said
