"""GE-Reasoning, Algorithm 1: a question is answered by filling in its graph, one sub-question per round.

A round takes a triplet with one open variable, asks the model for a sub-question and a sub-answer, retrieves where the
model is not sure (k1), refines what came to facts, asks again, and drops the pair (k2) or puts the answer in the
variable's place everywhere. When nothing is left to ask, the kept pairs answer the question.

Followed to the letter: all that, with two passages read per search, BM25 in the paper, any retriever here; without one
it is the closed-book form of Table 4. The switches are the ablations: ``retrieve_by`` and ``graph_guidance`` (Table 2),
``refining`` and ``filtering`` (Table 3; we read its "Filter." as section 3.5's second gate, and ``triplet_filtering``
switches section 3.4's), ``typed`` (Table 5).

What differs. The text says 10 rounds, the loop as printed makes 9: 10 it is. "Sample" is not specified: the triplet
tried least comes first, in the order of the graph, so that one that cannot be answered does not starve the others;
another attempt asks for another sample and repeats no search. No usable graph, or without one no first sub-question,
means one retrieval with the question, or none in the closed-book form, and an answer from that, as the trace says. The
thresholds are ours, see `confidence.py`; an empty sub-answer is never kept. Where the kept pairs do not answer the
question, the best passages are read, as every agent does. Ours beyond the paper: ``grounded`` reads each sub-answer
from the ten best passages, in one call in the place of lines 8 to 14 (`grounded.py`), so that the switches of Table 3
and the confidence have no part in it; ``max_attempts`` bounds what one triplet may cost; a longer list than the
passages read may be kept for the ranking, which begins with the passages of the facts that the kept answers rest on,
unless ``ranking`` is "fusion"; each kept answer leaves evidence, and each triplet that stayed open says so there.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, TypeAlias

from triplebeam.answer import Answer, Step
from triplebeam.bounds import check_fields
from triplebeam.errors import BadInputError
from triplebeam.index.triple_store import TripleStore
from triplebeam.methods.ge_reasoning.confidence import Thresholds
from triplebeam.methods.ge_reasoning.construct import GraphConstruction
from triplebeam.methods.ge_reasoning.final_answer import FinalAnswer
from triplebeam.methods.ge_reasoning.grounded import GroundedReading
from triplebeam.methods.ge_reasoning.refine import Refinement
from triplebeam.methods.ge_reasoning.run import Ask, Finding, Knowledge, Rounds, describe, new_facts, shown_facts
from triplebeam.methods.ge_reasoning.sub_answer import SubAnswer, SubAnswers
from triplebeam.methods.ge_reasoning.sub_question import SubQuestions
from triplebeam.methods.shared.facts import First
from triplebeam.methods.shared.loop import NothingToSearch
from triplebeam.methods.shared.reading import ReadingAgent
from triplebeam.ranking import Ranking

#: What is searched for (Table 2).
RetrieveBy: TypeAlias = Literal["sub_question", "question"]

_FILLED = "every variable has a value"
_NOTHING_OPEN = "no triplet with one open variable is left"
_TRIED = "every open triplet was tried as often as it may be"
_LAST_ROUND = "the last round was reached"
_NO_SUB_QUESTION = "the model asks for nothing further"
_NO_GRAPH = "no question graph could be used"
_NOT_SEARCHED = "(no search was made)"


@dataclass(frozen=True, kw_only=True)
class GEReasoning(ReadingAgent):
    """The agent over any retriever, or over none, which is the closed-book form."""

    triples: TripleStore | None = field(default=None, repr=False)
    """Where it is given, facts are those the index holds of a passage; otherwise a model extracts them."""
    max_rounds: int = 10
    max_attempts: int = 10
    read: int = 10
    """Passages of a search that are read; the paper's two are refined to facts."""
    retrieved: int = 10
    """Passages of a search that enter the ranking."""
    answered_from: int = 5
    k1: float = 0.5
    k2: float = 0.5
    agreement_k1: float = 0.8
    agreement_k2: float = 0.6
    samples: int = 5
    """Samples of a sub-answer where the endpoint gives no log-probabilities."""
    retrieve_by: RetrieveBy = "sub_question"
    grounded: bool = True
    """Every sub-answer is read from documents, in one call; the paper's model first answers from what it knows."""
    ranking: First = "evidence"
    graph_guidance: bool = True
    typed: bool = True
    refining: bool = True
    triplet_filtering: bool = True
    filtering: bool = True

    def __post_init__(self) -> None:
        check_fields(self, "k1", "k2", "agreement_k1", "agreement_k2")
        super().__post_init__()
        if self.samples < 2:
            raise BadInputError(f"samples is {self.samples}: at least 2 are needed to agree, 5 is usual.")
        if self.retriever is None and self.triples is not None:
            raise BadInputError("GE-Reasoning without a retriever retrieves nothing: leave out stored=yes.")

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """The question's graph is the first step, each round of Algorithm 1 another."""
        loop = Rounds(question, self.retriever or NothingToSearch())
        if self.graph_guidance:
            yield loop.take(partial(self._construct, loop))
        yield from loop.take_all(partial(self._round, loop))
        return self._final_answer.conclude(loop)

    def _construct(self, loop: Rounds) -> Step:
        """Line 1."""
        loop.graph = GraphConstruction(model=self.model, typed=self.typed).construct(loop.question)
        if loop.graph is None:
            return self._nothing_to_ask(loop, _NO_GRAPH)
        thought = f"The question as a graph:\n{loop.graph}"
        return Step(number=1, query=loop.question, thought=thought, picture=loop.graph.mermaid())

    def _nothing_to_ask(self, loop: Rounds, ending: str) -> Step:
        """Before the first round there is nothing to answer from, so the question itself is searched for, once."""
        loop.ending = ending
        thought, ranking = ending, Ranking()
        if not loop.rounds and self.retriever is None:
            thought += ": the question is answered directly."
        elif not loop.rounds:
            ranking = loop.retrieve(loop.question, self.retrieved)
            thought += ": the question itself is searched for, and answered from what comes."
        return Step(
            number=loop.number, query=loop.question, ranking=ranking, so_far=loop.ranked(self.ranking), thought=thought
        )

    def _round(self, loop: Rounds) -> Step:
        """Lines 6 to 23."""
        ask = self._next(loop)  # lines 6, 7
        if not ask.sub_question:
            return self._nothing_to_ask(loop, _NO_SUB_QUESTION)
        loop.rounds += 1
        answer, knowledge = self._answer(loop, ask)
        kept = bool(answer.answer) and self._trusted(answer)  # line 14
        if kept:
            loop.keep(Finding(ask, answer, knowledge))  # line 17
        self._decide(loop)
        return Step(
            number=loop.number,
            query=ask.sub_question,
            ranking=knowledge.ranking if knowledge else Ranking(),
            so_far=loop.ranked(self.ranking),
            facts=new_facts(loop.steps, knowledge),
            thought=describe(ask, answer, kept=kept, searched=knowledge is not None, graph=loop.graph),
            picture=loop.graph.mermaid() if loop.graph else "",
        )

    def _trusted(self, answer: SubAnswer) -> bool:
        """Is the model sure enough (k2), or, if the sub-answer was read, does it rest on a fact?"""
        if answer.confidence is None:
            return bool(answer.used)
        return not self.filtering or answer.confidence.enough

    @property
    def _may_remember(self) -> bool:
        return self.retriever is None or not self.grounded

    def _next(self, loop: Rounds) -> Ask:
        """Lines 6, 7: the triplet that was tried least, and its sub-question."""
        if loop.graph is None:
            sub_question = self._sub_questions.next(loop.question, loop.pairs)
            asked = [pair.question for pair in loop.pairs] if self._may_remember else loop.searched
            return Ask("" if sub_question in asked else sub_question)
        triplet = min(loop.graph.candidates(), key=lambda triplet: loop.attempts[str(triplet)])
        if triplet not in loop.sub_questions:
            loop.sub_questions[triplet] = self._sub_questions.from_triplet(triplet)
        return Ask(loop.sub_questions[triplet], triplet)

    def _answer(self, loop: Rounds, ask: Ask) -> tuple[SubAnswer, Knowledge | None]:
        """Lines 8 to 13: the sub-answer, and what was searched for it."""
        attempt = loop.attempts[ask.key]
        loop.attempts[ask.key] += 1
        if not self._may_remember:
            return self._read_answer(loop, ask.sub_question)
        answered = partial(self._sub_answers.answer, loop.question, loop.pairs)
        answer = answered(_NOT_SEARCHED, ask.sub_question, attempt)  # line 8
        if self.retriever is None or (answer.confidence and answer.confidence.sure):  # line 9
            return answer, None
        if ask.sub_question not in loop.searched:
            loop.searched[ask.sub_question] = self._search(loop, ask.sub_question)
        knowledge = loop.searched[ask.sub_question]
        return answered(knowledge.shown, ask.sub_question, attempt), knowledge  # line 12

    def _read_answer(self, loop: Rounds, sub_question: str) -> tuple[SubAnswer, Knowledge]:
        """In the place of lines 8 to 13: one search, one call."""
        ranking, read = self._retrieve(loop, sub_question)
        passages = [self._passages[id_] for id_ in read]
        answer, facts = self._grounded_reading.read(loop.question, loop.pairs, passages, sub_question)
        loop.searched[sub_question] = Knowledge(ranking, read, facts, "")
        return answer, loop.searched[sub_question]

    def _retrieve(self, loop: Rounds, sub_question: str) -> tuple[Ranking, tuple[str, ...]]:
        """What a search finds, and the passages of it that are read."""
        query = loop.question if self.retrieve_by == "question" else sub_question
        ranking = loop.retrieve(query, max(self.retrieved, self.read))
        loop.rankings.append(ranking.top(self.read))
        return ranking, tuple(ranking.ids[: self.read])

    def _search(self, loop: Rounds, sub_question: str) -> Knowledge:
        """Lines 10, 11."""
        ranking, read = self._retrieve(loop, sub_question)
        if not self.refining:
            return Knowledge(ranking, read, (), self._shown(read))
        facts = tuple(self._refinement.refine(read, sub_question))
        return Knowledge(ranking, read, facts, shown_facts(facts))

    def _decide(self, loop: Rounds) -> None:
        """Lines 19 to 23: stop, and say why, or go on."""
        tried = [loop.attempts[str(triplet)] for triplet in loop.graph.candidates()] if loop.graph else []
        if loop.graph and not loop.graph.open:
            loop.ending = _FILLED
        elif loop.graph and not tried:
            loop.ending = _NOTHING_OPEN
        elif loop.rounds >= self.max_rounds:
            loop.ending = _LAST_ROUND
        elif tried and min(tried) >= (self.max_attempts if self._may_remember else 1):
            loop.ending = _TRIED

    @cached_property
    def _sub_questions(self) -> SubQuestions:
        return SubQuestions(model=self.model)

    @cached_property
    def _sub_answers(self) -> SubAnswers:
        return SubAnswers(
            model=self.model,
            by_probability=Thresholds(self.k1, self.k2),
            by_agreement=Thresholds(self.agreement_k1, self.agreement_k2),
            samples=self.samples,
        )

    @cached_property
    def _grounded_reading(self) -> GroundedReading:
        return GroundedReading(model=self.model)

    @cached_property
    def _final_answer(self) -> FinalAnswer:
        return FinalAnswer(
            model=self.model,
            passages=self._passages,
            answered_from=self.answered_from,
            answer_from=self.ranking,
            answerer=self.answerer,
            open_too=self._may_remember,
        )

    @cached_property
    def _refinement(self) -> Refinement:
        return Refinement(
            model=self.model, passages=self._passages, triples=self.triples, filtering=self.triplet_filtering
        )
