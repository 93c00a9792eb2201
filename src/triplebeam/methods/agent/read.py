"""Facts as quotations: the words of a passage, which are the evidence, with additions in brackets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel

from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import format_described_passages, format_facts, load
from triplebeam.methods.shared.facts import (
    CitedFacts,
    Fact,
    RestatedFacts,
    make_cited_facts,
    passages_of_facts,
    restate_fact,
)
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


class _QuotedAgain(BaseModel):
    facts: RestatedFacts


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

    def quote_again(self, facts: Sequence[Fact]) -> Mapping[Fact, Fact]:
        """Ask once for better quotations; map each fact that gets one to the fact as quoted."""
        ids = passages_of_facts(facts)
        passages = [self.passages[passage_id] for passage_id in ids]
        numbers = {id_: number for number, id_ in enumerate(ids, start=1)}
        places = (f"passage {numbers[fact.passage_id]}{fact.fault and f': {fact.fault}'}" for fact in facts)
        lines = [f"{fact.statement or fact.triple} ({place})" for fact, place in zip(facts, places, strict=True)]
        prompt = load("gear/quote_again").fill(passages=format_described_passages(passages), facts=format_facts(lines))
        reply = request_reply(self.model, prompt, _QuotedAgain)
        rows = [(fact, row) for row in reply.facts for fact in facts[row.number - 1 : row.number]] if reply else []
        found = ((fact, restate_fact(fact, row, passages)) for fact, row in rows)
        return {fact: same for fact, same in found if same}
