"""GeAR, Eq. 1, 4 and 5: a reader turns retrieved passages into proximal triples, facts that help with the question,
and the gist memory is all of them, one step after the other.

Followed to the letter: the reader sees the passages and the query (Eq. 1) and, from the second step on, the gist of the
earlier steps (Eq. 4). Ours: the prompt's words and example, the reply as JSON, and a reply that cannot be used even
after a correction counts as no facts and is noted on the open account.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import BaseModel

from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import TripleRow
from triplebeam.generate.prompts import format_facts, format_passages, load
from triplebeam.methods.shared.facts import Fact
from triplebeam.methods.shared.replies import filter_triples, request_reply
from triplebeam.passage import Passages


class Reader(Protocol):
    """read(C, q, G): what a model finds in the passages for this question. It looks up the passages' texts itself."""

    def read(self, question: str, passage_ids: Sequence[str], gist: Sequence[Fact] = ()) -> Sequence[Fact]:
        """Read the proximal triples, most helpful first; none where the passages do not help."""
        ...


class _Facts(BaseModel):
    facts: list[TripleRow]


@dataclass(frozen=True, kw_only=True)
class LLMReader:
    """A language model that reads."""

    model: LanguageModel
    passages: Passages = field(repr=False)

    def read(self, question: str, passage_ids: Sequence[str], gist: Sequence[Fact] = ()) -> Sequence[Fact]:
        """Eq. 1, and with a gist Eq. 4."""
        if not passage_ids:
            return ()
        prompt = load("gear/read").fill(
            passages=format_passages([self.passages[passage_id] for passage_id in passage_ids]),
            known=format_facts([fact.triple for fact in gist]),
            question=question,
        )
        reply = request_reply(self.model, prompt, _Facts)
        return tuple(map(Fact, filter_triples(reply.facts))) if reply else ()
