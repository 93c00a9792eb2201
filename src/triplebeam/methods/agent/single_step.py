"""One step of the agent: SyncGE with quotations, and the answer; and effort only where that does not answer.

`Auto` asks a cheap agent first. The expensive one starts again from the question, and its ranking is the answer's. So
its steps give the ranking of its own steps so far, not mixed with what the cheap one found: that is what stopping there
would have given.
"""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from triplebeam.answer import Agent, Answer, Step
from triplebeam.methods.agent.read import QuotingReader
from triplebeam.methods.gear.expand import SyncGE
from triplebeam.methods.shared.facts import evidence_first, find_invention, with_sources
from triplebeam.methods.shared.loop import ONE_STEP, READ_ALONE, Loop
from triplebeam.methods.shared.reading import AnsweringAgent, answer_from_evidence, choose_within


@dataclass(frozen=True, kw_only=True)
class SingleStep(AnsweringAgent):
    """SyncGE and the answer: two calls, one step. The facts that SyncGE's reader finds are the evidence."""

    retriever: SyncGE
    retrieved: int = 20
    read_tokens: int | None = 1100
    """The tokens of the passages that are read, though at least four are."""

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """GeAR's Eq. 1 to 3, then an answer from the passages of the facts."""
        loop = Loop(question, ending=ONE_STEP)
        yield loop.take(partial(self._step, loop))
        answer = loop.conclude(lambda: answer_from_evidence(self._answerer, loop, self.answered_from))
        reader = self.retriever.reader
        return loop.quote_again(answer, reader.quote_again) if isinstance(reader, QuotingReader) else answer

    def _step(self, loop: Loop) -> Step:
        question = loop.question
        base = self.retriever.base.retrieve(question, self.retriever.base_k)
        ids = choose_within(base.ids, self._passages, self.read_tokens)
        loop.facts = with_sources(self.retriever.reader.read(question, ids), [self._passages[id_] for id_ in ids])
        if invention := find_invention(loop.facts):
            loop.facts, loop.ending = (), f"{loop.ending}; {invention}{READ_ALONE}"
        initial = self.retriever.link([fact.triple for fact in loop.facts])
        ranking = self.retriever.expand(question, base, initial).top(self.retrieved)
        return Step(
            number=1,
            query=question,
            ranking=ranking,
            so_far=evidence_first(loop.facts, ranking),
            facts=tuple(fact.evidence() for fact in loop.facts),
        )


@dataclass(frozen=True, kw_only=True)
class Auto(Agent):
    """Asks ``first``; where what it read does not answer the question, asks ``then``. All steps are in the trace."""

    first: Agent
    then: Agent

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Take the steps of both, numbered through."""
        cheap = yield from self.first.steps(question)
        if cheap.outcome == "answered":
            return replace(cheap, ending="one step answered it")
        steps = [*cheap.steps]
        with closing(self.then.run(question)) as run:
            for step in run.steps:
                steps.append(replace(step, number=len(steps) + 1))
                yield steps[-1]
            expensive = run.answer
        return replace(
            expensive,
            steps=tuple(steps),
            usage=cheap.usage + expensive.usage,
            ending=f"one step did not answer it; then {expensive.ending}",
        )
