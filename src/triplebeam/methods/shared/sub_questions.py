"""Sub-questions and their answers, for agents that take a question apart: RGNN-Ret and Self-Ask.

Their papers keep no ranking over all steps; ours is the reciprocal rank fusion of all steps' lists and of the passages
that each sub-answer was read in, as a separate list. A hop's passage is often second or third for its one sub-question;
without its source it falls behind what is somewhere in every list. Before the fusion come, unless it is switched off,
the passages of the facts that the sub-answers rest on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from pydantic import BaseModel

from triplebeam.answer import Step
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import Template, load, numbered_passages
from triplebeam.methods.shared.facts import CitedFacts, Fact, First, cited_facts, sources_of
from triplebeam.methods.shared.loop import Loop
from triplebeam.methods.shared.usable_replies import usable_reply, usable_text
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.fuse import reciprocal_rank_fusion
from triplebeam.triple import entity_key


class Exchange(NamedTuple):
    """A sub-question, the sentence that answers it, and the facts that say so; nothing where none does."""

    question: str
    answer: str = ""
    facts: tuple[Fact, ...] = ()


def numbered_exchanges(exchanges: Sequence[Exchange]) -> str:
    """Each sub-question under its number, with its answer below, as prompts show them."""
    return (
        "\n".join(
            f"{number}. {exchange.question}\n   {exchange.answer or '(not found in the passages)'}"
            for number, exchange in enumerate(exchanges, 1)
        )
        or "(none)"
    )


@dataclass
class SubQuestionLoop(Loop):
    """A question that is taken apart, with what has been asked and answered so far."""

    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def used(self) -> list[Fact]:
        """What all sub-answers rest on, in their order."""
        return [fact for exchange in self.exchanges for fact in exchange.facts]

    def asked_before(self, query: str) -> bool:
        """Has this been a sub-question already, but for case, punctuation and spaces?"""
        return entity_key(query) in (entity_key(exchange.question) for exchange in self.exchanges)

    def fused(self) -> Ranking:
        """All steps' lists and the sources of all sub-answers as one ranking."""
        return reciprocal_rank_fusion([*self.rankings, *(sources_of(exchange.facts) for exchange in self.exchanges)])

    def asked(self, exchange: Exchange, ranking: Ranking, first: First) -> Step:
        """The step that asked a sub-question, and what was found for it."""
        return Step(
            number=self.number,
            query=exchange.question,
            ranking=ranking,
            so_far=self.ranked(first),
            facts=tuple(fact.evidence() for fact in exchange.facts),
            thought=exchange.answer,
        )


class _Reply(BaseModel):
    found: bool
    answer: Text
    facts: CitedFacts


class _PublishedReply(BaseModel):
    answer: Text


@dataclass(frozen=True, kw_only=True)
class SubAnswerer:
    """Answers a sub-question from passages, in a sentence that makes sense without them."""

    model: LanguageModel
    passages: Passages = field(repr=False)
    template: Template = field(default_factory=partial(load, "sub_answer"), repr=False)
    quotations: bool = True
    """The answer comes with the facts that it rests on, quoted, or says that it was not found; the papers' do not."""

    @classmethod
    def as_published(cls, model: LanguageModel, passages: Passages) -> "SubAnswerer":
        """With the content of GNN-Ret's prompt (appendix I.6): the passages are considered, and there is an answer."""
        return cls(model=model, passages=passages, template=load("published/sub_answer"), quotations=False)

    def answer(self, sub_question: str, passage_ids: Sequence[str]) -> Exchange:
        """One call; no answer where the passages do not say it or the reply cannot be used."""
        passages = [self.passages[passage_id] for passage_id in passage_ids]
        prompt = self.template.fill(passages=numbered_passages(passages), question=sub_question)
        if not self.quotations:
            return Exchange(sub_question, usable_text(self.model, prompt, _PublishedReply))
        reply = usable_reply(self.model, prompt, _Reply)
        if reply is None or not reply.found or not reply.answer.strip():
            return Exchange(sub_question)
        return Exchange(sub_question, reply.answer.strip(), cited_facts(reply.facts, passages))
