"""GNN-Ret by name: the bases it stands on, its parameters in brackets, and weights from a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from triplebeam.errors import BadInputError
from triplebeam.index.passage_graph import KINDS, EdgeKind
from triplebeam.methods.gnn_ret import GNN_RET, GNNRet, Weights, read_weights
from triplebeam.methods.gnn_ret.propagate import Distance, Message
from triplebeam.methods.gnn_ret.recurrent import RecurrentGNNRet
from triplebeam.names import nearest
from triplebeam.retrieve.bm25 import BM25
from triplebeam.retrieve.cached_scores import CachedScores
from triplebeam.retrieve.dense import Dense
from triplebeam.retrieve.hybrid import ScaledHybrid
from triplebeam.retrieve.retriever import Retriever, ScoringRetriever
from triplebeam.retrieve.title_bonus import TitleBonus

if TYPE_CHECKING:
    from triplebeam.assemble.collection import Collection

T = TypeVar("T")

MESSAGES: Mapping[str, Message] = {"min": "min", "mean": "mean"}
EDGES: Mapping[str, tuple[EdgeKind, ...]] = {"both": KINDS, "structural": ("structural",), "keyword": ("keyword",)}
UNTRAINED_ALPHA = 0.5


class ScoringBase(NamedTuple):
    """A base with a score for every passage, its name, and how its scores become distances."""

    retriever: ScoringRetriever
    name: str
    distance: Distance


def scoring_base(below: Retriever, method: str) -> ScoringBase:
    """What GNN-Ret can stand on; anything else is refused before it is asked a question."""
    match below:
        case Dense(over="passages"):
            return ScoringBase(below, "dense", "cosine")
        case ScaledHybrid():  # from 0 to 1 already
            return ScoringBase(below, "scaled_hybrid", "cosine")
        case CachedScores():
            return scoring_base(below.base, method)._replace(retriever=below)
        case TitleBonus():
            return ScoringBase(below, "scaled_hybrid with titles", "cosine")
        case BM25(over="passages"):
            return ScoringBase(below, "bm25", "scaled")
        case _:
            raise BadInputError(
                f"GNN-Ret in {method!r} needs a base with a score for every passage: use dense, scaled_hybrid or bm25"
                " in front of +gnn_ret."
            )


def gnn_ret(collection: "Collection", below: Retriever, values: Mapping[str, Any], method: str) -> Retriever:
    """GNN-Ret over a base; with ``beta``, or with weights of rgnn_ret, the recurrent one."""
    base = scoring_base(below, method)
    weights = _weights(collection, base, values) if "weights" in values else None
    found = _gnn_ret(collection, base, weights, values)
    beta = values.get("beta", weights.beta if weights else None)
    return found if beta is None else RecurrentGNNRet(gnn_ret=found, beta=beta)


def _gnn_ret(collection: "Collection", base: ScoringBase, weights: Weights | None, values: Mapping[str, Any]) -> GNNRet:
    """What a weights file was trained with holds unless it is named."""
    trained = weights.settings if weights else GNN_RET
    layers = values.get("layers", 1)
    # Looking up the keyword that a hit came by takes longer than finding the hit: a millisecond or two.
    triples = collection.triples if values.get("chains", True) else None
    return GNNRet(
        base=base.retriever,
        graph=collection.index.passage_graph,
        passages=collection.passages,
        alpha=weights.alpha if weights else (values.get("alpha", UNTRAINED_ALPHA),) * layers,
        relevant=values.get("relevant", trained.relevant),
        message=choice("message", values["message"], MESSAGES) if "message" in values else trained.message,
        edges=choice("edges", values["edges"], EDGES) if "edges" in values else trained.edges,
        distance=base.distance,
        triples=triples,
        explained=values.get("explained"),
    )


def choice(parameter: str, name: str, known: Mapping[str, T]) -> T:
    """What a name stands for."""
    if name not in known:
        raise BadInputError(f"{parameter}={name}{nearest(name, known)}: choose one of {', '.join(known)}.")
    return known[name]


def _weights(collection: "Collection", base: ScoringBase, values: Mapping[str, Any]) -> Weights:
    """Values learned for one embedder and one base say nothing about others."""
    if own := [name for name in ("alpha", "layers") if name in values]:
        raise BadInputError(f"weights={values['weights']} has its own alpha for each layer: leave out {own[0]}.")
    weights = read_weights(Path(values["weights"]))
    here = {"base": base.name, "embedder": collection.index.manifest.embedder.name}
    there = {"base": weights.trained_on.base, "embedder": weights.trained_on.embedder}
    for what, name in here.items():
        if there[what] != name:
            raise BadInputError(
                f"the weights {values['weights']} were trained for the {what} {there[what]!r}, not for {name!r}: train"
                " others with `triplebeam train`."
            )
    return weights
