"""GeAR, section 5: the multi-step agent, and its single-step form.

A step: retrieve for the current query with SyncGE, read the best passages into the gist (Eq. 4, 5), ask whether the
gist answers the question (Eq. 6), and if not, rewrite the query (Eq. 7). Every fact of the gist is linked to passages
(Eq. 8) and all lists are fused (Eq. 9); the best five are read for the answer (Table 3).

Followed to the letter: the first query is the question; the gist is read for the original question, not for the
rewritten one; all lists of all steps are fused. A fact is linked once, in the step that read it, so that every step has
the fusion so far (Figures 2 and 6 plot its recall); the last step's is that of Eq. 9. Ours where the paper is silent:
the gist reads the 10 best fused passages, passageLink takes 10, a step's list holds 20. Ours beyond it, behind
``stop_when_stuck``: the agent also stops, saying so, when a rewritten query repeats an earlier one or a step brings
neither a new fact nor a new passage.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from triplebeam.answer import Answer, Evidence, Step
from triplebeam.methods.gear.expand import NaiveGE, SyncGE
from triplebeam.methods.gear.link import PassageLink
from triplebeam.methods.gear.read import LLMReader, Reader, new_facts
from triplebeam.methods.gear.reason import Reasoner, Verdict
from triplebeam.methods.shared.loop import LAST_STEP, ONE_STEP, Loop
from triplebeam.methods.shared.question_answering import evidence_for
from triplebeam.methods.shared.reading import AnsweringAgent
from triplebeam.ranking import Ranking
from triplebeam.retrieve.fuse import reciprocal_rank_fusion
from triplebeam.triple import Triple, entity_key

ANSWERED = "the facts answer the question"
_NO_QUERY = "the model gave no further query"
_REPEATED = "the next query repeats an earlier one"
_NOTHING_NEW = "the step brought nothing new"


@dataclass(frozen=True, kw_only=True)
class GeAR(AnsweringAgent):
    """The agent over any retriever; the paper's is SyncGE over hybrid with 10 base passages."""

    reader: Reader | None = None
    """Reads facts from passages; by default the model does."""
    reasoner: Reasoner | None = None
    """Says whether the facts suffice, and what to search for next; by default the model does."""
    passage_link: PassageLink | None = None
    """By default over the retriever, or over the base and the triples of a graph expansion."""
    max_steps: int = 4
    retrieved: int = 20
    """Passages that a step retrieves."""
    read: int = 10
    """Passages that a step reads into the gist."""
    linked: int = 10
    """k of passageLink (Eq. 8)."""
    stop_when_stuck: bool = True

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Eq. 4 to 7, step by step."""
        loop = Gist(question, self.retriever, queries=[question])
        yield from loop.take_all(partial(self._step, loop))
        return self._conclude(loop, evidence=self._evidence(loop))

    def _step(self, loop: "Gist") -> Step:
        query = loop.queries[-1]
        ranking = loop.retriever.retrieve(query, self.retrieved)
        facts = new_facts(self._reader.read(loop.question, ranking.ids[: self.read], loop.facts), loop.facts)
        brought_something = bool(facts) or not set(ranking.ids) <= loop.seen
        loop.add(ranking, facts, [self._passage_link.link(fact, self.linked) for fact in facts])
        loop.verdict = self._reasoner.reason(loop.facts, loop.question)
        self._decide(loop, brought_something)
        return Step(
            number=loop.number,
            query=query,
            ranking=ranking,
            so_far=loop.fused(),
            facts=tuple(Evidence(triple=fact) for fact in facts),
            thought=loop.verdict.answer if loop.verdict.answerable else loop.verdict.missing,
        )

    def _decide(self, loop: "Gist", brought_something: bool) -> None:
        """Stop, and say why, or set the next query (Eq. 7)."""
        loop.answer = loop.verdict.answer
        if loop.verdict.answerable:
            loop.ending = ANSWERED
        elif loop.number >= self.max_steps:
            loop.ending = LAST_STEP
        elif self.stop_when_stuck and not brought_something:
            loop.ending = _NOTHING_NEW
        else:
            query = self._reasoner.rewrite(loop.facts, loop.question, loop.verdict.missing, loop.queries)
            if not query:
                loop.ending = _NO_QUERY
            elif self.stop_when_stuck and entity_key(query) in map(entity_key, loop.queries):
                loop.ending = _REPEATED
            else:
                loop.queries.append(query)

    def _evidence(self, loop: "Gist") -> tuple[Evidence, ...]:
        nearest = [self._passages[passage_id] for passage_id in loop.so_far.ids[: self.retrieved]]
        return evidence_for(loop.verdict.used or loop.facts, nearest)

    @cached_property
    def _reader(self) -> Reader:
        return self.reader or LLMReader(model=self.model, passages=self._passages)

    @cached_property
    def _reasoner(self) -> Reasoner:
        return self.reasoner or Reasoner(model=self.model)

    @cached_property
    def _passage_link(self) -> PassageLink:
        if self.passage_link is None and isinstance(self.retriever, NaiveGE | SyncGE):
            return PassageLink(passages=self.retriever.base, triples=self.retriever.over_triples())
        return self.passage_link or PassageLink(passages=self.retriever)


@dataclass
class Gist(Loop):
    """What one question has brought so far."""

    queries: list[str] = field(default_factory=list)
    facts: tuple[Triple, ...] = ()
    linked: list[Ranking] = field(default_factory=list)
    """The passages that each fact is linked to."""
    seen: set[str] = field(default_factory=set)
    verdict: Verdict = field(default_factory=lambda: Verdict(answerable=False))

    def add(self, ranking: Ranking, facts: Sequence[Triple], linked: Sequence[Ranking]) -> None:
        """Eq. 5, and the lists that Eq. 9 fuses: the step's, and what Eq. 8 gave for each of its facts."""
        self.rankings.append(ranking)
        self.seen.update(ranking.ids)
        self.facts = (*self.facts, *facts)
        self.linked.extend(linked)

    def fused(self) -> Ranking:
        """Eq. 9: RRF of the passages linked to each fact of the gist and of all steps' passages."""
        return reciprocal_rank_fusion([*self.linked, *self.rankings])


@dataclass(frozen=True, kw_only=True)
class SingleStep(AnsweringAgent):
    """SyncGE and the answer: two calls, one step. The facts read are the evidence."""

    retriever: SyncGE
    retrieved: int = 20

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Eq. 1 to 3, then Table 3's question answering."""
        loop = Loop(question, ending=ONE_STEP)
        step = loop.take(partial(self._step, question))
        yield step
        evidence = evidence_for(
            [fact.triple for fact in step.facts], [self._passages[passage_id] for passage_id in step.ranking.ids]
        )
        return self._conclude(loop, evidence=evidence)

    def _step(self, question: str) -> Step:
        base = self.retriever.base.retrieve(question, self.retriever.base_k)
        facts = tuple(self.retriever.reader.read(question, base.ids))
        ranking = self.retriever.expand(question, base, self.retriever.link(facts)).top(self.retrieved)
        return Step(
            number=1,
            query=question,
            ranking=ranking,
            so_far=ranking,
            facts=tuple(Evidence(triple=fact) for fact in facts),
        )
