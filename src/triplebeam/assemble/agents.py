"""How agents are put together.

An agent needs a retriever, a model, and sometimes a little more: `Below.assemble` fills such fields by their names. A
few agents take more thought and have a function here; what is keyword-only there can be written in brackets behind the
agent's name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from triplebeam.answer import Agent
from triplebeam.assemble.context import Context
from triplebeam.assemble.expansions import Scorer, can_rerank, sync_ge
from triplebeam.assemble.method import Method, Part
from triplebeam.assemble.reader import DEFAULT_METHOD
from triplebeam.assemble.retrievers import dense
from triplebeam.errors import BadInputError
from triplebeam.methods.agent import Auto, EvidenceAgent, SingleStep
from triplebeam.methods.agent.read import QuotingReader
from triplebeam.methods.ge_reasoning import GEReasoning
from triplebeam.methods.gear import GeAR, NaiveGE, PassageLink, SyncGE
from triplebeam.methods.gnn_ret.agent import RGNNRet
from triplebeam.methods.grounded_reasoning import GroundedReasoning  # noqa: F401 - a row of the table names it
from triplebeam.methods.read_once import ReadOnce
from triplebeam.methods.shared.question_answering import AlwaysAnswerer, QuestionAnswerer
from triplebeam.methods.shared.question_answering import question_first as before_passages
from triplebeam.methods.shared.reading import SubAnswerer
from triplebeam.retrieve.retriever import Retriever

A = TypeVar("A", bound=Agent)
R = TypeVar("R", QuestionAnswerer, SubAnswerer)
#: Inside an agent SyncGE takes ten base passages (GeAR, appendix C.2).
_SYNCED_BASE_K = 10
#: Where a method's own base cannot search triples, this one does.
_LINKING_BASE = "hybrid"


@dataclass(frozen=True)
class Below:
    """What an agent is built over: the index, and the retriever after its colon, made when it is asked for."""

    method: Method
    context: Context
    given: Retriever | None = None
    """A retriever of the caller's own, instead of one after the colon."""

    @property
    def named(self) -> bool:
        """A retriever is named after the colon, or given."""
        return bool(self.method.parts) or self.given is not None

    @property
    def expanded(self) -> bool:
        """The retriever is expanded already."""
        return len(self.method.parts) > 1 or isinstance(self.given, NaiveGE | SyncGE)

    @property
    def answerer(self) -> AlwaysAnswerer | None:
        """What reads the answer of every agent, if it must answer; None: each agent's own."""
        context = self.context
        return AlwaysAnswerer(model=context.model, passages=context.passages) if context.always_answer else None

    def retriever(self) -> Retriever:
        """Return the one that is given or named, else the agent's default."""
        if self.given is not None:
            return self.given
        if self.method.parts:
            return Method(self.method.text.partition(":")[2], parts=self.method.parts).retriever(self.context)
        assert self.method.agent
        base = self.method.agent.row.base or "hybrid"
        # The bridge reader ranks more of what a step needs first, so a step reads fewer passages.
        reranks = base == DEFAULT_METHOD and can_rerank(self.context)
        return Method.parse(f"{base}+rerank" if reranks else base).retriever(self.context)

    def link(self) -> PassageLink:
        """Return GeAR's link: for facts the same base where it can search triples, else hybrid; for passages the one
        given.
        """
        base = next(iter(self.method.parts), None)
        if base is None or "over" not in base.row.parameters:
            base = Method.parse(_LINKING_BASE).parts[0]
        passages = self.given.base if isinstance(self.given, NaiveGE | SyncGE) else self.given
        return PassageLink(
            passages=self._search(base, "passages") if passages is None else passages,
            triples=self._search(base, "triples"),
        )

    def _search(self, base: Part, over: str) -> Retriever:
        found: Retriever = replace(base, values={**base.values, "over": over}).build(self.context, self.context)
        return found

    def no_retrieval(self, agent: str) -> Mapping[str, Any]:
        """Return the fields of an agent that retrieves nothing; a retriever that is named is refused."""
        if self.named:
            raise BadInputError(f"{agent} answers without passages: leave the retriever of {self.method.text!r} out.")
        return NO_RETRIEVAL

    def sync(self, *, scorer: Scorer = "cascade") -> Retriever:
        """Put SyncGE over a base alone, as in GeAR's paper; take what is expanded already as it is."""
        if self.expanded:
            return self.retriever()
        return replace(sync_ge(self.context, self.retriever(), scorer=scorer), base_k=_SYNCED_BASE_K)

    def assemble(self, kind: type[A], **given: Any) -> A:
        """Make an agent of that class, with all that it has a field for; what is ``given`` comes first."""
        names = {field.name for field in fields(kind)} - given.keys()  # type: ignore[arg-type]
        return kind(**given, **{name: fill(self) for name, fill in _FILLED.items() if name in names})


#: What fills a field of an agent, by the field's name.
_FILLED: Mapping[str, Callable[[Below], object]] = {
    "retriever": lambda below: below.retriever(),
    "model": lambda below: below.context.model,
    "reading_model": lambda below: below.context.reading_model,
    "passages": lambda below: below.context.passages,
    "graph": lambda below: below.context.snapshot.passage_graph,
    "similarity": lambda below: dense(below.context),
    "seed": lambda below: below.context.seed,
    "answerer": lambda below: below.answerer,
}
NO_RETRIEVAL: Mapping[str, Any] = {"retriever": None, "passages": None}


def agent(below: Below) -> EvidenceAgent:
    """Over SyncGE, unless the retriever is expanded already."""
    return below.assemble(EvidenceAgent, retriever=below.sync(), passage_link=below.link())


def single_step(below: Below) -> SingleStep:
    """One step of the agent, which needs SyncGE."""
    retriever = below.sync()
    if not isinstance(retriever, SyncGE):
        raise BadInputError(
            f"single_step reads before it walks: {below.method.text!r} needs +sync_ge last, or a base alone."
        )
    reader = QuotingReader(model=below.context.reading_model, passages=below.context.passages)
    return below.assemble(SingleStep, retriever=replace(retriever, reader=reader))


def auto(below: Below, *, max_steps: int = EvidenceAgent.max_steps) -> Auto:
    """Ask the cheap one first, the expensive one where that does not answer."""
    return Auto(first=single_step(below), then=replace(agent(below), max_steps=max_steps))


def gear(below: Below) -> GeAR:
    """Over SyncGE, unless the retriever is expanded already; every chain is scored as in the paper."""
    return below.assemble(GeAR, retriever=below.sync(scorer="exact"), passage_link=below.link())


def read(below: Below, *, question_first: bool = False) -> ReadOnce:
    """With ``question_first`` the model sees the question before the passages, too."""
    answerer = make_answerer(below)
    return below.assemble(ReadOnce, answerer=put_question_first(answerer) if question_first else answerer)


def rgnn_ret(below: Below, *, question_first: bool = False) -> RGNNRet:
    """With ``question_first`` the model sees the question before the passages, too."""
    return below.assemble(RGNNRet, **choose_readers(below, question_first))


def choose_readers(below: Below, question_first: bool) -> dict[str, Any]:
    """Return what reads sub-answers and the last answer, where it is not an agent's own."""
    if not question_first:
        return {}
    sub_answerer = SubAnswerer(model=below.context.model, passages=below.context.passages)
    return {"answerer": put_question_first(make_answerer(below)), "sub_answerer": put_question_first(sub_answerer)}


def make_answerer(below: Below) -> QuestionAnswerer:
    """Return what reads the last answer: the evaluation's, or the default."""
    made = QuestionAnswerer(model=below.context.model, passages=below.context.passages)
    return below.answerer or made


def put_question_first(made: R) -> R:
    """Return a reader that sees the question before the passages, too."""
    return replace(made, template=before_passages(made.template))


def ge_reasoning(below: Below, *, retrieval: bool = True, stored: bool = False) -> GEReasoning:
    """Take the index's triples for ``stored=yes`` instead of extracting them; ``retrieval=no`` is the closed book."""
    given = {} if retrieval else below.no_retrieval("ge_reasoning[retrieval=no]")
    return below.assemble(GEReasoning, triples=below.context.triples if stored else None, **given)
