"""Expansions of GeAR by name: walks along chains of triples, on top of another retriever."""

from dataclasses import replace
from typing import Literal, TypeAlias

from triplebeam.assemble.context import Context
from triplebeam.errors import BadInputError
from triplebeam.methods.gear import Cascade, Exact, LLMReader, NaiveGE, Pooled, SyncGE
from triplebeam.methods.gear.beam_search import ChainScorer
from triplebeam.retrieve.retriever import Retriever

Scorer: TypeAlias = Literal["cascade", "exact", "pooled"]


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
