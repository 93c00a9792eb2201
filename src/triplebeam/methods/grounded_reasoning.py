"""Grounded reasoning: the question graph of GE-Reasoning, filled in from documents alone.

The graph, the sub-questions and the order are the paper's. Ours: a sub-answer is read from the ten best passages, in
one call (`GroundedReading`), and kept if it rests on a fact; one attempt per triplet, since a second would send the
same prompt; the ranking begins with the passages of the facts that the kept answers rest on; where what is asked for
was not found, the passages are read for the answer, and not the kept pairs.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, BaseModel

from triplebeam.answer import Answer, Step
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import Template, format_passages, load
from triplebeam.methods.ge_reasoning.construct import GraphConstruction
from triplebeam.methods.ge_reasoning.final_answer import FinalAnswer
from triplebeam.methods.ge_reasoning.question_graph import QuestionGraph
from triplebeam.methods.ge_reasoning.run import NO_GRAPH, Ask, Finding, Knowledge, Rounds, describe, select_new_facts
from triplebeam.methods.ge_reasoning.sub_answer import Pair, SubAnswer, SubQuestions, format_pairs, tidy
from triplebeam.methods.shared.facts import Fact, QuotedTriples, evidence_first, make_cited_facts
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.methods.shared.reading import RetrievingAgent, answer_from_evidence
from triplebeam.methods.shared.replies import request_reply
from triplebeam.passage import Passage

_TRIED = "every open triplet was tried as often as it may be"


class _Reply(BaseModel):
    sentence: Text
    answer: Annotated[Text, AfterValidator(tidy)]
    facts: QuotedTriples


@dataclass(frozen=True, kw_only=True)
class GroundedReading:
    """The model that reads passages for a sub-question: in the place of lines 8 to 14 of Algorithm 1.

    The paper asks what the model knows, extracts triplets from two passages, filters them, asks again, and measures how
    sure the model is. On a user's own documents the model reads the passages once and quotes the facts that its answer
    rests on.
    """

    model: LanguageModel
    template: Template = field(default_factory=partial(load, "ge_reasoning/grounded_sub_answer"), repr=False)

    def read(
        self, question: str, pairs: Sequence[Pair], passages: Sequence[Passage], sub_question: str
    ) -> tuple[SubAnswer, tuple[Fact, ...]]:
        """Call the model once for the sub-answer and its facts; neither if the reply cannot be used."""
        prompt = self.template.fill(
            question=question,
            pairs=format_pairs(pairs),
            passages=format_passages(passages),
            sub_question=sub_question,
        )
        reply = request_reply(self.model, prompt, _Reply)
        if reply is None:
            return SubAnswer("", ""), ()
        facts = tuple(fact for fact in make_cited_facts(reply.facts, passages) if fact.passage_id)
        return SubAnswer(" ".join(reply.sentence.split()), reply.answer, tuple(range(1, len(facts) + 1))), facts


@dataclass(frozen=True, kw_only=True)
class GroundedReasoning(RetrievingAgent):
    """The agent over any retriever."""

    max_rounds: int = 10
    read: int = 10
    """Passages of a search that are read."""
    retrieved: int = 10
    """Passages of a search that enter the ranking."""
    answered_from: int = 5

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Make the question's graph in the first step; each round is another."""
        loop = Rounds(question, self.retriever)
        yield loop.take(partial(self._construct, loop))
        yield from loop.take_all(partial(self._round, loop))
        final_answer = _GroundedAnswer(
            model=self.model, passages=self._passages, answered_from=self.answered_from, answerer=self.answerer
        )
        return final_answer.conclude(loop)

    def _construct(self, loop: Rounds) -> Step:
        loop.graph = GraphConstruction(model=self.model).construct(loop.question)
        return loop.show_graph(loop.graph) if loop.graph else loop.end_asking(NO_GRAPH, self.retrieved)

    def _round(self, loop: Rounds) -> Step:
        """Ask for one open variable, and fill it in where a passage states its value."""
        assert loop.graph  # without one there is no round
        ask = self._choose_next(loop, loop.graph)
        answer, knowledge = self._answer(loop, ask.sub_question)
        kept = bool(answer.answer and answer.used)
        if kept:
            loop.keep(Finding(ask, answer, knowledge))
        self._decide(loop, loop.graph)
        how = "read in a passage" if kept else "in none of the passages read"
        return Step(
            number=loop.number,
            query=ask.sub_question,
            ranking=knowledge.ranking,
            so_far=evidence_first(loop.used, loop.fuse_rankings()),
            facts=select_new_facts(loop.steps, knowledge),
            thought=describe(ask, answer, how, kept=kept, graph=loop.graph),
            picture=loop.graph.mermaid(),
        )

    def _choose_next(self, loop: Rounds, graph: QuestionGraph) -> Ask:
        triplet = loop.choose(graph)
        loop.rounds += 1
        loop.attempts[str(triplet)] += 1
        loop.sub_questions[triplet] = SubQuestions(model=self.model).from_triplet(triplet)
        return Ask(loop.sub_questions[triplet], triplet)

    def _answer(self, loop: Rounds, sub_question: str) -> tuple[SubAnswer, Knowledge]:
        """Answer with one search and one call."""
        ranking, read = loop.search(sub_question, self.retrieved, self.read)
        passages = [self._passages[id_] for id_ in read]
        answer, facts = GroundedReading(model=self.model).read(loop.question, loop.pairs, passages, sub_question)
        return answer, Knowledge(ranking, read, facts, "")

    def _decide(self, loop: Rounds, graph: QuestionGraph) -> None:
        """Stop where a further attempt would send the same prompt, too."""
        loop.decide(self.max_rounds)
        if not loop.ending and all(loop.attempts[str(triplet)] for triplet in graph.candidates()):
            loop.ending = _TRIED


class _GroundedAnswer(FinalAnswer):
    """From the kept pairs where they have all that is asked for, else from the passages of their facts."""

    def _has_enough(self, loop: Rounds) -> bool:
        graph = loop.graph
        return bool(loop.pairs) and (graph is None or all(target.number in graph.values for target in graph.targets))

    def _read(self, loop: Rounds) -> ReadAnswer:
        return answer_from_evidence(self._answerer, loop, self.answered_from)
