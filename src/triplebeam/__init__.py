"""Multi-hop retrieval over your own documents, through a graph of triples.

    import triplebeam

    index = triplebeam.Index("my.index")  # opens it, or creates it
    index.add("docs/")
    for hit in index.search("When did the director of Laughter in Hell die?", k=5):
        print(hit.score, hit.passage.title, hit.snippet.text)

Names are listed in ``__init__.pyi`` and loaded when they are first used: importing the package costs next to nothing.
"""

from importlib import import_module

from triplebeam.exports import read_exports

_load, __dir__, __all__ = read_exports(globals())


def __getattr__(name: str) -> object:
    """Find a public name in the module it lives in; the version where the package is installed."""
    return import_module("importlib.metadata").version(__name__) if name == "__version__" else _load(name)
