"""How agents are put together.

An agent's class names its collaborators by their types, and `assembled` fills them in. A few take more thought and have
a function here; what is keyword-only there can be written in brackets behind the agent's name.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, TypeVar, get_type_hints

from triplebeam.answer import Agent
from triplebeam.assemble.context import Context
from triplebeam.assemble.retrievers import dense, sync_ge
from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.passage_graph import PassageGraph
from triplebeam.index.passages import PassageTable
from triplebeam.methods.auto import Auto
from triplebeam.methods.baselines.chain_of_thought import ChainOfThought
from triplebeam.methods.baselines.closed_book import ClosedBook, ClosedBookAnswerer
from triplebeam.methods.baselines.read_once import ReadOnce
from triplebeam.methods.baselines.self_ask import SelfAsk
from triplebeam.methods.ge_reasoning import GEReasoning
from triplebeam.methods.gear import GeAR, LLMReader, PassageLink, Reader, Reasoner, SingleStep, SyncGE
from triplebeam.methods.gnn_ret.agent import RGNNRet
from triplebeam.methods.gnn_ret.self_critique import SelfCritique
from triplebeam.methods.shared.question_answering import QuestionAnswerer
from triplebeam.methods.shared.question_answering import question_first as before_passages
from triplebeam.methods.shared.sub_questions import SubAnswerer
from triplebeam.passage import Passages
from triplebeam.retrieve.retriever import Retriever, ScoringRetriever

A = TypeVar("A", bound=Agent)
#: Inside an agent SyncGE takes ten base passages (GeAR, appendix C.2).
_SYNCED_BASE_K = 10


@dataclass(frozen=True)
class Below:
    """What an agent is built over: the index, and the retriever behind its colon, made when it is asked for."""

    context: Context
    method: str
    """The whole name, for messages."""
    named: bool
    """A retriever is named behind the colon, or given; where it is not, ``retriever`` makes the agent's default."""
    expanded: bool
    """It is expanded already."""
    retriever: Callable[[], Retriever]
    link: Callable[[], PassageLink]
    """What links facts to passages, in GeAR."""

    def refuse_retriever(self, agent: str) -> None:
        """Refuse a retriever where nothing is retrieved."""
        if self.named:
            raise BadInputError(f"{agent} answers without passages: leave the retriever of {self.method!r} out.")

    def synced(self) -> Retriever:
        """A base alone gets SyncGE, as in GeAR's paper; what is expanded already is taken as it is."""
        if self.expanded:
            return self.retriever()
        return replace(sync_ge(self.context, self.retriever()), base_k=_SYNCED_BASE_K)


#: What fills a field of an agent, by the field's type.
_COLLABORATORS: Mapping[Any, Callable[[Below], object]] = {
    Retriever: lambda below: below.retriever(),
    ScoringRetriever: lambda below: dense(below.context),
    LanguageModel: lambda below: below.context.model,
    Passages: lambda below: below.context.passages,
    PassageTable: lambda below: below.context.passages,
    PassageGraph: lambda below: below.context.snapshot.passage_graph,
    PassageLink: lambda below: below.link(),
    Reader: lambda below: LLMReader(model=below.context.reading_model, passages=below.context.passages),
    Reasoner: lambda below: Reasoner(model=below.context.model),
    SelfCritique: lambda below: SelfCritique(model=below.context.model),
    QuestionAnswerer: lambda below: QuestionAnswerer(model=below.context.model, passages=below.context.passages),
    SubAnswerer: lambda below: SubAnswerer(model=below.context.model, passages=below.context.passages),
}


def assembled(kind: type[A], below: Below, **given: object) -> A:
    """An agent of that class: every field without a default is filled by its type, unless it is given.

    Agents that sample take the seed of the settings.
    """
    hints = get_type_hints(kind)
    for each in fields(kind):  # type: ignore[arg-type]
        if each.name == "seed":
            given.setdefault("seed", below.context.seed)
        elif each.default is MISSING and each.default_factory is MISSING and each.name not in given:
            given[each.name] = _COLLABORATORS[hints[each.name]](below)
    return kind(**given)


def gear(below: Below) -> GeAR:
    """Over SyncGE, unless the retriever is expanded already."""
    return assembled(GeAR, below, retriever=below.synced())


def single_step(below: Below) -> SingleStep:
    """SyncGE and one answer."""
    retriever = below.synced()
    if not isinstance(retriever, SyncGE):
        raise BadInputError(
            f"single_step reads before it walks: {below.method!r} needs +sync_ge last, or a base alone."
        )
    return assembled(SingleStep, below, retriever=retriever)


def auto(below: Below, *, max_steps: int = GeAR.max_steps) -> Auto:
    """The cheap one first, the expensive one where that does not answer."""
    return Auto(first=single_step(below), then=replace(gear(below), max_steps=max_steps))


def read(below: Below, *, question_first: bool = False) -> ReadOnce:
    """With ``question_first`` the model sees the question before the passages, too."""
    agent = assembled(ReadOnce, below)
    return replace(agent, answerer=_question_first(agent.answerer)) if question_first else agent


def rgnn_ret(below: Below, *, question_first: bool = False) -> RGNNRet:
    """With ``question_first`` the model sees the question before the passages, too."""
    agent = assembled(RGNNRet, below)
    if not question_first:
        return agent
    return replace(agent, answerer=_question_first(agent.answerer), sub_answerer=_question_first(agent.sub_answerer))


T = TypeVar("T", QuestionAnswerer, SubAnswerer)


def _question_first(reader: T) -> T:
    return replace(reader, template=before_passages(reader.template))


def closed_book(below: Below) -> ClosedBook:
    """The model alone."""
    below.refuse_retriever("closed_book")
    return assembled(ClosedBook, below)


def self_ask(below: Below, *, retrieval: bool = True) -> SelfAsk:
    """``retrieval=no``: the closed book of GE-Reasoning's Table 4."""
    model = below.context.model
    if not retrieval:
        below.refuse_retriever("self_ask[retrieval=no]")
        return SelfAsk(model=model, answerer=ClosedBookAnswerer(model=model))
    readers = {name: _COLLABORATORS[kind](below) for name, kind in _SELF_ASK_READERS.items()}
    return assembled(SelfAsk, below, retriever=below.retriever(), **readers)


_SELF_ASK_READERS: Mapping[str, type] = {"answerer": QuestionAnswerer, "sub_answerer": SubAnswerer}


def chain_of_thought(below: Below) -> ChainOfThought:
    """Alone, or with one retrieval where a retriever is named."""
    if not below.named:
        return assembled(ChainOfThought, below)
    return assembled(ChainOfThought, below, retriever=below.retriever(), passages=below.context.passages)


def zero_plus_few_shot(below: Below) -> ChainOfThought:
    """Asked to think step by step."""
    return replace(chain_of_thought(below), step_by_step=True)


def self_consistency(below: Below) -> ChainOfThought:
    """Five lines of thought, sampled."""
    return replace(chain_of_thought(below), paths=5, temperature=0.7)


def ge_reasoning(below: Below, *, retrieval: bool = True, stored: bool = False) -> GEReasoning:
    """``retrieval=no`` is the paper's closed book; ``stored=yes`` takes the index's triples instead of extracting them
    from each passage it reads.
    """
    triples = below.context.triples if stored else None
    if not retrieval:
        below.refuse_retriever("ge_reasoning[retrieval=no]")
        return assembled(GEReasoning, below, triples=triples)
    retriever, passages = below.retriever(), below.context.passages
    return assembled(GEReasoning, below, retriever=retriever, passages=passages, triples=triples)
