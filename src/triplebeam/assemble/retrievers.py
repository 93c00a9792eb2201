"""The functions that build retrievers. What is keyword-only here can be written in brackets after a method's name."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from triplebeam.assemble.context import Context
from triplebeam.errors import BadInputError
from triplebeam.index.folder.entity_graph import BLENDED_PASSAGES, BLENDED_TOLERANCE
from triplebeam.index.folder.passage_graph import KINDS
from triplebeam.index.folder.terms import TermIndex
from triplebeam.index.source import HybridSource
from triplebeam.methods.gnn_ret.retrieve import GNNRet
from triplebeam.methods.hipporag.hipporag import HippoRAG, QueryEntities, VerbatimEntities
from triplebeam.methods.hipporag.hipporag2 import HippoRAG2
from triplebeam.passage import SHARED_TITLE
from triplebeam.retrieve.bases import BM25, Dense, Hybrid, ScaledHybrid, SearchedHybrid
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


def scaled_hybrid(context: Context, *, title_bonus: float = 0.0) -> Retriever:
    """Both, added by score."""
    if isinstance(context.source, HybridSource):
        return SearchedHybrid(source=context.source, embedder=context.embedder)
    found = ScaledHybrid(sparse=bm25(context), dense=dense(context), passage_of=context.passages.ids)
    return TitleBonus(base=found, passages=context.snapshot.passages, bonus=title_bonus) if title_bonus else found


def hipporag(context: Context, *, entities: Literal["llm", "verbatim", "given"] = "llm") -> HippoRAG:
    """PageRank from the question's entities."""
    return HippoRAG.over(context.snapshot, context.embedder, _query_entities(context, entities))


def _query_entities(context: Context, source: str) -> QueryEntities:
    if source == "verbatim":
        return VerbatimEntities(context.snapshot.entities)
    from triplebeam.methods.hipporag.query_entities import GivenQueryEntities, LLMQueryEntities  # prompts and replies

    match source:
        case "llm":
            return LLMQueryEntities(model=context.reading_model)
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
    found = HippoRAG2.over(context.snapshot, context.embedder, base=base or dense(context))
    if filter == "none":
        return found
    from triplebeam.methods.shared.replies import LLMTripleFilter  # prompts and replies: most searches have none

    return replace(found, triple_filter=LLMTripleFilter(model=context.reading_model))


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
    return Tail(terms=rare, links=index.passage_graph.edges["links"], passages=index.passages)


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
