"""GeAR, Eq. 6 and 7: does the gist answer the question, and if not, what is to be asked next?

Followed to the letter: `reason` sees the gist and the original question and gives answerability with a reason;
`rewrite` sees the gist, the original question and that reason. Ours: the prompts' words, the facts an answer rests on
are asked for by number, `rewrite` also sees what was searched for before, and a reply that cannot be used is noted,
never guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel

from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Numbers, Text
from triplebeam.generate.prompts import Template, load, numbered_facts
from triplebeam.methods.shared.usable_replies import usable_reply, usable_text
from triplebeam.triple import Triple


class _Verdict(BaseModel):
    missing: Text
    answerable: bool
    used: Numbers
    answer: Text


class _Query(BaseModel):
    query: Text


@dataclass(frozen=True, slots=True)
class Verdict:
    """a and r of Eq. 6, the answer where there is one, and the facts it rests on."""

    answerable: bool
    missing: str = ""
    answer: str = ""
    used: tuple[Triple, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Reasoner:
    """The model that decides."""

    model: LanguageModel
    reason_template: Template = field(default_factory=partial(load, "gear/reason"), repr=False)
    rewrite_template: Template = field(default_factory=partial(load, "gear/rewrite"), repr=False)

    def reason(self, gist: Sequence[Triple], question: str) -> Verdict:
        """Eq. 6. An answer without words is no answer; fact numbers that do not exist are passed over."""
        prompt = self.reason_template.fill(question=question, facts=numbered_facts(gist))
        reply = usable_reply(self.model, prompt, _Verdict)
        if reply is None:
            return Verdict(answerable=False)
        used = tuple(gist[number - 1] for number in dict.fromkeys(reply.used) if 1 <= number <= len(gist))
        answer = reply.answer.strip()
        return Verdict(reply.answerable and bool(answer), reply.missing.strip(), answer, used)

    def rewrite(self, gist: Sequence[Triple], question: str, missing: str, searched: Sequence[str]) -> str:
        """Eq. 7: the next query; empty where the model gave none."""
        prompt = self.rewrite_template.fill(
            question=question,
            facts=numbered_facts(gist),
            missing=missing or "(not said)",
            searched="\n".join(f"- {query}" for query in searched),
        )
        return usable_text(self.model, prompt, _Query)
