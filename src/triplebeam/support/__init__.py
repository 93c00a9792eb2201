"""Does a passage say a fact? Words name its entities, a small model reads the relation: see ``docs/evidence.md``."""

from triplebeam.exports import read_exports

__getattr__, __dir__, __all__ = read_exports(globals())
