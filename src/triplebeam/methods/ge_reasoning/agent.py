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
thresholds are ours, see `sub_answer.py`; an empty sub-answer is never kept. Where the kept pairs do not answer the
question, the best passages are read, as every agent does. A longer list than the passages read is kept for the ranking,
which is the fusion of all lists; each kept answer leaves evidence, and each triplet that stayed open says so there.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

from triplebeam.answer import Answer, Step
from triplebeam.errors import BadInputError
from triplebeam.generate.prompts import format_facts
from triplebeam.index.source import TripleStore
from triplebeam.methods.ge_reasoning.construct import GraphConstruction
from triplebeam.methods.ge_reasoning.final_answer import FinalAnswer
from triplebeam.methods.ge_reasoning.run import NO_GRAPH, Ask, Finding, Knowledge, Rounds, describe, select_new_facts
from triplebeam.methods.ge_reasoning.sub_answer import (
    Confidence,
    Refinement,
    SubAnswer,
    SubAnswers,
    SubQuestions,
    Thresholds,
)
from triplebeam.methods.shared.loop import NothingToSearch
from triplebeam.methods.shared.reading import ReadingAgent
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import check_fields

#: What is searched for (Table 2).
RetrieveBy: TypeAlias = Literal["sub_question", "question"]

_NO_SUB_QUESTION = "the model asks for nothing further"
_NOT_SEARCHED = "(no search was made)"


@dataclass(frozen=True, kw_only=True)
class GEReasoning(ReadingAgent):
    """The agent over any retriever, or over none, which is the closed-book form."""

    triples: TripleStore | None = field(default=None, repr=False)
    """Where it is given, facts are those the index holds of a passage; otherwise a model extracts them."""
    max_rounds: int = 10
    read: int = 2
    """Passages of a search that are refined to facts."""
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
    graph_guidance: bool = True
    typed: bool = True
    refining: bool = True
    triplet_filtering: bool = True
    filtering: bool = True

    def __post_init__(self) -> None:
        check_fields(self, "k1", "k2", "agreement_k1", "agreement_k2")
        super().__post_init__()
        if self.samples < 2:
            raise BadInputError(f"samples must be at least 2, got {self.samples}: 5 is usual.")
        if self.retriever is None and self.triples is not None:
            raise BadInputError("GE-Reasoning without a retriever retrieves nothing: leave out stored=yes.")

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Make the question's graph in the first step; each round of Algorithm 1 is another."""
        loop = Rounds(question, self.retriever or NothingToSearch())
        if self.graph_guidance:
            yield loop.take(partial(self._construct, loop))
        yield from loop.take_all(partial(self._round, loop))
        final_answer = FinalAnswer(
            model=self.model, passages=self._passages, answered_from=self.answered_from, answerer=self.answerer
        )
        return final_answer.conclude(loop)  # lines 25, 26

    def _construct(self, loop: Rounds) -> Step:
        """Line 1."""
        loop.graph = GraphConstruction(model=self.model, typed=self.typed).construct(loop.question)
        return loop.show_graph(loop.graph) if loop.graph else loop.end_asking(NO_GRAPH, self.retrieved)

    def _round(self, loop: Rounds) -> Step:
        """Lines 6 to 23."""
        ask = self._choose_next(loop)  # lines 6, 7
        if not ask.sub_question:
            return loop.end_asking(_NO_SUB_QUESTION, self.retrieved)
        loop.rounds += 1
        answer, confidence, knowledge = self._answer(loop, ask)  # lines 8 to 13
        kept = bool(answer.answer) and (confidence.enough or not self.filtering)  # line 14
        if kept:
            loop.keep(Finding(ask, answer, knowledge))  # line 17
        loop.decide(self.max_rounds)  # lines 19 to 23
        how = f"{confidence}, {'after' if knowledge else 'without'} retrieval"
        how += "" if kept else f"; {confidence.thresholds.keep:g} is needed"
        return Step(
            number=loop.number,
            query=ask.sub_question,
            ranking=knowledge.ranking if knowledge else Ranking(),
            so_far=loop.fuse_rankings(),
            facts=select_new_facts(loop.steps, knowledge),
            thought=describe(ask, answer, how, kept=kept, graph=loop.graph),
            picture=loop.graph.mermaid() if loop.graph else "",
        )

    def _choose_next(self, loop: Rounds) -> Ask:
        """Lines 6, 7: a triplet, and its sub-question."""
        sub_questions = SubQuestions(model=self.model)
        if loop.graph is None:
            sub_question = sub_questions.propose_next(loop.question, loop.pairs)
            return Ask("" if sub_question in [pair.question for pair in loop.pairs] else sub_question)
        triplet = loop.choose(loop.graph)
        if triplet not in loop.sub_questions:
            loop.sub_questions[triplet] = sub_questions.from_triplet(triplet)
        return Ask(loop.sub_questions[triplet], triplet)

    def _answer(self, loop: Rounds, ask: Ask) -> tuple[SubAnswer, Confidence, Knowledge | None]:
        """Lines 8 to 13: the sub-answer, how sure the model is of it, and what was searched for it."""
        attempt = loop.attempts[ask.key]
        loop.attempts[ask.key] += 1
        sub_answers = SubAnswers(
            model=self.model,
            by_probability=Thresholds(self.k1, self.k2),
            by_agreement=Thresholds(self.agreement_k1, self.agreement_k2),
            samples=self.samples,
        )
        answered = partial(sub_answers.answer, loop.question, loop.pairs)
        answer, confidence = answered(_NOT_SEARCHED, ask.sub_question, attempt)  # line 8
        if self.retriever is None or confidence.sure:  # line 9
            return answer, confidence, None
        if ask.sub_question not in loop.searched:
            loop.searched[ask.sub_question] = self._search(loop, ask.sub_question)  # lines 10, 11
        knowledge = loop.searched[ask.sub_question]
        return *answered(knowledge.shown, ask.sub_question, attempt), knowledge  # line 12

    def _search(self, loop: Rounds, sub_question: str) -> Knowledge:
        """Lines 10, 11."""
        query = loop.question if self.retrieve_by == "question" else sub_question
        ranking, read = loop.search(query, self.retrieved, self.read)
        if not self.refining:
            return Knowledge(ranking, read, (), self._format_passages(read))
        refinement = Refinement(
            model=self.model, passages=self._passages, triples=self.triples, filtering=self.triplet_filtering
        )
        facts = tuple(refinement.refine(read, sub_question))
        return Knowledge(ranking, read, facts, format_facts([fact.triple for fact in facts]))
