"""Retrievers by name."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from triplebeam.assemble.gnn_ret import gnn_ret
from triplebeam.assemble.method_names import BASES, EXPANSIONS, Part, is_agent, retriever_parts
from triplebeam.blend import Blend
from triplebeam.blend import Part as BlendPart
from triplebeam.embed import load_token_encoder
from triplebeam.errors import BadInputError
from triplebeam.index.token_vectors import published_tokens
from triplebeam.methods.gear import Cascade, Exact, LLMReader, NaiveGE, Pooled, SyncGE
from triplebeam.methods.gear.score import ChainScorer
from triplebeam.methods.hipporag import HippoRAG
from triplebeam.methods.hipporag2 import HippoRAG2
from triplebeam.methods.query_entities import GivenQueryEntities, LLMQueryEntities, QueryEntities, VerbatimEntities
from triplebeam.methods.title_link import TitleLink
from triplebeam.methods.triple_filter import LLMTripleFilter
from triplebeam.names import nearest
from triplebeam.retrieve.bm25 import BM25
from triplebeam.retrieve.dense import Dense
from triplebeam.retrieve.given import GivenRanking
from triplebeam.retrieve.hybrid import Hybrid
from triplebeam.retrieve.late_interaction import LateInteraction
from triplebeam.retrieve.retriever import Retriever
from triplebeam.retrieve.scaled_hybrid import ScaledHybrid

if TYPE_CHECKING:
    from triplebeam.assemble.collection import Collection

#: Bases that can search the triples instead of the passages.
OVER_TRIPLES = ("bm25", "dense", "hybrid")
#: What ``blend`` is made of, with weights: chosen on the dev questions.
_BLENDED_BASE = "scaled_hybrid+gnn_ret"
_BLENDED: Mapping[str, tuple[str, float]] = {
    "gnn_ret": (_BLENDED_BASE, 1.5),
    "triples": ("hipporag2[seed_entities=10]", 1.0),
    "names": ("hipporag[entities=verbatim]", 1.0),
    "titles": ("title_link", 1.0),
}
_ENTITIES = ("llm", "verbatim", "given")
_SCORERS: Mapping[str, Callable[..., ChainScorer]] = {"cascade": Cascade, "exact": Exact, "pooled": Pooled}


def make_retriever(collection: "Collection", method: str) -> Retriever:
    """The retriever of that name, such as ``hybrid+naive_ge[scorer=exact]``."""
    if is_agent(method):
        raise BadInputError(f"{method!r} answers, and is no search: use it with `triplebeam ask --method`.")
    first, *expansions = retriever_parts(method, method)
    retriever = base(collection, first)
    for expansion in expansions:
        retriever = expanded(collection, retriever, expansion)
    return retriever


def expand_by(collection: "Collection", below: Retriever, expansions: str) -> Retriever:
    """What the expansions of these names, one or several with ``+`` between, make of a retriever."""
    for part in retriever_parts(expansions, expansions):
        below = expanded(collection, below, part)
    return below


def base(collection: "Collection", part: Part) -> Retriever:
    """What stands in front of the first ``+``."""
    values = part.values(BASES, "base")
    if part.over != "passages" and part.name not in OVER_TRIPLES:
        raise BadInputError(f"{part.name} searches passages: @{part.over} in {part.method!r} has no meaning there.")
    match part.name, part.over:
        case "bm25", "passages":
            return BM25.over_passages(collection.index)
        case "bm25", _:
            return BM25.over_triples(collection.index)
        case "dense", "passages":
            return Dense.over_passages(collection.index, collection.embedder)
        case "dense", _:
            return Dense.over_triples(collection.index, collection.embedder)
        case "scaled_hybrid", _:
            return _scaled_hybrid(collection)
        case "gnn_ret", _:  # the paper's
            below = Dense.over_passages(collection.index, collection.embedder)
            return gnn_ret(collection, below, values, part.method)
        case "late_interaction", _:
            return _late_interaction(collection, values)
        case "hipporag", _:
            return HippoRAG.over(collection.index, collection.embedder, _query_entities(collection, values), **values)
        case "hipporag2", _:
            return _hipporag2(collection, values)
        case "title_link", _:
            return _title_link(collection, values)
        case "blend", _:
            return _blend(collection, values)
        case "gold", _:
            return _gold(collection, part.method)
        case _:
            sparse, dense = (base(collection, Part(name, part.over, {}, part.method)) for name in ("bm25", "dense"))
            return Hybrid(sparse, dense, **values)


def _scaled_hybrid(collection: "Collection") -> Retriever:
    index = collection.index
    return ScaledHybrid(
        sparse=BM25.over_passages(index),
        dense=Dense.over_passages(index, collection.embedder),
        passage_of=index.passages.ids,
    )


def _late_interaction(collection: "Collection", values: dict[str, Any]) -> Retriever:
    tokens, settings = published_tokens(collection.index.folder), collection.settings
    name = tokens.encoder if tokens else collection.index.manifest.embedder.name
    encoder = load_token_encoder(name, settings.home, offline=settings.offline, progress=collection.progress)
    return LateInteraction.over_passages(collection.index, encoder, **values)


def _query_entities(collection: "Collection", values: dict[str, Any]) -> QueryEntities:
    match name := values.pop("entities", "llm"):
        case "llm":
            return LLMQueryEntities(model=collection.reading_model)
        case "verbatim":
            return VerbatimEntities(collection.index.entities)
        case "given" if collection.query_entities:
            return GivenQueryEntities(collection.query_entities)
        case "given":
            raise BadInputError("entities=given needs a file of them: name it with --query-entities.")
        case _:
            raise BadInputError(f"entities={name}{nearest(name, _ENTITIES)}: choose one of {', '.join(_ENTITIES)}.")


def _hipporag2(collection: "Collection", values: dict[str, Any]) -> Retriever:
    if (name := values.pop("filter", "none")) not in ("none", "llm"):
        raise BadInputError(f"filter={name}: choose none or llm.")
    if name == "llm":
        values["triple_filter"] = LLMTripleFilter(model=collection.reading_model)
    if "base" in values:
        values["base"] = collection.retriever(values["base"])
    return HippoRAG2.over(collection.index, collection.embedder, **values)


def _title_link(collection: "Collection", values: dict[str, Any]) -> Retriever:
    return TitleLink(
        base=collection.retriever(_BLENDED_BASE),
        triples=collection.triples,
        passages=collection.passages,
        embedder=collection.embedder,
        **values,
    )


def _blend(collection: "Collection", values: dict[str, Any]) -> Retriever:
    left_out = values.pop("without", None)
    if left_out is not None and left_out not in _BLENDED:
        raise BadInputError(f"without={left_out}{nearest(left_out, _BLENDED)}: choose one of {', '.join(_BLENDED)}.")
    parts = {
        name: BlendPart(collection.retriever(method), weight)
        for name, (method, weight) in _BLENDED.items()
        if name != left_out
    }
    return Blend(parts=parts, **values)


def _gold(collection: "Collection", method: str) -> Retriever:
    if not collection.gold:
        raise BadInputError(f"{method!r} needs questions whose gold passages are known: use it in `triplebeam bench`.")
    return GivenRanking(collection.gold)


def expanded(collection: "Collection", below: Retriever, part: Part) -> Retriever:
    """What stands behind a ``+``, over what stands in front of it."""
    values = part.values(EXPANSIONS, "expansion")
    if part.over != "passages":
        raise BadInputError(f"@{part.over} in {part.method!r} belongs behind a base, not behind {part.name}.")
    if part.name == "gnn_ret":
        return gnn_ret(collection, below, values, part.method)
    scorer = _scorer(collection, values.pop("scorer", "cascade"), values)
    if part.name == "sync_ge":
        return SyncGE(base=below, triples=collection.triples, scorer=scorer, reader=reader(collection), **values)
    return NaiveGE(base=below, triples=collection.triples, scorer=scorer, **values)


def _scorer(collection: "Collection", name: str, values: dict[str, Any]) -> ChainScorer:
    if name not in _SCORERS:
        raise BadInputError(f"there is no scorer {name!r}{nearest(name, _SCORERS)}.")
    own = {"shortlist": values.pop("shortlist")} if "shortlist" in values else {}
    if own and name != "cascade":
        raise BadInputError(f"the scorer {name!r} has no shortlist: only cascade has.")
    return _SCORERS[name](triples=collection.triples, embedder=collection.embedder, **own)


def reader(collection: "Collection") -> LLMReader:
    """Reads proximal triples with the model for reading."""
    return LLMReader(model=collection.reading_model, passages=collection.passages)
