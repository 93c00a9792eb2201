"""GeAR, Eq. 6 and 7: does the gist answer the question, and if not, what is to be asked next?

Followed to the letter: `reason` sees the gist and the original question and gives answerability, with the answer or the
reason; `rewrite` sees the gist, the original question and that reason. The prompts ask for no more than appendix J.2
does. Ours: their words, the reply as JSON; a reply that cannot be used is noted, never guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import BaseModel

from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import format_facts, load
from triplebeam.methods.shared.facts import Fact
from triplebeam.methods.shared.replies import request_reply, request_text


class _Verdict(BaseModel):
    answerable: bool
    answer: Text
    why: Text


class _Query(BaseModel):
    query: Text


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
        return request_text(self.model, prompt, _Query)


def _number(gist: Sequence[Fact]) -> str:
    return format_facts([fact.triple for fact in gist])
