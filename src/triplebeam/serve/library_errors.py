"""What can be wrong with the name of an index, or with what is asked of it, and what a client may read of an error."""

import logging
from collections.abc import Callable

from triplebeam.errors import BadInputError, ClusterError, ExtraMissingError, IndexMissingError, TriplebeamError

_LOG = logging.getLogger("triplebeam")


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


def message_of(error: TriplebeamError, redact: Callable[[str], str]) -> str:
    """What a client may read of an error. For the log alone: what a cluster says and where it is, and the command that
    installs an extra.
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
