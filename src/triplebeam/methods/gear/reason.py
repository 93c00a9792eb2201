"""GeAR, Eq. 6 and 7: does the gist answer the question, and if not, what is to be asked next?

Followed to the letter: `reason` sees the gist and the original question and gives answerability with a reason;
`rewrite` sees the gist, the original question and that reason. Ours: the prompts' words; the facts an answer rests on
are asked for by number; both see what was searched for before; `reason` gives the next query as well, which saves the
call of `rewrite`, and others to be searched for beside it; it names the everyday knowledge that it bridges a gap with,
and the answers that fit as well. With ``published`` the prompts ask for no more than appendix J.2 does: answerability
with the answer or the reason, and then the next question. A reply that cannot be used is noted, never guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, BeforeValidator

from triplebeam.generate.language_model import LanguageModel, Prompt
from triplebeam.generate.parse import Numbers, Text, Texts, TripleRows
from triplebeam.generate.prompts import Template, load, numbered_facts
from triplebeam.methods.shared.facts import Fact, facts_from_memory
from triplebeam.methods.shared.usable_replies import usable_reply, usable_text


def _searches(value: object) -> list[str]:
    """A text is one search; what cannot be searched for is none."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str)]


class _Verdict(BaseModel):
    missing: Text
    answerable: bool
    used: Numbers
    answer: Text
    # What a model may leave out is not worth a correction.
    from_memory: TripleRows = []
    others: Texts = []
    query: Text = ""
    also: Annotated[list[str], BeforeValidator(_searches)] = []


class _PublishedVerdict(BaseModel):
    answerable: bool
    answer: Text
    why: Text


class _Query(BaseModel):
    query: Text


@dataclass(frozen=True, slots=True)
class Verdict:
    """a and r of Eq. 6, the answer where there is one, the facts it rests on, and what to search for where not."""

    answerable: bool
    missing: str = ""
    answer: str = ""
    used: tuple[Fact, ...] = ()
    others: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    """What to search for next: the query, and other searches to be made beside it."""


@dataclass(frozen=True, kw_only=True)
class Reasoner:
    """The model that decides."""

    model: LanguageModel
    published: bool = False
    """The paper's prompts, which name no facts, see no earlier searches, and leave the next query to `rewrite`."""

    def reason(self, gist: Sequence[Fact], question: str, searched: Sequence[str]) -> Verdict:
        """Eq. 6. An answer without words is no answer; fact numbers that do not exist are passed over."""
        if self.published:
            return self._reason_as_published(gist, question)
        prompt = _fill(load("gear/reason"), gist, question=question, searched=_searches_shown(searched))
        reply = usable_reply(self.model, prompt, _Verdict)
        if reply is None:
            return Verdict(answerable=False)
        used = [gist[number - 1] for number in dict.fromkeys(reply.used) if 1 <= number <= len(gist)]
        answer = reply.answer.strip()
        return Verdict(
            answerable=reply.answerable and bool(answer),
            missing=reply.missing.strip(),
            answer=answer,
            used=(*used, *facts_from_memory(reply.from_memory)),
            others=tuple(filter(None, map(str.strip, reply.others))),
            queries=tuple(filter(None, map(str.strip, (reply.query, *reply.also)))),
        )

    def _reason_as_published(self, gist: Sequence[Fact], question: str) -> Verdict:
        reply = usable_reply(self.model, _fill(load("published/reason"), gist, question=question), _PublishedVerdict)
        if reply is None:
            return Verdict(answerable=False)
        answer = reply.answer.strip()
        return Verdict(answerable=reply.answerable and bool(answer), missing=reply.why.strip(), answer=answer)

    def rewrite(self, gist: Sequence[Fact], question: str, missing: str, searched: Sequence[str]) -> str:
        """Eq. 7: the next query; empty where the model gave none."""
        shown = {"question": question, "missing": missing or "(not said)"}
        if self.published:
            return usable_text(self.model, _fill(load("published/rewrite"), gist, **shown), _Query)
        prompt = _fill(load("gear/rewrite"), gist, **shown, searched=_searches_shown(searched))
        return usable_text(self.model, prompt, _Query)


def _fill(template: Template, gist: Sequence[Fact], **shown: str) -> Prompt:
    return template.fill(facts=numbered_facts([fact.triple for fact in gist]), **shown)


def _searches_shown(searched: Sequence[str]) -> str:
    return "\n".join(f"- {query}" for query in searched)
