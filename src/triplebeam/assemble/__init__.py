"""From names to objects: the one place that knows every method, extractor, embedder and model by its name.

Its names are listed in ``__init__.pyi`` and loaded when they are first used.
"""

from triplebeam.exports import read_exports

__getattr__, __dir__, __all__ = read_exports(globals())
