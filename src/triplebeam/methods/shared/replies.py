"""Replies an agent can go on with: those that cannot be used are noted on the open account and left out.

Of a reply that was cut off, what came before is used if it is all that is needed: a small model that repeats itself
writes on until its limit, and the facts that it wrote first are as good as any. (An extraction that was cut off fails:
it is retried, and a reading is not.)

`LLMTripleFilter` is HippoRAG 2's recognition memory, and GE-Reasoning filters alike: of the triples that a search found
for a query, those that help with it. The paper tunes its prompt by examples and lets the model write the triples out
again; ours asks for their numbers, so that nothing has to be matched against what was found. A reply that cannot be
used leaves the triples as they are: without its filter the method still works.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from pydantic import BaseModel, create_model

from triplebeam.extract.extractor import sort_out
from triplebeam.generate.accounting import note_last_reply, note_problem, note_warning
from triplebeam.generate.ask import Failed, Parsed, ask_many
from triplebeam.generate.language_model import LanguageModel, Prompt
from triplebeam.generate.parse import Numbers, ReplyType, Text
from triplebeam.generate.prompts import Template, format_facts, load
from triplebeam.triple import Triple


def request_reply(model: LanguageModel, prompt: Prompt, reply_type: type[ReplyType]) -> ReplyType | None:
    """Call the model once; None where the reply cannot be used even after a correction. Endpoint errors are raised."""
    [reply] = request_replies(model, [prompt], reply_type)
    return reply.value if reply else None


def request_text(model: LanguageModel, prompt: Prompt, field: str) -> str:
    """Return the text of a reply that has this field alone; no words where the reply cannot be used."""
    reply = request_reply(model, prompt, _make_reply_type(field))
    return str(getattr(reply, field)).strip() if reply else ""


@cache
def _make_reply_type(field: str) -> type[BaseModel]:
    return create_model("Reply", **{field: (Text, ...)})  # type: ignore[call-overload, no-any-return]


def request_samples(
    model: LanguageModel,
    prompt: Prompt,
    reply_type: type[ReplyType],
    *,
    count: int,
    temperature: float,
    seed: int | None,
) -> list[ReplyType]:
    """Return several samples of one prompt, in order, in one batch."""
    samples = [replace(prompt, temperature=temperature, seed=seed, sample=number) for number in range(count)]
    return [reply.value for reply in request_replies(model, samples, reply_type) if reply]


def request_replies(
    model: LanguageModel, prompts: Sequence[Prompt], reply_type: type[ReplyType]
) -> list[Parsed[ReplyType] | None]:
    """Return one reply per prompt; None where it cannot be used. Endpoint errors are raised."""
    replies: list[Parsed[ReplyType] | None] = []
    failure = ""
    for reply in ask_many(model, prompts, reply_type, accept_cut_off=True):
        if isinstance(reply, Failed):
            if reply.endpoint_gone:
                raise reply.error
            failure = failure or str(reply.error)
            note_problem(reply.error)
        elif reply.cut_off:
            note_problem(reply.cut_off)
        replies.append(None if isinstance(reply, Failed) else reply)
    note_last_reply("" if any(replies) else failure)
    return replies


def filter_triples(rows: Sequence[Sequence[str]], called: str = "fact") -> Sequence[Triple]:
    """Return the triples of a reply; what is no triple is noted under the name that the prompt has for it."""
    sorted_out = sort_out("", rows)
    for parts in sorted_out.rejected:
        note_warning(f"a {called} that is not a triple was ignored: {list(parts)}")
    return sorted_out.triples


class _Helpful(BaseModel):
    helpful: Numbers


@dataclass(frozen=True, kw_only=True)
class LLMTripleFilter:
    """A language model that filters."""

    model: LanguageModel
    template: Template = field(default_factory=partial(load, "hipporag/filter_triples"), repr=False)

    def keep(self, query: str, triples: Sequence[Triple]) -> Sequence[int]:
        """Call the model once; numbers that no triple has are skipped."""
        prompt = self.template.fill(facts=format_facts(triples), question=query)
        reply = request_reply(self.model, prompt, _Helpful)
        if reply is None:
            return range(len(triples))
        for number in reply.helpful:
            if not 1 <= number <= len(triples):
                note_warning(f"the number {number} is not that of a fact: ignored")
        return [number - 1 for number in dict.fromkeys(reply.helpful) if 1 <= number <= len(triples)]
