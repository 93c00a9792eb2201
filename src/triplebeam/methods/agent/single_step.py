"""One step of the agent: SyncGE with quotations, and the answer."""

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial

from triplebeam.answer import Answer, Step
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
