"""Questions to a model whose replies are data: asked, read, corrected once, and failed by name if that is no help."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeAlias

from triplebeam.errors import EndpointError
from triplebeam.generate.language_model import (
    Completion,
    Correction,
    LanguageModel,
    Prompt,
    PromptFailedError,
    TokenLogProbability,
    Usage,
)
from triplebeam.generate.outcomes import Outcome, outcomes_of
from triplebeam.generate.parse import ReplyType, UnusableReplyError, parse
from triplebeam.generate.schema import strict_schema

_CHARACTERS_SHOWN = 6000


@dataclass(frozen=True, slots=True)
class Parsed(Generic[ReplyType]):
    """A reply that could be read, after a correction perhaps."""

    value: ReplyType
    usage: Usage
    log_probabilities: tuple[TokenLogProbability, ...] | None = None
    """Those of the reply that was read, where the prompt asked for them and the endpoint gives them."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Why there is no reply. A PromptFailedError is this prompt's own; any other means that the endpoint is gone."""

    error: EndpointError
    usage: Usage

    @property
    def endpoint_gone(self) -> bool:
        """Whether it is no use to ask anything else."""
        return not isinstance(self.error, PromptFailedError)


Reply: TypeAlias = Parsed[ReplyType] | Failed


def ask(model: LanguageModel, prompt: Prompt, reply_type: type[ReplyType]) -> tuple[ReplyType, Usage]:
    """The model's reply as a ``reply_type``, and what it cost; raises EndpointError with the reason if it has none."""
    [reply] = ask_many(model, [prompt], reply_type)
    if isinstance(reply, Failed):
        raise reply.error
    return reply.value, reply.usage


def ask_many(
    model: LanguageModel, prompts: Sequence[Prompt], reply_type: type[ReplyType]
) -> list[Parsed[ReplyType] | Failed]:
    """One reply or failure a prompt, in order: a bad reply does not sink the others.

    Replies that cannot be read are shown to the model once more, all in a second batch, with what is wrong with them.
    """
    schema = strict_schema(reply_type)
    asked = [replace(prompt, schema=schema) for prompt in prompts]
    replies = [_read(outcome, reply_type) for outcome in outcomes_of(model, asked)]
    corrections = {
        number: replace(asked[number], correction=_correction(reply.error, schema))
        for number, reply in enumerate(replies)
        if isinstance(reply, Failed) and isinstance(reply.error, UnusableReplyError) and reply.error.repairable
    }
    gone = next((reply.error for reply in replies if isinstance(reply, Failed) and reply.endpoint_gone), None)
    # With the endpoint gone, what should be corrected is to be asked again with the rest.
    second = [gone] * len(corrections) if gone else outcomes_of(model, list(corrections.values()))
    for number, outcome in zip(corrections, second, strict=True):
        replies[number] = _after(replies[number], _read(outcome, reply_type))
    return replies


def _read(outcome: Outcome, reply_type: type[ReplyType]) -> Parsed[ReplyType] | Failed:
    if not isinstance(outcome, Completion):
        return Failed(outcome, Usage())
    try:
        return Parsed(parse(outcome, reply_type), outcome.usage, outcome.log_probabilities)
    except UnusableReplyError as error:
        return Failed(error, outcome.usage)


def _after(first: Parsed[ReplyType] | Failed, second: Parsed[ReplyType] | Failed) -> Parsed[ReplyType] | Failed:
    """The second reply, with what both cost."""
    return replace(second, usage=first.usage + second.usage)


def _correction(error: UnusableReplyError, schema: dict[str, object]) -> Correction:
    shown = error.reply.strip()[:_CHARACTERS_SHOWN]
    return Correction(
        reply=shown or "(nothing)",  # some endpoints take no empty message
        request=f"I cannot use this reply: it {error.problem}. Reply again, in full, with one JSON object and nothing "
        f"else: no remarks, no code fence. It must follow this JSON schema:\n{json.dumps(schema, ensure_ascii=False)}",
    )
