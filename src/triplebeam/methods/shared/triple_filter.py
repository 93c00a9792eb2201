"""HippoRAG 2's recognition memory: of the triples that a search found for a query, those that help with it.

The paper tunes its prompt by examples and lets the model write the triples out again; ours asks for their numbers, so
that nothing has to be matched against what was found. A reply that cannot be used leaves the triples as they are, and
is noted on the open account: without its filter the method still works.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from pydantic import BaseModel

from triplebeam.generate.accounting import note_warning
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Numbers
from triplebeam.generate.prompts import Template, format_facts, load
from triplebeam.methods.shared.usable_replies import request_reply
from triplebeam.triple import Triple


class TripleFilter(Protocol):
    """Decides which triples help with a query."""

    def keep(self, query: str, triples: Sequence[Triple]) -> Sequence[int]:
        """Return the positions of those that help, each once; none where none does."""
        ...


class _Reply(BaseModel):
    helpful: Numbers


@dataclass(frozen=True, kw_only=True)
class LLMTripleFilter:
    """A language model that filters."""

    model: LanguageModel
    template: Template = field(default_factory=partial(load, "hipporag/filter_triples"), repr=False)

    def keep(self, query: str, triples: Sequence[Triple]) -> Sequence[int]:
        """Call the model once; numbers that no triple has are skipped."""
        prompt = self.template.fill(facts=format_facts(triples), question=query)
        reply = request_reply(self.model, prompt, _Reply)
        if reply is None:
            return range(len(triples))
        for number in reply.helpful:
            if not 1 <= number <= len(triples):
                note_warning(f"the number {number} is not that of a fact: ignored")
        return [number - 1 for number in dict.fromkeys(reply.helpful) if 1 <= number <= len(triples)]
