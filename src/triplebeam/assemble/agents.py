"""How agents are put together.

An agent needs a retriever, a model, and sometimes a little more: `assembled` fills such fields by their names. A few
agents take more thought and have a function here; what is keyword-only there can be written in brackets behind the
agent's name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from triplebeam.answer import Agent
from triplebeam.assemble.context import Context
from triplebeam.assemble.retrievers import Scorer, dense, reader, sync_ge
from triplebeam.errors import BadInputError
from triplebeam.methods.auto import Auto
from triplebeam.methods.ge_reasoning import GEReasoning
from triplebeam.methods.gear import GeAR, PassageLink, SingleStep, SyncGE
from triplebeam.methods.gear.reason import Reasoner
from triplebeam.methods.gnn_ret.agent import RGNNRet
from triplebeam.methods.read_once import ReadOnce
from triplebeam.methods.shared.question_answering import QuestionAnswerer
from triplebeam.methods.shared.question_answering import question_first as before_passages
from triplebeam.methods.shared.sub_questions import SubAnswerer
from triplebeam.retrieve.retriever import Retriever

A = TypeVar("A", bound=Agent)
R = TypeVar("R", QuestionAnswerer, SubAnswerer)
#: Inside an agent SyncGE takes ten base passages (GeAR, appendix C.2).
_SYNCED_BASE_K = 10


@dataclass(frozen=True)
class Below:
    """What an agent is built over: the index, and the retriever after its colon, made when it is asked for."""

    context: Context
    method: str
    """The whole name, for messages."""
    named: bool
    """A retriever is named after the colon, or given; where it is not, ``retriever`` makes the agent's default."""
    expanded: bool
    """It is expanded already."""
    retriever: Callable[[], Retriever]
    link: Callable[[], PassageLink]
    """What links facts to passages, in GeAR."""

    def no_retrieval(self, agent: str) -> Mapping[str, Any]:
        """The fields of an agent that retrieves nothing; a retriever that is named is refused."""
        if self.named:
            raise BadInputError(f"{agent} answers without passages: leave the retriever of {self.method!r} out.")
        return NO_RETRIEVAL

    def synced(self, *, scorer: Scorer = "cascade", base_k: int = _SYNCED_BASE_K) -> Retriever:
        """A base alone gets SyncGE, as in GeAR's paper; what is expanded already is taken as it is."""
        if self.expanded:
            return self.retriever()
        return replace(sync_ge(self.context, self.retriever(), scorer=scorer), base_k=base_k)


#: What fills a field of an agent, by the field's name.
_FILLED: Mapping[str, Callable[[Below], object]] = {
    "retriever": lambda below: below.retriever(),
    "model": lambda below: below.context.model,
    "reading_model": lambda below: below.context.reading_model,
    "passages": lambda below: below.context.passages,
    "graph": lambda below: below.context.snapshot.passage_graph,
    "similarity": lambda below: dense(below.context),
    "seed": lambda below: below.context.seed,
    "answerer": lambda below: below.context.answerer,
}
NO_RETRIEVAL: Mapping[str, Any] = {"retriever": None, "passages": None}


def assembled(kind: type[A], below: Below, **given: Any) -> A:
    """An agent of that class, with all that it has a field for; what is ``given`` comes first."""
    names = {field.name for field in fields(kind)} - given.keys()  # type: ignore[arg-type]
    return kind(**given, **{name: fill(below) for name, fill in _FILLED.items() if name in names})


#: A loop to the letter: what is ours by default switched off.
_LOOP_AS_PUBLISHED: Mapping[str, Any] = {"ranking": "fusion", "stop_when_stuck": False}
_GEAR_AS_PUBLISHED = {
    "calls": "paper",
    "searches": 1,
    "read": 10,
    "quotations": False,
    "answer_from": "fusion",
    **_LOOP_AS_PUBLISHED,
}


def gear(below: Below, *, paper: bool = False) -> GeAR:
    """Over SyncGE, unless the retriever is expanded already. ``paper=yes`` switches off what is ours."""
    if not paper:
        return assembled(GeAR, below, retriever=below.synced(), passage_link=below.link())
    reasoner = Reasoner(model=below.context.model, published=True)
    given = {"retriever": below.synced(scorer="exact"), "reasoner": reasoner, **_GEAR_AS_PUBLISHED}
    return assembled(GeAR, below, passage_link=below.link(), **given)


def single_step(below: Below, *, paper: bool = False) -> SingleStep:
    """SyncGE and one answer. ``paper=yes``: no quotations, and the ranking is Eq. 3, as in Table 2's single step."""
    retriever = below.synced(scorer="exact", base_k=SyncGE.base_k) if paper else below.synced()
    if not isinstance(retriever, SyncGE):
        raise BadInputError(
            f"single_step reads before it walks: {below.method!r} needs +sync_ge last, or a base alone."
        )
    if paper:
        return assembled(SingleStep, below, retriever=retriever, ranking="fusion", answer_from="fusion")
    return assembled(SingleStep, below, retriever=replace(retriever, reader=reader(below.context)))


def auto(below: Below, *, max_steps: int = GeAR.max_steps) -> Auto:
    """The cheap one first, the expensive one where that does not answer."""
    return Auto(first=single_step(below), then=replace(gear(below), max_steps=max_steps))


def read(below: Below, *, question_first: bool = False) -> ReadOnce:
    """With ``question_first`` the model sees the question before the passages, too."""
    answerer = _answerer(below)
    return assembled(ReadOnce, below, answerer=_question_first(answerer) if question_first else answerer)


def rgnn_ret(below: Below, *, paper: bool = False, question_first: bool = False) -> RGNNRet:
    """``paper=yes``: a step reads as many passages as its tokens hold, quotes nothing, and the ranking is the fusion.

    With ``question_first`` the model sees the question before the passages, too.
    """
    given: dict[str, Any] = {"retrieved": None, **_LOOP_AS_PUBLISHED} if paper else {}
    given |= _readers(below, paper=paper, question_first=question_first)
    return assembled(RGNNRet, below, **given)


def _readers(below: Below, *, paper: bool, question_first: bool) -> dict[str, Any]:
    """What reads sub-answers and the last answer, where it is not an agent's own."""
    model, passages = below.context.model, below.context.passages
    make = SubAnswerer.as_published if paper else SubAnswerer
    sub_answerer = make(model=model, passages=passages)
    if question_first:
        return {"answerer": _question_first(_answerer(below)), "sub_answerer": _question_first(sub_answerer)}
    return {"sub_answerer": sub_answerer}


def _answerer(below: Below) -> QuestionAnswerer:
    made = QuestionAnswerer(model=below.context.model, passages=below.context.passages)
    return below.context.answerer or made


def _question_first(made: R) -> R:
    return replace(made, template=before_passages(made.template))


def ge_reasoning(below: Below, *, paper: bool = False, retrieval: bool = True, stored: bool = False) -> GEReasoning:
    """The index's triples for ``stored=yes`` instead of extracting them; ``paper=yes`` switches off what is ours.

    ``retrieval=no`` is the paper's closed book.
    """
    given = {"grounded": False, "ranking": "fusion", "read": 2} if paper else {}
    given |= {} if retrieval else below.no_retrieval("ge_reasoning[retrieval=no]")
    return assembled(GEReasoning, below, triples=below.context.triples if stored else None, **given)
