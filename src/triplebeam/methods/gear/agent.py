"""GeAR, section 5: the multi-step agent, and its single-step form.

A step: retrieve for the current query with SyncGE, read the best passages into the gist (Eq. 4, 5), ask whether the
gist answers the question (Eq. 6), and if not, rewrite the query (Eq. 7). Every fact of the gist is linked to passages
(Eq. 8) and all lists are fused (Eq. 9); the best five are read for the answer (Table 3).

Followed to the letter: the first query is the question; the gist is read for the original question, not for the
rewritten one; all lists of all steps are fused. A fact is linked once, in the step that read it, so that every step can
tell the fusion so far (Figures 2 and 6 plot its recall); the last step's is that of Eq. 9. Ours where the paper is
silent: the gist reads the 10 best fused passages, passageLink takes 10, a step's list holds 20. Ours beyond it, behind
``stop_when_stuck``: the agent also stops, saying so, when a rewritten query repeats an earlier one or a step brings
neither a new fact nor a new passage.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial

from triplebeam.answer import Agent, Answer, Step
from triplebeam.methods.gear.expand import SyncGE
from triplebeam.methods.gear.gist import new_facts
from triplebeam.methods.gear.link import PassageLink
from triplebeam.methods.gear.read import Reader
from triplebeam.methods.gear.reason import Reasoner, Verdict
from triplebeam.methods.shared.accounted_step import accounted_step, taken_steps
from triplebeam.methods.shared.question_answering import ONE_STEP, QuestionAnswerer, conclude, evidence_for
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.fuse import reciprocal_rank_fusion
from triplebeam.retrieve.retriever import Retriever
from triplebeam.triple import Triple, entity_key

ANSWERED = "the facts answer the question"
_LAST_STEP = "the last step was reached"
_NO_QUERY = "the model gave no further query"
_REPEATED = "the next query repeats an earlier one"
_NOTHING_NEW = "the step brought nothing new"


@dataclass(frozen=True, kw_only=True)
class GeAR(Agent):
    """The agent over any retriever; the paper's is SyncGE over hybrid with 10 base passages."""

    retriever: Retriever
    reader: Reader
    reasoner: Reasoner
    passage_link: PassageLink
    answerer: QuestionAnswerer
    passages: Passages = field(repr=False)
    max_steps: int = 4
    retrieved: int = 20
    """Passages a step retrieves."""
    read: int = 10
    """Passages a step reads into the gist."""
    linked: int = 10
    """k of passageLink (Eq. 8)."""
    answered_from: int = 5
    stop_when_stuck: bool = True

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Eq. 4 to 7, step by step."""
        run = _Run(question)
        yield from taken_steps(self._step, run)
        nearest = [self.passages[passage_id] for passage_id in run.steps[-1].so_far.ids[: self.retrieved]]
        return conclude(
            self.answerer,
            question,
            run.steps,
            run.ending,
            best=self.answered_from,
            loop_text=run.verdict.answer,
            evidence=evidence_for(run.verdict.used or run.gist, nearest),
        )

    def _step(self, run: "_Run") -> Step:
        query, number = run.queries[-1], len(run.steps) + 1
        ranking = self.retriever.retrieve(query, self.retrieved)
        facts = new_facts(self.reader.read(run.question, ranking.ids[: self.read], run.gist), run.gist)
        brought_something = bool(facts) or not set(ranking.ids) <= run.seen
        run.take(ranking, facts, [self.passage_link.link(fact, self.linked) for fact in facts])
        run.verdict = self.reasoner.reason(run.gist, run.question)
        self._decide(run, number, brought_something)
        return Step(
            number=number,
            query=query,
            ranking=ranking,
            so_far=run.fused(),
            facts=facts,
            thought=run.verdict.answer if run.verdict.answerable else run.verdict.missing,
        )

    def _decide(self, run: "_Run", number: int, brought_something: bool) -> None:
        """Stop, and say why, or set the next query (Eq. 7)."""
        if run.verdict.answerable:
            run.ending = ANSWERED
        elif number >= self.max_steps:
            run.ending = _LAST_STEP
        elif self.stop_when_stuck and not brought_something:
            run.ending = _NOTHING_NEW
        else:
            query = self.reasoner.rewrite(run.gist, run.question, run.verdict.missing, run.queries)
            if not query:
                run.ending = _NO_QUERY
            elif self.stop_when_stuck and entity_key(query) in map(entity_key, run.queries):
                run.ending = _REPEATED
            else:
                run.queries.append(query)


@dataclass(slots=True)
class _Run:
    """What one question has brought so far."""

    question: str
    queries: list[str] = field(default_factory=list)
    gist: tuple[Triple, ...] = ()
    rankings: list[Ranking] = field(default_factory=list)
    linked: list[Ranking] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)
    verdict: Verdict = field(default_factory=lambda: Verdict(answerable=False))
    ending: str = ""

    def __post_init__(self) -> None:
        self.queries.append(self.question)

    def take(self, ranking: Ranking, facts: Sequence[Triple], linked: Sequence[Ranking]) -> None:
        """Eq. 5, and the lists that Eq. 9 fuses: the step's, and what Eq. 8 gave for each of its facts."""
        self.rankings.append(ranking)
        self.seen.update(ranking.ids)
        self.gist = (*self.gist, *facts)
        self.linked.extend(linked)

    def fused(self) -> Ranking:
        """Eq. 9: RRF of the passages linked to each fact of the gist and of all steps' passages."""
        return reciprocal_rank_fusion([*self.linked, *self.rankings])


@dataclass(frozen=True, kw_only=True)
class SingleStep(Agent):
    """SyncGE and the answer: two calls, one step. The facts read are the evidence."""

    retriever: SyncGE
    answerer: QuestionAnswerer
    passages: Passages = field(repr=False)
    retrieved: int = 20
    answered_from: int = 5

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Eq. 1 to 3, then Table 3's question answering."""
        step = accounted_step(partial(self._step, question))
        yield step
        evidence = evidence_for(step.facts, [self.passages[passage_id] for passage_id in step.ranking.ids])
        return conclude(self.answerer, question, [step], ONE_STEP, best=self.answered_from, evidence=evidence)

    def _step(self, question: str) -> Step:
        base = self.retriever.base.retrieve(question, self.retriever.base_k)
        facts = tuple(self.retriever.reader.read(question, base.ids))
        ranking = self.retriever.expand(question, base, self.retriever.link(facts)).top(self.retrieved)
        return Step(number=1, query=question, ranking=ranking, so_far=ranking, facts=facts)
