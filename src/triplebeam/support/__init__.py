"""Does a passage say a fact? Rules check quotations, a small model reads other facts: see ``docs/evidence.md``."""

from triplebeam.exports import read_exports

__getattr__, __dir__, __all__ = read_exports(globals())
