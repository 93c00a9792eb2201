"""The functions that build retrievers. What is keyword-only here can be written in brackets behind a method's name."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias

from triplebeam.assemble.context import Context
from triplebeam.assemble.gnn_ret import gnn_ret
from triplebeam.blend import Blend
from triplebeam.blend import Links as BlendLinks
from triplebeam.blend import Part as BlendPart
from triplebeam.embed import load_token_encoder
from triplebeam.errors import BadInputError
from triplebeam.index.token_vectors import published_tokens
from triplebeam.methods.gear import Cascade, Exact, LLMReader, NaiveGE, Pooled, SyncGE
from triplebeam.methods.gear.score import ChainScorer
from triplebeam.methods.hipporag.hipporag import HippoRAG
from triplebeam.methods.hipporag.hipporag2 import HippoRAG2
from triplebeam.methods.hipporag.query_entities import (
    GivenQueryEntities,
    LLMQueryEntities,
    QueryEntities,
    VerbatimEntities,
)
from triplebeam.methods.hipporag.walk_chains import WalkChains
from triplebeam.methods.shared.triple_filter import LLMTripleFilter
from triplebeam.retrieve.bm25 import BM25
from triplebeam.retrieve.cached_scores import CachedScores
from triplebeam.retrieve.dense import Dense
from triplebeam.retrieve.fixed_ranking import FixedRanking
from triplebeam.retrieve.hybrid import Hybrid, ScaledHybrid
from triplebeam.retrieve.late_interaction import LateInteraction
from triplebeam.retrieve.retriever import Retriever, ScoringRetriever
from triplebeam.retrieve.title_bonus import TitleBonus
from triplebeam.title_link import TitleLink, TitleLinks

#: What a base searches; ``@triples`` behind its name sets it.
Over: TypeAlias = Literal["passages", "triples"]
Scorer: TypeAlias = Literal["cascade", "exact", "pooled"]
BlendedPart: TypeAlias = Literal["messages", "triples", "names", "titles"]
#: What ``blend`` is made of, and how much each part counts: chosen on dev questions, see docs/methods/blend.md.
_BLEND: Mapping[str, float] = {"messages": 1.5, "triples": 1.0, "names": 1.0, "titles": 1.0}
_TITLE_BONUS = 0.2
#: HippoRAG 2 keeps five entities of the nearest triples; twice as many find more here.
_BLENDED_SEEDS = 10
#: A fusion looks at ranks alone: four steps of a walk instead of nine give the same passages but for one in 300.
_BLENDED_TOLERANCE = 5e-3
#: Of each part's thirty hits, those that may come out on top; to look up why the others are there takes time.
_EXPLAINED = 15


def bm25(context: Context, *, over: Over = "passages") -> BM25:
    """Words in common."""
    return (BM25.over_passages if over == "passages" else BM25.over_triples)(context.snapshot)


def dense(context: Context, *, over: Over = "passages") -> Dense:
    """Nearness in meaning."""
    return (Dense.over_passages if over == "passages" else Dense.over_triples)(context.snapshot, context.embedder)


def hybrid(context: Context, *, over: Over = "passages") -> Hybrid:
    """Both, fused by rank."""
    return Hybrid(bm25(context, over=over), dense(context, over=over))


def scaled_hybrid(context: Context, *, title_bonus: float = 0.0) -> ScoringRetriever:
    """Both, added by score."""
    found = ScaledHybrid(sparse=bm25(context), dense=dense(context), passage_of=context.passages.ids)
    return TitleBonus(base=found, passages=context.passages, bonus=title_bonus) if title_bonus else found


def late_interaction(context: Context) -> LateInteraction:
    """Token by token, with the encoder that `triplebeam late-index` used."""
    tokens, settings = published_tokens(context.snapshot.folder), context.settings
    name = tokens.encoder if tokens else context.snapshot.manifest.embedder.name
    encoder = load_token_encoder(name, settings.home, offline=settings.offline, progress=context.progress)
    return LateInteraction.over_passages(context.snapshot, encoder)


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


def title_link(
    context: Context, *, followed: int = TitleLinks.followed, base_weight: float = TitleLinks.base_weight
) -> Retriever:
    """What the facts of GNN-Ret's passages name."""
    base = gnn_ret(context, scaled_hybrid(context, title_bonus=_TITLE_BONUS))
    return TitleLink(base=base, links=replace(_title_links(context), followed=followed, base_weight=base_weight))


def _title_links(context: Context) -> TitleLinks:
    return TitleLinks(
        triples=context.triples,
        graph=context.snapshot.entities,
        passages=context.passages,
        embedder=context.embedder,
    )


def blend(context: Context, *, without: BlendedPart | None = None) -> Blend:
    """The graphs fused, or all but one of them."""
    made = _blended(context)
    parts = {name: BlendPart(make(), _BLEND[name]) for name, make in made.items() if name != without}
    # Without triples no walk can start and no fact names a title: messages over the documents' order are left.
    linked = len(made) > 1 and without != "titles"
    return Blend(parts=parts, links=BlendLinks(_title_links(context), _BLEND["titles"]) if linked else None)


def _blended(context: Context) -> Mapping[str, Callable[[], Retriever]]:
    """The parts for which this index has something to walk on."""
    index, embedder, tolerance = context.snapshot, context.embedder, _BLENDED_TOLERANCE
    base = CachedScores(scaled_hybrid(context, title_bonus=_TITLE_BONUS))
    messages = partial(gnn_ret, context, base, edges="all", explained=_EXPLAINED)
    if not len(context.triples):
        return {"messages": messages}
    walk = {"base": base, "seed_entities": _BLENDED_SEEDS, "explained": _EXPLAINED}
    names = VerbatimEntities(index.entities)
    chains = WalkChains(index.triples, index.entities, index.passages, _EXPLAINED)
    return {
        "messages": messages,
        "triples": partial(HippoRAG2.over, index, embedder, tolerance=tolerance, **walk),
        "names": partial(HippoRAG.over, index, embedder, names, fallback=None, tolerance=tolerance, chains=chains),
    }


def gold(context: Context) -> FixedRanking:
    """The upper bound: the gold passages themselves."""
    if not context.gold:
        raise BadInputError("'gold' needs questions whose gold passages are known: use it in `triplebeam bench`.")
    return FixedRanking(context.gold)


def naive_ge(
    context: Context, below: Retriever, *, scorer: Scorer = "cascade", shortlist: int | None = None
) -> NaiveGE:
    """A walk from every triple of the base's passages."""
    return NaiveGE(base=below, triples=context.triples, scorer=_scorer(context, scorer, shortlist))


def sync_ge(context: Context, below: Retriever, *, scorer: Scorer = "cascade", shortlist: int | None = None) -> SyncGE:
    """A walk from the facts that a model reads in the base's passages."""
    return SyncGE(
        base=below,
        triples=context.triples,
        scorer=_scorer(context, scorer, shortlist),
        reader=reader(context),
    )


def reader(context: Context) -> LLMReader:
    """Reads facts with the model for reading."""
    return LLMReader(model=context.reading_model, passages=context.passages)


def _scorer(context: Context, name: Scorer, shortlist: int | None) -> ChainScorer:
    triples, embedder = context.triples, context.embedder
    if name == "cascade":
        cascade = Cascade(triples=triples, embedder=embedder)
        return cascade if shortlist is None else replace(cascade, shortlist=shortlist)
    if shortlist is not None:
        raise BadInputError(f"the scorer {name!r} has no shortlist: only cascade has.")
    return (Exact if name == "exact" else Pooled)(triples=triples, embedder=embedder)
