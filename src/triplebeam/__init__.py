"""Multi-hop retrieval over your own documents, through a graph of triples.

    import triplebeam

    index = triplebeam.open("my.index")
    for hit in index.search("When did the director of Laughter in Hell die?", k=5):
        print(hit.score, index.passages[hit.passage_id].title)

Names are loaded when they are first used, so importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplebeam.assemble import Collection
    from triplebeam.assemble import open_collection as open  # noqa: A004
    from triplebeam.errors import TriplebeamError
    from triplebeam.methods.gear import Cascade, Exact, NaiveGE, Pooled, SyncGE
    from triplebeam.passage import Document, Passage
    from triplebeam.ranking import Hit, Ranking
    from triplebeam.retrieve.hybrid import Hybrid
    from triplebeam.triple import Chain, Triple

_HOMES = {
    "Cascade": "methods.gear",
    "Chain": "triple",
    "Collection": "assemble",
    "Document": "passage",
    "Exact": "methods.gear",
    "Hit": "ranking",
    "Hybrid": "retrieve.hybrid",
    "NaiveGE": "methods.gear",
    "Passage": "passage",
    "Pooled": "methods.gear",
    "Ranking": "ranking",
    "SyncGE": "methods.gear",
    "Triple": "triple",
    "TriplebeamError": "errors",
    "open": "assemble:open_collection",
}

__all__ = [
    "Cascade",
    "Chain",
    "Collection",
    "Document",
    "Exact",
    "Hit",
    "Hybrid",
    "NaiveGE",
    "Passage",
    "Pooled",
    "Ranking",
    "SyncGE",
    "Triple",
    "TriplebeamError",
    "open",
]


def __getattr__(name: str) -> object:
    """Find a public name in the module it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(f"{__name__}.{module}"), attribute or name)
