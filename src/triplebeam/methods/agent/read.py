"""Facts with their sources: each comes with its passage and a quotation from it, which is the evidence."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel

from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import format_described_passages, format_facts, load
from triplebeam.methods.shared.facts import CitedFacts, Fact, make_cited_facts
from triplebeam.methods.shared.replies import request_reply
from triplebeam.passage import Passages


class Reader(Protocol):
    """What a model finds in passages for a question. It looks up the passages' texts itself."""

    def read(
        self, question: str, passage_ids: Sequence[str], known: Sequence[Fact] = (), searched: str = ""
    ) -> Sequence[Fact]:
        """Facts that are not ``known``; ``searched`` is the query that found the passages, if not the question."""
        ...


class _Reply(BaseModel):
    facts: CitedFacts


@dataclass(frozen=True, kw_only=True)
class QuotingReader:
    """A language model that reads and quotes."""

    model: LanguageModel
    passages: Passages = field(repr=False)

    def read(
        self, question: str, passage_ids: Sequence[str], known: Sequence[Fact] = (), searched: str = ""
    ) -> Sequence[Fact]:
        """One call; no facts where the reply cannot be used even after a correction."""
        if not passage_ids:
            return ()
        passages = [self.passages[passage_id] for passage_id in passage_ids]
        prompt = load("gear/read_and_quote").fill(
            passages=format_described_passages(passages),
            known=format_facts([fact.text for fact in known]),
            question=question,
            searched=searched or question,
        )
        reply = request_reply(self.model, prompt, _Reply)
        return make_cited_facts(reply.facts, passages) if reply else ()
