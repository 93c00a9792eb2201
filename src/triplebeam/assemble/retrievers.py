"""Retrievers by name."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from triplebeam.assemble.gnn_ret import gnn_ret
from triplebeam.assemble.method_names import BASES, EXPANSIONS, Part, is_agent, retriever_parts
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
from triplebeam.methods.title_link import TitleLink, TitleLinks
from triplebeam.names import nearest
from triplebeam.retrieve.bm25 import BM25
from triplebeam.retrieve.cached_scores import CachedScores
from triplebeam.retrieve.dense import Dense
from triplebeam.retrieve.fixed_ranking import FixedRanking
from triplebeam.retrieve.hybrid import Hybrid, ScaledHybrid
from triplebeam.retrieve.late_interaction import LateInteraction
from triplebeam.retrieve.retriever import Retriever, ScoringRetriever
from triplebeam.retrieve.title_bonus import TitleBonus

if TYPE_CHECKING:
    from triplebeam.assemble.collection import Collection

#: Bases that can search the triples instead of the passages.
OVER_TRIPLES = ("bm25", "dense", "hybrid")
#: What ``blend`` is made of, and how much each part counts: chosen on dev questions, see docs/methods/blend.md.
_BLEND: Mapping[str, float] = {"messages": 1.5, "triples": 1.0, "names": 1.0, "titles": 1.0}
_TITLE_BONUS = 0.2
#: HippoRAG 2 keeps five entities of the nearest triples; twice as many find more here.
_BLENDED_SEEDS = 10
#: A fusion looks at ranks alone: four steps of a walk instead of nine give the same passages but for one in 300.
_BLENDED_TOLERANCE = 5e-3
#: Of each part's thirty hits, those that may come out on top; to look up why the others are there takes time.
_EXPLAINED = 15
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
            return _scaled_hybrid(collection, values)
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


def _scaled_hybrid(collection: "Collection", values: dict[str, Any]) -> ScoringRetriever:
    index = collection.index
    hybrid = ScaledHybrid(
        sparse=BM25.over_passages(index),
        dense=Dense.over_passages(index, collection.embedder),
        passage_of=index.passages.ids,
    )
    bonus = values.get("title_bonus", 0.0)
    return TitleBonus(base=hybrid, passages=index.passages, bonus=bonus) if bonus else hybrid


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
    base = collection.retriever(f"scaled_hybrid[title_bonus={_TITLE_BONUS}]+gnn_ret")
    return TitleLink(base=base, links=_title_links(collection, **values))


def _title_links(collection: "Collection", **values: Any) -> TitleLinks:
    return TitleLinks(
        triples=collection.triples,
        graph=collection.index.entities,
        passages=collection.passages,
        embedder=collection.embedder,
        **values,
    )


def _blend(collection: "Collection", values: dict[str, Any]) -> Retriever:
    left_out = values.pop("without", None)
    if left_out is not None and left_out not in _BLEND:
        raise BadInputError(f"without={left_out}{nearest(left_out, _BLEND)}: choose one of {', '.join(_BLEND)}.")
    made = _blended(collection)
    parts = {name: BlendPart(make(), _BLEND[name]) for name, make in made.items() if name != left_out}
    # Without triples no walk can start and no fact names a title: messages over the documents' order are left.
    linked = len(made) > 1 and left_out != "titles"
    links = BlendLinks(_title_links(collection), _BLEND["titles"]) if linked else None
    return Blend(parts=parts, links=links, **values)


def _blended(collection: "Collection") -> Mapping[str, Callable[[], Retriever]]:
    """The parts for which this index has something to walk on."""
    index, embedder = collection.index, collection.embedder
    base = CachedScores(_scaled_hybrid(collection, {"title_bonus": _TITLE_BONUS}))
    messages = {"messages": partial(gnn_ret, collection, base, {"explained": _EXPLAINED}, "blend")}
    if not len(collection.triples):
        return messages
    names, tolerance = VerbatimEntities(index.entities), _BLENDED_TOLERANCE
    walk: dict[str, Any] = {"base": base, "seed_entities": _BLENDED_SEEDS, "explained": _EXPLAINED}
    chains = WalkChains(index.triples, index.entities, index.passages, _EXPLAINED)
    return {
        **messages,
        "triples": partial(HippoRAG2.over, index, embedder, tolerance=tolerance, **walk),
        "names": partial(HippoRAG.over, index, embedder, names, fallback=None, tolerance=tolerance, chains=chains),
    }


def _gold(collection: "Collection", method: str) -> Retriever:
    if not collection.gold:
        raise BadInputError(f"{method!r} needs questions whose gold passages are known: use it in `triplebeam bench`.")
    return FixedRanking(collection.gold)


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
