"""GeAR, Eq. 1 and 4 to 7: what a model reads in passages, the gist memory of it, and what it reasons from the gist.

Followed to the letter: a reader turns retrieved passages into proximal triples, facts that help with the question. It
sees the passages and the query (Eq. 1) and, from the second step on, the gist of the earlier steps (Eq. 4). The gist
memory is all of them, one step after the other (Eq. 5). `reason` sees the gist and the original question and gives
answerability, with the answer or the reason (Eq. 6); `rewrite` sees the gist, the original question and that reason
(Eq. 7). The prompts ask for no more than appendix J.2 does. Ours: their words and example, the reply as JSON; a reply
that cannot be used even after a correction counts as no facts and no verdict and is noted on the open account.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from pydantic import BaseModel

from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Text, TripleRow
from triplebeam.generate.prompts import format_facts, format_passages, load
from triplebeam.methods.shared.facts import Fact
from triplebeam.methods.shared.replies import filter_triples, request_reply, request_text
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


class _Verdict(BaseModel):
    answerable: bool
    answer: Text
    why: Text


class Verdict(NamedTuple):
    """a and r of Eq. 6, and the answer where there is one."""

    answerable: bool
    reason: str = ""
    answer: str = ""


@dataclass(frozen=True, kw_only=True)
class Reasoner:
    """The model that decides."""

    model: LanguageModel

    def reason(self, gist: Sequence[Fact], question: str) -> Verdict:
        """Eq. 6. An answer without words is no answer."""
        prompt = load("published/reason").fill(facts=_number(gist), question=question)
        reply = request_reply(self.model, prompt, _Verdict)
        if reply is None:
            return Verdict(answerable=False)
        answer = reply.answer.strip()
        return Verdict(reply.answerable and bool(answer), reply.why.strip(), answer)

    def rewrite(self, gist: Sequence[Fact], question: str, reason: str) -> str:
        """Eq. 7: the next query; empty where the model gave none."""
        prompt = load("published/rewrite").fill(facts=_number(gist), question=question, missing=reason or "(not said)")
        return request_text(self.model, prompt, "query")


def _number(gist: Sequence[Fact]) -> str:
    return format_facts([fact.triple for fact in gist])
