"""One call for GeAR's Eq. 6 and 7: do the facts answer the question, and if not, what is to be searched for next?

Beyond the paper's, the verdict names by number the facts that the answer rests on, the everyday knowledge that it
bridges a gap with, and the answers that fit as well; the model sees what was searched for before, and gives several
queries. A reply that cannot be used is noted, never guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, BeforeValidator

from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Numbers, Text, Texts, TripleRows
from triplebeam.generate.prompts import format_facts, load
from triplebeam.methods.shared.facts import Fact, facts_from_memory
from triplebeam.methods.shared.replies import request_reply


def _searches(value: object) -> list[str]:
    """List searches: a text is one; what cannot be searched for is none."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str)]


class _Reply(BaseModel):
    missing: Text
    answerable: bool
    used: Numbers
    answer: Text
    # What a model may leave out is not worth a correction.
    sentence: Text = ""
    from_memory: TripleRows = []
    others: Texts = []
    more: bool = False
    premise: Text = ""
    contradicting: Numbers = []
    query: Text = ""
    also: Annotated[list[str], BeforeValidator(_searches)] = []


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer where there is one, the facts it rests on, and what is missing and to be searched for where not."""

    missing: str = ""
    answer: str = ""
    sentence: str = ""
    """The answer in a sentence that says how the facts lead to it."""
    used: tuple[Fact, ...] = ()
    others: tuple[str, ...] = ()
    more: bool = False
    """The answer is a list, and the documents may name further items."""
    premise: str = ""
    """What the facts say instead of what the question takes for granted."""
    contradicting: tuple[Fact, ...] = ()
    """Facts that contradict the used ones."""
    queries: tuple[str, ...] = ()
    """What to search for next: the query, and other searches to be made beside it."""


@dataclass(frozen=True, kw_only=True)
class Reasoner:
    """The model that decides."""

    model: LanguageModel

    def reason(self, facts: Sequence[Fact], question: str, searched: Sequence[str]) -> Verdict:
        """One call. An answer without words is no answer; fact numbers that do not exist are passed over."""
        prompt = load("gear/reason").fill(
            facts=format_facts([fact.text for fact in facts]),
            question=question,
            searched="\n".join(f"- {query}" for query in searched),
        )
        reply = request_reply(self.model, prompt, _Reply)
        if reply is None:
            return Verdict()
        used, contradicting = (
            [facts[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(facts)]
            for numbers in (reply.used, reply.contradicting)
        )
        answer = reply.answer.strip() if reply.answerable else ""
        return Verdict(
            missing=reply.missing.strip(),
            answer=answer,
            sentence=reply.sentence.strip() if answer else "",
            used=(*used, *facts_from_memory(reply.from_memory)),
            others=tuple(filter(None, map(str.strip, reply.others))),
            more=reply.more,
            premise=reply.premise.strip() if used and not answer else "",
            contradicting=tuple(fact for fact in contradicting if fact not in used),
            queries=tuple(filter(None, map(str.strip, (reply.query, *reply.also)))),
        )
