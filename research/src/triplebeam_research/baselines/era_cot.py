"""ERA-CoT (Liu, Peng, Du, Yin, Liu & Zhang, ACL 2024): a chain of thought over entities and their relations.

1. Entities, with their types, are extracted from the text;
2. the relations between them that the text states;
3. relations that it does not state but that follow are inferred, a limited number for a pair of entities;
4. each inferred relation is scored from 0 to 10 and those below a threshold are dropped;
5. the question is answered, step by step, from the text, the entities and the relations that are left.

GE-Reasoning compares with it over retrieved passages where the paper gives it the gold ones, and so do we: one
retrieval for the question, 2 passages, six exemplars before the answer (the paper's prompts have none).

Followed to the letter: the five stages and what each is shown. At most 5 inferred relations per pair and a score of 6
to be kept are the authors' released code. The paper makes the extraction robust by self-consistency: with ``samples``
above 1, stages 1 and 2 keep what more than half of the samples name; the released code takes one sample, and so do we.

What differs: the prompts and the names of the types are our own, replies are JSON, and one call scores all inferred
relations where the released code makes one per relation. A relation that is given no score is dropped. A stage whose
reply cannot be used counts as having found nothing, and the next goes on.
"""

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from pydantic import BaseModel

from triplebeam.answer import Answer, Evidence, Step
from triplebeam.generate.accounting import note_warning
from triplebeam.generate.language_model import Prompt
from triplebeam.generate.parse import ReplyType, Text, TripleRow
from triplebeam.generate.prompts import format_facts
from triplebeam.methods.shared.loop import Loop
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.methods.shared.reading import RetrievingAgent
from triplebeam.methods.shared.replies import filter_triples, request_reply, request_samples
from triplebeam.text.names import entity_key
from triplebeam.triple import Triple
from triplebeam_research.baselines.chain_of_thought import (
    CAME_TO_AN_ANSWER,
    NO_ANSWER,
    Exemplar,
    PathReply,
    format_exemplars,
    load_exemplars,
)
from triplebeam_research.templates import load

_Item = TypeVar("_Item")


class _Entity(BaseModel):
    name: Text
    type: Text


class _Entities(BaseModel):
    entities: list[_Entity]


class _Relations(BaseModel):
    relations: list[TripleRow]


class _Score(BaseModel):
    number: int
    score: float


class _Scores(BaseModel):
    scores: list[_Score]


@dataclass(frozen=True, kw_only=True)
class ERACoT(RetrievingAgent):
    """One retrieval, four calls that analyse what it found, and one that answers."""

    retrieved: int = 2
    inferred: int = 5
    """Relations that may be inferred for a pair of entities."""
    threshold: float = 6.0
    """The score from which an inferred relation is kept."""
    samples: int = 1
    """How often entities and stated relations are extracted; what more than half of the samples name is kept."""
    temperature: float = 0.7
    """For several samples; a single one is taken at 0."""
    seed: int | None = 0
    exemplars: Sequence[Exemplar] = field(default_factory=load_exemplars, repr=False)

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Retrieve and analyse in the one step; the answer is stage 5."""
        loop, analysis = Loop(question), _Analysis(question)
        step = loop.take(partial(self._step, analysis))
        yield step
        return loop.conclude(lambda: self._answer_last(loop, analysis, [fact.triple for fact in step.facts]))

    def _answer_last(self, loop: Loop, analysis: "_Analysis", relations: Sequence[Triple]) -> ReadAnswer:
        path = self._answer_question(analysis, relations)
        loop.ending = CAME_TO_AN_ANSWER if path.text else NO_ANSWER
        return self._choose_answer(loop, path)

    def _step(self, analysis: "_Analysis") -> Step:
        ranking = self.retriever.retrieve(analysis.question, self.retrieved)
        analysis.passages = self._format_passages(ranking.ids)
        facts: tuple[Triple, ...] = ()
        if ranking:
            analysis.entities = ", ".join(self._entities(analysis)) or "(none)"
            stated = self._extract_stated(analysis)
            facts = (*stated, *self._filter_plausible(analysis, stated, self._infer_relations(analysis, stated)))
        thought = f"Entities: {analysis.entities}"
        return Step(
            number=1,
            query=analysis.question,
            ranking=ranking,
            so_far=ranking,
            facts=tuple(Evidence(triple=fact) for fact in facts),
            thought=thought,
        )

    def _entities(self, analysis: "_Analysis") -> list[str]:
        """Stage 1."""
        prompt = load("era_cot/entities").fill(passages=analysis.passages, question=analysis.question)
        lists = [
            [(entity.name.strip(), entity.type.strip()) for entity in reply.entities if entity.name.strip()]
            for reply in self._sample_replies(prompt, _Entities)
        ]
        kept = _select_majority(lists, lambda entity: entity_key(entity[0]))
        return [f"{name} ({kind})" if kind else name for name, kind in kept]

    def _extract_stated(self, analysis: "_Analysis") -> list[Triple]:
        """Stage 2."""
        prompt = load("era_cot/explicit_relations").fill(
            passages=analysis.passages, question=analysis.question, entities=analysis.entities
        )
        lists = [_triples(reply) for reply in self._sample_replies(prompt, _Relations)]
        return _select_majority(lists, _relation_key)

    def _infer_relations(self, analysis: "_Analysis", stated: Sequence[Triple]) -> list[Triple]:
        """Stage 3: relations that are new, and no more of them for a pair than were asked for."""
        prompt = load("era_cot/implicit_relations").fill(
            passages=analysis.passages,
            question=analysis.question,
            entities=analysis.entities,
            stated=format_facts(stated),
            limit=str(self.inferred),
        )
        reply = request_reply(self.model, prompt, _Relations)
        known, pairs = set(map(_relation_key, stated)), Counter[frozenset[str]]()
        new = []
        for relation in _triples(reply) if reply else ():
            pair = frozenset((entity_key(relation.subject), entity_key(relation.object)))
            if _relation_key(relation) not in known and pairs[pair] < self.inferred:
                new.append(relation)
                pairs[pair] += 1
                known.add(_relation_key(relation))
        return new

    def _filter_plausible(
        self, analysis: "_Analysis", stated: Sequence[Triple], inferred: Sequence[Triple]
    ) -> list[Triple]:
        """Stage 4."""
        if not inferred:
            return []
        prompt = load("era_cot/discriminate").fill(
            passages=analysis.passages, stated=format_facts(stated), inferred=format_facts(inferred)
        )
        reply = request_reply(self.model, prompt, _Scores)
        scores = {given.number: given.score for given in reply.scores} if reply else {}
        unscored = [number for number in range(1, len(inferred) + 1) if number not in scores]
        if reply and unscored:
            note_warning(f"{len(unscored)} of {len(inferred)} inferred relations have no score and are ignored")
        return [relation for number, relation in enumerate(inferred, 1) if scores.get(number, 0) >= self.threshold]

    def _answer_question(self, analysis: "_Analysis", relations: Sequence[Triple]) -> ReadAnswer:
        """Stage 5."""
        prompt = load("era_cot/answer").fill(
            exemplars=format_exemplars(self.exemplars, with_passages=True),
            passages=analysis.passages,
            entities=analysis.entities,
            relations=format_facts(relations),
            question=analysis.question,
        )
        reply = request_reply(self.model, prompt, PathReply)
        return reply.path() if reply else ReadAnswer()

    def _sample_replies(self, prompt: Prompt, reply_type: type[ReplyType]) -> list[ReplyType]:
        temperature = self.temperature if self.samples > 1 else 0.0
        return request_samples(
            self.model, prompt, reply_type, count=self.samples, temperature=temperature, seed=self.seed
        )


@dataclass(slots=True)
class _Analysis:
    """What the stages hand on."""

    question: str
    passages: str = ""
    entities: str = "(none)"


def _triples(reply: _Relations) -> Sequence[Triple]:
    return filter_triples(reply.relations, "relation")


def _relation_key(relation: Triple) -> tuple[str, ...]:
    return tuple(map(entity_key, relation))


def _select_majority(lists: Sequence[Sequence[_Item]], key: Callable[[_Item], object]) -> list[_Item]:
    """Select the items that more than half of the lists name, each as it was named first and in that order."""
    firsts: dict[object, _Item] = {}
    counted: Counter[object] = Counter()
    for named in lists:
        once = {key(item): None for item in named}
        counted.update(once.keys())
        for item in named:
            firsts.setdefault(key(item), item)
    return [item for name, item in firsts.items() if 2 * counted[name] > len(lists)]
