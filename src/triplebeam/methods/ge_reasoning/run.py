"""What one question has brought so far, and how a round of it is described."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from triplebeam.answer import Evidence, Step
from triplebeam.methods.ge_reasoning.question_graph import QuestionGraph, QuestionTriplet
from triplebeam.methods.ge_reasoning.sub_answer import Pair, SubAnswer
from triplebeam.methods.shared.facts import Fact, sources_of
from triplebeam.methods.shared.loop import Loop, NothingToSearch
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bases import reciprocal_rank_fusion
from triplebeam.text.names import entity_key
from triplebeam.triple import Triple

#: How a question ends that cannot be made a graph.
NO_GRAPH = "no question graph could be used"


class Ask(NamedTuple):
    """A sub-question and the triplet it is about, which is None without a graph."""

    sub_question: str
    triplet: QuestionTriplet | None = None

    @property
    def key(self) -> str:
        """What attempts are counted by."""
        return str(self.triplet) if self.triplet else self.sub_question


class Knowledge(NamedTuple):
    """What a search brought: the list, the passages of it that were read, and as a prompt shows it."""

    ranking: Ranking
    read: tuple[str, ...]
    facts: tuple[Fact, ...]
    shown: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A sub-answer that was kept, and what it rests on."""

    ask: Ask
    answer: SubAnswer
    knowledge: Knowledge | None

    @property
    def facts(self) -> list[Fact]:
        """The facts that the model names, or those that hold its answer; none where it knew without."""
        given = self.knowledge.facts if self.knowledge else ()
        used = [given[number - 1] for number in self.answer.used if 1 <= number <= len(given)]
        said = entity_key(self.answer.answer)
        return used or [fact for fact in given if said in map(entity_key, fact.triple)]

    @property
    def own_fact(self) -> Triple:
        """The sub-answer as a fact of its own: its triplet, or the sub-question where there is no graph."""
        if self.ask.triplet:
            return self.ask.triplet.fill_value(self.answer.answer)
        return Triple(self.ask.sub_question, "has the answer", self.answer.answer)

    @property
    def note(self) -> str:
        """The variable, its value and the sub-question: ``#1 (film director) = Edward Cahn: Who directed it?``"""
        name = f"{self.ask.triplet.variables[0].named} = " if self.ask.triplet else ""
        return f"{name}{self.answer.answer}: {self.ask.sub_question}"

    @property
    def from_memory(self) -> bool:
        """The model knew it: nothing was searched for."""
        return self.knowledge is None

    @property
    def rests_on(self) -> Ranking:
        """The passages of those facts, in their order."""
        return sources_of(self.facts)


@dataclass
class Rounds(Loop):
    """The state of the loop."""

    graph: QuestionGraph | None = None
    findings: list[Finding] = field(default_factory=list)
    attempts: Counter[str] = field(default_factory=Counter)
    sub_questions: dict[QuestionTriplet, str] = field(default_factory=dict)
    searched: dict[str, Knowledge] = field(default_factory=dict)
    """What a sub-question brought: another attempt at it would bring the same."""
    rounds: int = 0

    @property
    def pairs(self) -> list[Pair]:
        """The sub-questions and sub-answers that were kept."""
        return [Pair(found.ask.sub_question, found.answer.sentence, found.answer.answer) for found in self.findings]

    @property
    def grounded(self) -> bool:
        """Was every answer that was kept searched for?"""
        return bool(self.findings) and not any(finding.from_memory for finding in self.findings)

    @property
    def used(self) -> list[Fact]:
        """What the kept answers rest on, in their order."""
        return [fact for finding in self.findings for fact in finding.facts]

    def fuse_rankings(self) -> Ranking:
        """Fuse all searches' lists, what was read of each, and what each kept answer rests on.

        Only what was read is known to help, so it has a vote of its own.
        """
        return reciprocal_rank_fusion([*self.rankings, *(finding.rests_on for finding in self.findings)])

    def choose(self, graph: QuestionGraph) -> QuestionTriplet:
        """Line 6: the triplet that was tried least, in the order of the graph."""
        return min(graph.candidates(), key=lambda triplet: self.attempts[str(triplet)])

    def search(self, query: str, k: int, read: int) -> tuple[Ranking, tuple[str, ...]]:
        """Line 10: what a search finds, and the passages of it that are read."""
        ranking = self.retrieve(query, max(k, read))
        self.rankings.append(ranking.top(read))
        return ranking, tuple(ranking.ids[:read])

    def keep(self, finding: Finding) -> None:
        """Line 17: a sub-answer enters the history, and fills its variable everywhere."""
        self.findings.append(finding)
        if self.graph and finding.ask.triplet:
            [variable] = finding.ask.triplet.variables
            self.graph = self.graph.assign(variable, finding.answer.answer)

    def decide(self, max_rounds: int) -> None:
        """Lines 19 to 23: stop, and say why, or go on."""
        if self.graph and not self.graph.open:
            self.ending = "every variable has a value"
        elif self.graph and not self.graph.candidates():
            self.ending = "no triplet with one open variable is left"
        elif self.rounds >= max_rounds:
            self.ending = "the last round was reached"

    def show_graph(self, graph: QuestionGraph) -> Step:
        """Return the step that made the question a graph."""
        thought = f"The question as a graph:\n{graph}"
        return Step(number=self.number, query=self.question, thought=thought, picture=graph.mermaid())

    def end_asking(self, ending: str, k: int) -> Step:
        """Return the last step. Before the first round the question itself is searched for."""
        self.ending = ending
        thought, ranking = ending, Ranking()
        if not self.rounds and isinstance(self.retriever, NothingToSearch):
            thought += ": the question is answered directly."
        elif not self.rounds:
            ranking = self.retrieve(self.question, k)
            thought += ": the question itself is searched for, and answered from what comes."
        return Step(
            number=self.number, query=self.question, ranking=ranking, so_far=self.fuse_rankings(), thought=thought
        )


def describe(ask: Ask, answer: SubAnswer, how: str, *, kept: bool, graph: QuestionGraph | None) -> str:
    """Describe a round: what the variable is now or why it stays open, and the graph as it is now."""
    name = str(ask.triplet.variables[0]) if ask.triplet else "the sub-question"
    said = repr(answer.answer) if answer.answer else "no answer"
    verdict = f"{name} = {answer.answer} ({how})" if kept else f"{name} stays open: {said} ({how})"
    return "\n".join(filter(None, [verdict, answer.sentence, str(graph or "")]))


def select_new_facts(steps: Sequence[Step], knowledge: Knowledge | None) -> tuple[Evidence, ...]:
    """Return the facts that no earlier step has."""
    known = {fact.triple for step in steps for fact in step.facts}
    return tuple(fact.evidence() for fact in (knowledge.facts if knowledge else ()) if fact.triple not in known)
