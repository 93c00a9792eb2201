"""Agents by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from triplebeam.answer import Agent
from triplebeam.assemble.method_names import AGENTS, BASES, parse, retriever_parts, split_agent
from triplebeam.assemble.retrievers import OVER_TRIPLES, base, expanded, reader
from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.passages import PassageTable
from triplebeam.methods.auto import Auto
from triplebeam.methods.baselines.chain_of_thought import ChainOfThought
from triplebeam.methods.baselines.closed_book import ClosedBook
from triplebeam.methods.baselines.era_cot import ERACoT
from triplebeam.methods.baselines.flare import FLARE
from triplebeam.methods.baselines.ircot import IRCoT
from triplebeam.methods.baselines.iter_retgen import IterRetGen
from triplebeam.methods.baselines.kgp import KGP
from triplebeam.methods.baselines.read_once import ReadOnce
from triplebeam.methods.baselines.self_ask import SelfAsk
from triplebeam.methods.baselines.verify_and_edit import VerifyAndEdit
from triplebeam.methods.ge_reasoning import GEReasoning
from triplebeam.methods.gear import GeAR, NaiveGE, PassageLink, SingleStep, SyncGE
from triplebeam.methods.gnn_ret.agent import RGNNRet
from triplebeam.methods.shared.question_answering import QuestionAnswerer, question_first
from triplebeam.methods.shared.sub_questions import SubAnswerer
from triplebeam.retrieve.dense import Dense
from triplebeam.retrieve.retriever import Retriever

if TYPE_CHECKING:
    from triplebeam.assemble.collection import Collection

#: What an agent of GeAR's tables stands on unless its name says otherwise; GNN-Ret's tables have dense, GE-Reasoning's
#: BM25.
DEFAULT_BASE = "hybrid"
#: What SyncGE, and so GeAR, stands on where no base is named; `gear:hybrid` is the paper's.
SYNCED_BASE = "blend"
_GNN_RET_BASE = "dense"
_GE_REASONING_BASE = "bm25"
#: Inside an agent SyncGE takes ten base passages (GeAR, appendix C.2).
_AGENT_BASE_K = "10"


def make_agent(collection: "Collection", method: str, given: Retriever | None = None) -> Agent:
    """The agent of that name: ``gear``, ``gear:bm25``, ``gear[max_steps=2]:hybrid``, ``single_step``, ``auto``.

    It stands on the retriever it is ``given``, where the name leaves room for one.
    """
    part, below = split_agent(method)
    if part is None:
        # A misspelt agent is no retriever either.
        retriever_parts(below, method)[0].values({**AGENTS, **BASES}, "agent or base")
        raise BadInputError(
            f"{method!r} finds passages and does not answer: put an agent in front, such as gear:{method};"
            f" known are {', '.join(AGENTS)}."
        )
    if given is not None and below:
        raise BadInputError(f"{method!r} names a base, and one is given besides: leave out one of the two.")
    values = part.values(AGENTS, "agent")
    return _MAKERS[part.name](_Ingredients(collection, below, method, given), values)


@dataclass(frozen=True)
class _Ingredients:
    """What agents are put together from."""

    collection: "Collection"
    below: str
    method: str
    given: Retriever | None = None

    @property
    def model(self) -> LanguageModel:
        return self.collection.model

    @property
    def seed(self) -> int:
        """Of agents that sample: the settings', else one that never changes."""
        return self.collection.settings.seed or 0

    @property
    def passages(self) -> PassageTable:
        return self.collection.passages

    @property
    def answerer(self) -> QuestionAnswerer:
        return QuestionAnswerer(model=self.model, passages=self.passages)

    @property
    def sub_answerer(self) -> SubAnswerer:
        return SubAnswerer(model=self.model, passages=self.passages)

    def readers(self, values: "_Values") -> tuple[QuestionAnswerer, SubAnswerer]:
        """Those who read passages; with ``question_first`` they see the question before the passages, too."""
        answerer, sub_answerer = self.answerer, self.sub_answerer
        if not values.pop("question_first", False):
            return answerer, sub_answerer
        return (
            replace(answerer, template=question_first(answerer.template)),
            replace(sub_answerer, template=question_first(sub_answerer.template)),
        )

    def retriever(self, default: str = DEFAULT_BASE) -> Retriever:
        return self.collection.retriever(self.below or default) if self.given is None else self.given

    def synced(self) -> Retriever:
        """A base alone gets SyncGE, as in GeAR's paper; what is expanded already is taken as it is."""
        if "+" in self.below or isinstance(self.given, NaiveGE | SyncGE):
            return self.retriever()
        return expanded(
            self.collection, self.retriever(SYNCED_BASE), parse(f"sync_ge[base_k={_AGENT_BASE_K}]", self.method)
        )

    def linking(self) -> PassageLink:
        """Facts are linked by the same base where it can search triples too, else by hybrid; a base that is given still
        searches the passages.
        """
        part = retriever_parts(self.below or DEFAULT_BASE, self.method)[0]
        part = part if part.name in OVER_TRIPLES else parse(DEFAULT_BASE, self.method)
        passages = self.given.base if isinstance(self.given, NaiveGE | SyncGE) else self.given
        return PassageLink(
            passages=base(self.collection, replace(part, over="passages")) if passages is None else passages,
            triples=base(self.collection, replace(part, over="triples")),
        )

    def alone(self, name: str) -> None:
        """Refuse a retriever where nothing is retrieved."""
        if self.below or self.given is not None:
            raise BadInputError(f"{name} answers without passages: leave the retriever of {self.method!r} out.")


_Values: TypeAlias = dict[str, Any]


def _gear(of: _Ingredients, values: _Values) -> Agent:
    return GeAR(
        retriever=of.synced(),
        model=of.model,
        reader=reader(of.collection),
        passage_link=of.linking(),
        passages=of.passages,
        **values,
    )


def _single_step(of: _Ingredients, values: _Values) -> Agent:
    retriever = of.synced()
    if not isinstance(retriever, SyncGE):
        raise BadInputError(f"single_step reads before it walks: {of.method!r} needs +sync_ge last, or a base alone.")
    return SingleStep(retriever=retriever, model=of.model, passages=of.passages, **values)


def _auto(of: _Ingredients, values: _Values) -> Agent:
    return Auto(first=_single_step(of, {}), then=_gear(of, values))


def _ircot(of: _Ingredients, values: _Values) -> Agent:
    return IRCoT(retriever=of.retriever(), model=of.model, passages=of.passages, **values)


def _read(of: _Ingredients, values: _Values) -> Agent:
    answerer, _ = of.readers(values)
    return ReadOnce(retriever=of.retriever(), model=of.model, passages=of.passages, answerer=answerer, **values)


def _closed_book(of: _Ingredients, values: _Values) -> Agent:
    of.alone("closed_book")
    return ClosedBook(model=of.model, **values)


def _rgnn_ret(of: _Ingredients, values: _Values) -> Agent:
    answerer, sub_answerer = of.readers(values)
    return RGNNRet(
        retriever=of.retriever("gnn_ret[beta=0.9]"),
        model=of.model,
        sub_answerer=sub_answerer,
        answerer=answerer,
        passages=of.passages,
        **values,
    )


def _self_ask(of: _Ingredients, values: _Values) -> Agent:
    """``retrieval=no``: the closed book of GE-Reasoning's Table 4."""
    if not values.pop("retrieval", True):
        of.alone("self_ask[retrieval=no]")
        return SelfAsk(model=of.model, **values)
    retriever = of.retriever(_GNN_RET_BASE)
    return SelfAsk(retriever=retriever, model=of.model, passages=of.passages, **values)


def _iter_retgen(of: _Ingredients, values: _Values) -> Agent:
    retriever = of.retriever(_GNN_RET_BASE)
    return IterRetGen(retriever=retriever, model=of.model, passages=of.passages, **values)


def _kgp(of: _Ingredients, values: _Values) -> Agent:
    return KGP(
        retriever=of.retriever(_GNN_RET_BASE),
        similarity=Dense.over_passages(of.collection.index, of.collection.embedder),
        graph=of.collection.index.passage_graph,
        passages=of.passages,
        model=of.model,
        **values,
    )


def _chain_of_thought(of: _Ingredients, values: _Values, **fixed: object) -> Agent:
    """Alone, or with one retrieval where a retriever is named."""
    values = {"seed": of.seed, **fixed, **values}
    if not of.below and of.given is None:
        return ChainOfThought(model=of.model, **values)
    return ChainOfThought(model=of.model, retriever=of.retriever(), passages=of.passages, **values)


def _verify_and_edit(of: _Ingredients, values: _Values) -> Agent:
    retriever = of.retriever(_GE_REASONING_BASE)
    return VerifyAndEdit(retriever=retriever, model=of.model, passages=of.passages, seed=of.seed, **values)


def _flare(of: _Ingredients, values: _Values) -> Agent:
    retriever = of.retriever(_GE_REASONING_BASE)
    return FLARE(retriever=retriever, model=of.model, passages=of.passages, **values)


def _era_cot(of: _Ingredients, values: _Values) -> Agent:
    retriever = of.retriever(_GE_REASONING_BASE)
    return ERACoT(retriever=retriever, model=of.model, passages=of.passages, seed=of.seed, **values)


def _ge_reasoning(of: _Ingredients, values: _Values) -> Agent:
    """``retrieval=no`` is the paper's closed book; ``stored=yes`` takes the index's triples instead of drawing anew."""
    stored = of.collection.triples if values.pop("stored", False) else None
    if not values.pop("retrieval", True):
        of.alone("ge_reasoning[retrieval=no]")
        if stored is not None or values.get("always_retrieve"):
            raise BadInputError(f"{of.method!r} retrieves nothing: leave always_retrieve=yes and stored=yes out of it.")
        return GEReasoning(model=of.model, **values)
    retriever = of.retriever(_GE_REASONING_BASE)
    return GEReasoning(model=of.model, retriever=retriever, passages=of.passages, triples=stored, **values)


_MAKERS: Mapping[str, Callable[[_Ingredients, _Values], Agent]] = {
    "gear": _gear,
    "single_step": _single_step,
    "auto": _auto,
    "ircot": _ircot,
    "read": _read,
    "closed_book": _closed_book,
    "rgnn_ret": _rgnn_ret,
    "self_ask": _self_ask,
    "iter_retgen": _iter_retgen,
    "kgp": _kgp,
    "chain_of_thought": _chain_of_thought,
    "zero_plus_few_shot": partial(_chain_of_thought, step_by_step=True),
    "self_consistency": partial(_chain_of_thought, paths=5, temperature=0.7),
    "verify_and_edit": _verify_and_edit,
    "flare": _flare,
    "era_cot": _era_cot,
    "ge_reasoning": _ge_reasoning,
}
