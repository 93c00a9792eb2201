"""Multi-hop retrieval over your own documents, through a graph of triples.

    import triplebeam

    index = triplebeam.create("my.index")
    index.add("docs/")
    for hit in index.search("When did the director of Laughter in Hell die?", k=5):
        print(hit.score, hit.title, hit.text)

Names are loaded when they are first used, so importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplebeam.answer import Agent, Answer, Evidence, Run, Step
    from triplebeam.assemble import Index, Method
    from triplebeam.assemble import create_index as create
    from triplebeam.assemble import open_index as open  # noqa: A004
    from triplebeam.errors import TriplebeamError
    from triplebeam.methods.ge_reasoning import GEReasoning
    from triplebeam.methods.gear import Cascade, Exact, GeAR, NaiveGE, Pooled, SyncGE
    from triplebeam.methods.gnn_ret import GNNRet
    from triplebeam.passage import Document, Passage
    from triplebeam.ranking import Hit, Ranking, Result
    from triplebeam.retrieve.hybrid import Hybrid
    from triplebeam.retrieve.retriever import Retriever
    from triplebeam.settings import Settings
    from triplebeam.triple import Chain, Triple

    __version__: str

_HOMES = {
    "Agent": "answer",
    "Answer": "answer",
    "Cascade": "methods.gear",
    "Chain": "triple",
    "Document": "passage",
    "Evidence": "answer",
    "Exact": "methods.gear",
    "GEReasoning": "methods.ge_reasoning",
    "GNNRet": "methods.gnn_ret",
    "GeAR": "methods.gear",
    "Hit": "ranking",
    "Hybrid": "retrieve.hybrid",
    "Index": "assemble",
    "Method": "assemble",
    "NaiveGE": "methods.gear",
    "Passage": "passage",
    "Pooled": "methods.gear",
    "Ranking": "ranking",
    "Result": "ranking",
    "Retriever": "retrieve.retriever",
    "Run": "answer",
    "Settings": "settings",
    "Step": "answer",
    "SyncGE": "methods.gear",
    "Triple": "triple",
    "TriplebeamError": "errors",
    "create": "assemble:create_index",
    "open": "assemble:open_index",
}

__all__ = [
    "Agent",
    "Answer",
    "Cascade",
    "Chain",
    "Document",
    "Evidence",
    "Exact",
    "GEReasoning",
    "GNNRet",
    "GeAR",
    "Hit",
    "Hybrid",
    "Index",
    "Method",
    "NaiveGE",
    "Passage",
    "Pooled",
    "Ranking",
    "Result",
    "Retriever",
    "Run",
    "Settings",
    "Step",
    "SyncGE",
    "Triple",
    "TriplebeamError",
    "create",
    "open",
]


def __getattr__(name: str) -> object:
    """Find a public name in the module it lives in; the version where the package is installed."""
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(f"{__name__}.{module}"), attribute or name)


def __dir__() -> list[str]:
    return __all__
