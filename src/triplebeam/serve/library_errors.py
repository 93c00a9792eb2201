"""What can be wrong with the name of an index, or with what is asked of it."""

from triplebeam.errors import BadInputError, IndexMissingError, TriplebeamError


class UnknownIndexError(BadInputError):
    """There is no index of that name."""


class BadIndexNameError(BadInputError):
    """The name cannot be an index's: it becomes a folder."""


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
