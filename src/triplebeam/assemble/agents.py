"""Agents by name."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from triplebeam.answer import Agent
from triplebeam.assemble.method_names import AGENTS, parse, retriever_parts, split_agent
from triplebeam.assemble.retrievers import OVER_TRIPLES, base, expanded, make_retriever, reader
from triplebeam.errors import BadInputError
from triplebeam.methods.climb import Climb
from triplebeam.methods.closed_book import ClosedBook
from triplebeam.methods.gear import GeAR, PassageLink, Reasoner, SingleStep, SyncGE
from triplebeam.methods.ircot import IRCoT
from triplebeam.methods.question_answering import QuestionAnswerer
from triplebeam.methods.read_once import ReadOnce
from triplebeam.retrieve.retriever import Retriever

if TYPE_CHECKING:
    from triplebeam.assemble.collection import Collection

#: What an agent stands on unless its name says otherwise.
DEFAULT_BASE = "hybrid"
#: Inside an agent SyncGE takes ten base passages (GeAR, appendix C.2).
_AGENT_BASE_K = "10"


def make_agent(collection: "Collection", method: str) -> Agent:
    """The agent of that name: ``gear``, ``gear:bm25``, ``gear[max_steps=2]:hybrid``, ``single_step``, ``auto``."""
    part, below = split_agent(method)
    if part is None:
        raise BadInputError(
            f"{method!r} finds passages and does not answer: put an agent in front, such as gear:{method};"
            f" known are {', '.join(AGENTS)}."
        )
    values = part.values(AGENTS, "agent")
    match part.name:
        case "gear":
            return _gear(collection, below, values)
        case "single_step":
            return _single_step(collection, below, values, method)
        case "ircot":
            return _ircot(collection, below, values)
        case "read":
            return ReadOnce(
                retriever=make_retriever(collection, below or DEFAULT_BASE), answerer=_answerer(collection), **values
            )
        case "closed_book":
            return _closed_book(collection, below, method)
        case _:
            return Climb(first=_single_step(collection, below, {}, method), then=_gear(collection, below, values))


def _gear(collection: "Collection", below: str, values: dict[str, Any]) -> Agent:
    part = retriever_parts(below or DEFAULT_BASE, below)[0]
    # Facts are linked by the same base where it can search triples too, else by hybrid.
    linking = part if part.name in OVER_TRIPLES else parse(DEFAULT_BASE, below)
    return GeAR(
        retriever=_below_agent(collection, below or DEFAULT_BASE),
        reader=reader(collection),
        reasoner=Reasoner(model=collection.model),
        passage_link=PassageLink(
            passages=base(collection, replace(linking, over="passages")),
            triples=base(collection, replace(linking, over="triples")),
        ),
        answerer=_answerer(collection),
        passages=collection.passages,
        **values,
    )


def _single_step(collection: "Collection", below: str, values: dict[str, Any], method: str) -> Agent:
    retriever = _below_agent(collection, below or DEFAULT_BASE)
    if not isinstance(retriever, SyncGE):
        raise BadInputError(f"single_step reads before it walks: {method!r} needs +sync_ge last, or a base alone.")
    return SingleStep(retriever=retriever, answerer=_answerer(collection), passages=collection.passages, **values)


def _ircot(collection: "Collection", below: str, values: dict[str, Any]) -> Agent:
    return IRCoT(
        retriever=make_retriever(collection, below or DEFAULT_BASE),
        model=collection.model,
        answerer=_answerer(collection),
        passages=collection.passages,
        **values,
    )


def _closed_book(collection: "Collection", below: str, method: str) -> Agent:
    if below:
        raise BadInputError(f"closed_book answers without passages: {method!r} names a retriever; leave it out.")
    return ClosedBook(model=collection.model)


def _answerer(collection: "Collection") -> QuestionAnswerer:
    return QuestionAnswerer(model=collection.model, passages=collection.passages)


def _below_agent(collection: "Collection", below: str) -> Retriever:
    """A base alone gets SyncGE, as in the paper; a name with ``+`` is taken as it is."""
    if "+" in below:
        return make_retriever(collection, below)
    return expanded(collection, make_retriever(collection, below), parse(f"sync_ge[base_k={_AGENT_BASE_K}]", below))
