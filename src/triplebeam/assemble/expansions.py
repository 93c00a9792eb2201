"""The functions that build what expands a retriever: apart from the others, since a plain search needs none of it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from triplebeam.assemble.context import Context
from triplebeam.assemble.models import DEFAULT_EMBEDDER
from triplebeam.errors import BadInputError
from triplebeam.index.folder.passage_graph import KINDS, PAPER_KINDS, EdgeKind
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.terms import TermIndex
from triplebeam.methods.gear import Cascade, Exact, LLMReader, NaiveGE, Pooled, SyncGE
from triplebeam.methods.gear.beam_search import ChainScorer
from triplebeam.methods.gnn_ret.propagate import Distance, Message
from triplebeam.methods.gnn_ret.retrieve import GNNRet, RecurrentGNNRet
from triplebeam.methods.gnn_ret.weights import GNN_RET, Weights, read_weights
from triplebeam.retrieve.bases import BM25, Dense, ScaledHybrid
from triplebeam.retrieve.bridge.reader import open_reader
from triplebeam.retrieve.bridge.rerank import Rerank
from triplebeam.retrieve.question_parts import TitleBonus
from triplebeam.retrieve.retriever import Retriever, ScoringRetriever
from triplebeam.weights import GRANITE, ensure

Scorer: TypeAlias = Literal["cascade", "exact", "pooled"]


def naive_ge(
    context: Context, below: Retriever, *, scorer: Scorer = "cascade", shortlist: int | None = None
) -> NaiveGE:
    """Walk from every triple of the base's passages."""
    return NaiveGE(base=below, triples=context.triples, scorer=_scorer(context, scorer, shortlist))


def sync_ge(context: Context, below: Retriever, *, scorer: Scorer = "cascade", shortlist: int | None = None) -> SyncGE:
    """Walk from the facts that a model reads in the base's passages."""
    return SyncGE(
        base=below,
        triples=context.triples,
        scorer=_scorer(context, scorer, shortlist),
        reader=LLMReader(model=context.reading_model, passages=context.passages),
    )


def _scorer(context: Context, name: Scorer, shortlist: int | None) -> ChainScorer:
    triples, embedder = context.triples, context.embedder
    if name == "cascade":
        cascade = Cascade(triples=triples, embedder=embedder)
        return cascade if shortlist is None else replace(cascade, shortlist=shortlist)
    if shortlist is not None:
        raise BadInputError(f"the scorer {name!r} has no shortlist: only cascade has.")
    return (Exact if name == "exact" else Pooled)(triples=triples, embedder=embedder)


Edges: TypeAlias = Literal["both", "structural", "keyword", "links", "all"]
EDGES: Mapping[Edges, tuple[EdgeKind, ...]] = {
    "both": PAPER_KINDS,
    "structural": ("structural",),
    "keyword": ("keyword",),
    "links": ("links",),
    "all": KINDS,
}
UNTRAINED_ALPHA = 0.5


class ScoringBase(NamedTuple):
    """A base with a score for every passage, its name, and how its scores become distances."""

    retriever: ScoringRetriever
    name: str
    distance: Distance


def scoring_base(below: Retriever) -> ScoringBase:
    """Return what GNN-Ret can use; anything else is refused before it is asked a question."""
    match below:
        case Dense(over="passages"):
            return ScoringBase(below, "dense", "cosine")
        case ScaledHybrid():  # from 0 to 1 already
            return ScoringBase(below, "scaled_hybrid", "cosine")
        case TitleBonus():
            return ScoringBase(below, "scaled_hybrid with titles", "cosine")
        case BM25(over="passages"):
            return ScoringBase(below, "bm25", "scaled")
        case _:
            raise BadInputError(
                "GNN-Ret needs a base with a score for every passage: use dense, scaled_hybrid or bm25 in front of"
                " +gnn_ret."
            )


def gnn_ret(
    context: Context,
    below: Retriever,
    *,
    relevant: int | None = None,
    layers: int | None = None,
    alpha: float | None = None,
    message: Message | None = None,
    edges: Edges | None = None,
    weights: Path | None = None,
    chains: bool = True,
    beta: float | None = None,
) -> Retriever:
    """GNN-Ret over a base; with ``beta``, or with weights of rgnn_ret, the recurrent one.

    What a weights file was trained with holds unless it is named.
    """
    base = scoring_base(below)
    learned = _weights(context, base, weights, {"alpha": alpha, "layers": layers}) if weights else None
    trained = learned.settings if learned else GNN_RET
    if layers is not None and layers < 1:
        raise BadInputError(f"layers is {layers}: messages are sent at least once.")
    found = GNNRet(
        base=base.retriever,
        graph=context.snapshot.passage_graph,
        passages=context.snapshot.passages,
        alpha=learned.alpha if learned else (UNTRAINED_ALPHA if alpha is None else alpha,) * (layers or 1),
        relevant=trained.relevant if relevant is None else relevant,
        message=message or trained.message,
        edges=EDGES[edges] if edges else trained.edges,
        distance=base.distance,
        # Looking up the keyword that a hit came by takes longer than finding the hit: a millisecond or two.
        triples=context.snapshot.triples if chains else None,
    )
    if beta is None and learned:
        beta = learned.beta
    return found if beta is None else RecurrentGNNRet(gnn_ret=found, beta=beta)


def _weights(context: Context, base: ScoringBase, path: Path, given: Mapping[str, float | None]) -> Weights:
    """Values learned for one embedder and one base say nothing about others."""
    if own := [name for name, value in given.items() if value is not None]:
        raise BadInputError(f"weights={path} has its own alpha for each layer: leave out {own[0]}.")
    weights = read_weights(path)
    here = {"base": base.name, "embedder": context.source.manifest.embedder.name}
    there = {"base": weights.trained_on.base, "embedder": weights.trained_on.embedder}
    for what, name in here.items():
        if there[what] != name:
            raise BadInputError(
                f"the weights {path} were trained for the {what} {there[what]!r}, not for {name!r}: train others with"
                " `triplebeam research train`."
            )
    return weights


def can_rerank(context: Context) -> bool:
    """Decide whether the index is a folder with the default embedder, which the bridge reader adapts."""
    source = context.source
    return isinstance(source, Snapshot) and source.manifest.embedder.name == DEFAULT_EMBEDDER


def rerank(context: Context, below: Retriever) -> Rerank:
    """Read the base's first passages again, and what rare terms of them reach."""
    index, settings = context.snapshot, context.settings
    if not isinstance(index.passage_terms, TermIndex):
        raise BadInputError("rerank follows rare terms, which a cluster does not list: use an index in a folder.")
    folder = ensure(GRANITE, settings.home, offline=settings.offline, progress=context.progress)
    return Rerank(
        base=below,
        reader=open_reader(folder),
        rare=Rerank.follow_over(index.passage_terms, index.passages),
        vectors=index.passage_vectors,
        embedder=context.embedder,
        share=index.manifest.share,
    )
