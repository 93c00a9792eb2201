"""GeAR, section 5: the multi-step agent.

Followed to the letter: a step retrieves for its query, which is the question in the first (section 5), reads the
passages into the gist for the original question (Eq. 4, 5), asks whether the gist answers it (Eq. 6), and if not,
rewrites the query (Eq. 7). Every fact of the gist is linked to passages (Eq. 8), and these lists and those of all steps
are fused (Eq. 9); the best five are read for the answer (Table 3). A fact is linked once, in the step that read it, so
that every step has the fusion so far (Figures 2 and 6 plot its recall); the last step's is that of Eq. 9.

Ours where the paper is silent: a step retrieves 20 passages, the gist reads the 10 best of them and holds no fact
twice, passageLink takes 10; a step without a next query is the last; where the best five do not answer the question,
the answer of Eq. 6 counts; each fact is looked up in the passages it was read in, so that an answer shows its words.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import cached_property, partial

from triplebeam.answer import Answer, Step
from triplebeam.generate.language_model import LanguageModel
from triplebeam.methods.gear.expand import PassageLink, derive_passage_link
from triplebeam.methods.gear.reason import LLMReader, Reader, Reasoner
from triplebeam.methods.shared.facts import select_new_facts, with_sources
from triplebeam.methods.shared.loop import ANSWERED, LAST_STEP, NO_QUERY, Loop
from triplebeam.methods.shared.reading import AnsweringAgent
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bases import reciprocal_rank_fusion


@dataclass(frozen=True, kw_only=True)
class GeAR(AnsweringAgent):
    """The agent over any retriever; the paper's is SyncGE over hybrid with 10 base passages."""

    reading_model: LanguageModel | None = None
    """Reads facts from passages; by default the same model as for the rest."""
    reader: Reader | None = None
    """By default the reading model."""
    reasoner: Reasoner | None = None
    """By default the model."""
    passage_link: PassageLink | None = None
    """By default over the retriever, or over the base and the triples of a graph expansion."""
    max_steps: int = 4
    retrieved: int = 20
    """Passages that a step retrieves."""
    read: int = 10
    """Passages that a step reads into the gist."""
    linked: int = 10
    """k of passageLink (Eq. 8)."""

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Eq. 4 to 7, step by step, then Eq. 9 and Table 3's question answering."""
        loop = Gist(question, self.retriever, query=question)
        yield from loop.take_all(partial(self._step, loop))
        return self._conclude(loop)

    def _step(self, loop: "Gist") -> Step:
        query = loop.query
        ranking = loop.retrieve(query, self.retrieved)
        read = self._reader.read(loop.question, ranking.ids[: self.read], loop.facts)  # Eq. 4
        passages = [self._passages[id_] for id_ in ranking.ids[: self.read]]
        facts = with_sources(select_new_facts(read, loop.facts), passages)
        loop.facts = (*loop.facts, *facts)  # Eq. 5
        loop.linked.extend(self._passage_link.link(fact.triple, self.linked) for fact in facts)  # Eq. 8
        verdict = self._reasoner.reason(loop.facts, loop.question)  # Eq. 6
        loop.answer = verdict.answer if verdict.answerable else ""
        loop.missing = (verdict.reason,) if verdict.reason else ()
        if loop.answer:
            loop.ending = ANSWERED
        elif loop.number >= self.max_steps:
            loop.ending = LAST_STEP
        else:
            loop.query = self._reasoner.rewrite(loop.facts, loop.question, verdict.reason)  # Eq. 7
            loop.ending = "" if loop.query else NO_QUERY
        return Step(
            number=loop.number,
            query=query,
            ranking=ranking,
            so_far=loop.fuse_rankings(),  # Eq. 9
            facts=tuple(fact.evidence() for fact in facts),
            thought=loop.answer or verdict.reason,
        )

    @cached_property
    def _reader(self) -> Reader:
        return self.reader or LLMReader(model=self.reading_model or self.model, passages=self._passages)

    @cached_property
    def _reasoner(self) -> Reasoner:
        return self.reasoner or Reasoner(model=self.model)

    @cached_property
    def _passage_link(self) -> PassageLink:
        return self.passage_link or derive_passage_link(self.retriever)


@dataclass
class Gist(Loop):
    """The gist memory (``facts``), and the lists that Eq. 9 fuses."""

    query: str = ""
    """What the next step retrieves for."""
    linked: list[Ranking] = field(default_factory=list)
    """The passages that each fact is linked to."""

    def fuse_rankings(self) -> Ranking:
        """Eq. 9: RRF of the passages linked to each fact of the gist and of all steps' passages."""
        return reciprocal_rank_fusion([*self.linked, *self.rankings])
