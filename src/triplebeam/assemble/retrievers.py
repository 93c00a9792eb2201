"""The functions that build retrievers. What is keyword-only here can be written in brackets after a method's name."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from triplebeam.assemble.context import Context
from triplebeam.errors import BadInputError
from triplebeam.index.folder.entity_graph import BLENDED_PASSAGES, BLENDED_TOLERANCE
from triplebeam.index.folder.passage_graph import KINDS, PAPER_KINDS, EdgeKind
from triplebeam.index.folder.terms import TermIndex
from triplebeam.methods.gear import Cascade, Exact, LLMReader, NaiveGE, Pooled, SyncGE
from triplebeam.methods.gear.beam_search import ChainScorer
from triplebeam.methods.gnn_ret import GNN_RET, GNNRet, Weights, read_weights
from triplebeam.methods.gnn_ret.propagate import Distance, Message
from triplebeam.methods.gnn_ret.retrieve import RecurrentGNNRet
from triplebeam.methods.hipporag.hipporag import HippoRAG
from triplebeam.methods.hipporag.hipporag2 import HippoRAG2
from triplebeam.methods.hipporag.query_entities import (
    GivenQueryEntities,
    LLMQueryEntities,
    QueryEntities,
    VerbatimEntities,
)
from triplebeam.methods.shared.replies import LLMTripleFilter
from triplebeam.passage import SHARED_TITLE
from triplebeam.retrieve.bases import BM25, Dense, Hybrid, ScaledHybrid
from triplebeam.retrieve.blend.blend import Blend, Walk
from triplebeam.retrieve.blend.links import OwnerLinks, TitleLinks
from triplebeam.retrieve.blend.tail import Tail
from triplebeam.retrieve.question_parts import Clauses, TitleBonus
from triplebeam.retrieve.rare_terms import RareTerms
from triplebeam.retrieve.retriever import Retriever, ScoringRetriever
from triplebeam.retrieve.scores import CachedScores

#: What a base searches; ``@triples`` after its name sets it.
Over: TypeAlias = Literal["passages", "triples"]
BlendedPart: TypeAlias = Literal["messages", "triples", "names", "titles", "owners", "tail"]
TITLE_BONUS = 0.2
#: HippoRAG 2 keeps five entities of the nearest triples; twice as many find more here.
_BLENDED_SEEDS = 10


def bm25(context: Context, *, over: Over = "passages") -> BM25:
    """Words in common."""
    return (BM25.over_passages if over == "passages" else BM25.over_triples)(context.source)


def dense(context: Context, *, over: Over = "passages") -> Dense:
    """Nearness in meaning."""
    return (Dense.over_passages if over == "passages" else Dense.over_triples)(context.source, context.embedder)


def hybrid(context: Context, *, over: Over = "passages") -> Hybrid:
    """Both, fused by rank."""
    return Hybrid(bm25(context, over=over), dense(context, over=over))


def scaled_hybrid(context: Context, *, title_bonus: float = 0.0) -> ScoringRetriever:
    """Both, added by score."""
    found = ScaledHybrid(sparse=bm25(context), dense=dense(context), passage_of=context.passages.ids)
    return TitleBonus(base=found, passages=context.snapshot.passages, bonus=title_bonus) if title_bonus else found


def hipporag(context: Context, *, entities: Literal["llm", "verbatim", "given"] = "llm") -> HippoRAG:
    """PageRank from the question's entities."""
    return HippoRAG.over(context.snapshot, context.embedder, _query_entities(context, entities))


def _query_entities(context: Context, source: str) -> QueryEntities:
    match source:
        case "llm":
            return LLMQueryEntities(model=context.reading_model)
        case "verbatim":
            return VerbatimEntities(context.snapshot.entities)
        case _ if context.query_entities:
            return GivenQueryEntities(context.query_entities)
        case _:
            raise BadInputError("entities=given needs a file of them: name it with --query-entities.")


def hipporag2(
    context: Context,
    *,
    filter: Literal["none", "llm"] = "none",  # noqa: A002 - what people write
    base: Retriever | None = None,
) -> HippoRAG2:
    """PageRank from the nearest triples."""
    return HippoRAG2.over(
        context.snapshot,
        context.embedder,
        base=base or dense(context),
        triple_filter=LLMTripleFilter(model=context.reading_model) if filter == "llm" else None,
    )


def link_sources(context: Context) -> dict[str, Any]:
    """Return what links of either kind are read from."""
    index = context.snapshot
    return {"triples": index.triples, "graph": index.entities, "passages": index.passages}


def blend(context: Context, *, without: BlendedPart | None = None, share: float | None = None) -> Blend:
    """Plain search and the graphs, or all but one of them; ``share`` is the index's own unless it is given."""
    near = CachedScores(dense(context), in_parts=context.snapshot.passage_vectors.is_large)
    plain = CachedScores(_plain(context, near))
    # Without triples no walk can start, and no fact leads on.
    walks = _walks(context, plain) if len(context.triples) else {}
    facts = link_sources(context)
    return Blend(
        plain=plain,
        dense=near,
        walks={name: walk for name, walk in walks.items() if name != without},
        titles=TitleLinks(**facts, most=SHARED_TITLE) if walks and without != "titles" else None,
        owners=OwnerLinks(**facts) if walks and without != "owners" else None,
        tail=None if without == "tail" else _tail(context),
        passages=context.snapshot.passages,
        embedder=context.embedder,
        share=context.snapshot.manifest.share if share is None else share,
    )


def _tail(context: Context) -> Tail:
    """Places for other documents, and for rare terms where those of all passages are here and not too many."""
    index = context.snapshot
    terms = index.passage_terms if not index.passage_vectors.is_large else None
    rare = RareTerms(terms=terms, passages=index.passages) if isinstance(terms, TermIndex) else None
    return Tail(terms=rare, passages=index.passages)


def _plain(context: Context, near: CachedScores) -> ScoringRetriever:
    """Terms and vectors, of the question and of its clauses, and titles in it."""
    words = bm25(context)
    both = ScaledHybrid(sparse=words, dense=near, passage_of=context.passages.ids)
    parts = Clauses(base=both, sparse=words, dense=dense(context), near=near if near.in_parts else None)
    return TitleBonus(base=parts, passages=context.snapshot.passages, bonus=TITLE_BONUS, most=SHARED_TITLE)


def _walks(context: Context, plain: ScoringRetriever) -> Mapping[str, Walk]:
    index, embedder = context.snapshot, context.embedder
    walk: dict[str, Any] = {"max_passages": BLENDED_PASSAGES, "tolerance": BLENDED_TOLERANCE}
    names = VerbatimEntities(index.entities)
    return {
        "messages": GNNRet(
            base=plain, graph=index.passage_graph, passages=index.passages, triples=index.triples, edges=KINDS
        ),
        "triples": HippoRAG2.over(index, embedder, base=plain, seed_entities=_BLENDED_SEEDS, **walk),
        "names": HippoRAG.over(index, embedder, names, fallback=None, **walk),
    }


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
