"""Questions to a model whose replies are data: asked, parsed, corrected once, and failed with a reason otherwise."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeAlias

from pydantic import BaseModel

from triplebeam.errors import EndpointError
from triplebeam.generate.language_model import (
    Completion,
    Correction,
    LanguageModel,
    Outcome,
    Prompt,
    PromptFailedError,
    TokenLogProbability,
    drop_replies,
    outcomes_of,
)
from triplebeam.generate.parse import ReplyType, UnusableReplyError, parse

_MAX_CHARACTERS_SHOWN = 6000
_KEYS_OF_NAMES = ("properties", "$defs")


@dataclass(frozen=True, slots=True)
class Parsed(Generic[ReplyType]):
    """A reply that could be parsed, after a correction perhaps."""

    value: ReplyType
    log_probabilities: tuple[TokenLogProbability, ...] | None = None
    """Those of the reply that was parsed, where the prompt asked for them and the endpoint returns them."""
    cut_off: UnusableReplyError | None = None
    """Set where the reply was cut off, and ``value`` is what came before."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Why there is no reply. A PromptFailedError concerns this prompt; any other means that the endpoint is gone."""

    error: EndpointError

    @property
    def endpoint_gone(self) -> bool:
        """Whether it is pointless to ask anything else."""
        return not isinstance(self.error, PromptFailedError)


Reply: TypeAlias = Parsed[ReplyType] | Failed


def ask(model: LanguageModel, prompt: Prompt, reply_type: type[ReplyType]) -> ReplyType:
    """Return the model's reply as a ``reply_type``; raises EndpointError with the reason if there is none."""
    [reply] = ask_many(model, [prompt], reply_type)
    if isinstance(reply, Failed):
        raise reply.error
    return reply.value


def ask_many(
    model: LanguageModel, prompts: Sequence[Prompt], reply_type: type[ReplyType], *, accept_cut_off: bool = False
) -> list[Reply[ReplyType]]:
    """Return one reply or failure per prompt, in order: a bad reply does not affect the others.

    Replies that cannot be parsed are shown to the model once more, all in a second batch, with what is wrong with them.
    Those that cannot be used in the end are dropped from the cache, so that asking again asks the model. With
    ``accept_cut_off`` a reply that was cut off counts where the part before the cut can be parsed.
    """
    schema = make_strict_schema(reply_type)
    asked = [replace(prompt, schema=schema) for prompt in prompts]
    outcomes = outcomes_of(model, asked)
    replies = [_parse_outcome(outcome, reply_type) for outcome in outcomes]
    corrections = {
        number: replace(asked[number], correction=_correction(reply.error, schema))
        for number, reply in enumerate(replies)
        if isinstance(reply, Failed) and isinstance(reply.error, UnusableReplyError) and reply.error.repairable
    }
    gone = next((reply.error for reply in replies if isinstance(reply, Failed) and reply.endpoint_gone), None)
    # With the endpoint gone, what needs a correction has to be asked again with the rest.
    second = [gone] * len(corrections) if gone else outcomes_of(model, list(corrections.values()))
    for number, outcome in zip(corrections, second, strict=True):
        replies[number] = _parse_outcome(outcome, reply_type)
    if accept_cut_off:
        replies = [_parse_truncated(reply, reply_type) for reply in replies]
    for sent, received in ((dict(enumerate(asked)), outcomes), (corrections, second)):
        drop_replies(model, _find_unusable(sent, received, replies))
    return replies


def _find_unusable(
    sent: Mapping[int, Prompt], received: Sequence[Outcome], replies: Sequence[Reply[ReplyType]]
) -> Iterator[Prompt]:
    """Find the prompts whose completions cannot be used. One that was not sent may have a good reply in the cache."""
    for (number, prompt), outcome in zip(sent.items(), received, strict=True):
        if isinstance(outcome, Completion) and isinstance(replies[number], Failed):
            yield prompt


def _parse_truncated(reply: Reply[ReplyType], reply_type: type[ReplyType]) -> Reply[ReplyType]:
    """Parse a truncated reply; its last item, which was not finished, is left out."""
    error = reply.error if isinstance(reply, Failed) else None
    if not isinstance(error, UnusableReplyError) or error.repairable:
        return reply
    try:
        return Parsed(parse(Completion(text=error.reply), reply_type), cut_off=error)
    except UnusableReplyError:
        return reply


def _parse_outcome(outcome: Outcome, reply_type: type[ReplyType]) -> Reply[ReplyType]:
    if not isinstance(outcome, Completion):
        return Failed(outcome)
    try:
        return Parsed(parse(outcome, reply_type), outcome.log_probabilities)
    except UnusableReplyError as error:
        return Failed(error)


def _correction(error: UnusableReplyError, schema: dict[str, object]) -> Correction:
    shown = error.reply.strip()[:_MAX_CHARACTERS_SHOWN]
    return Correction(
        reply=shown or "(nothing)",  # some endpoints accept no empty message
        request=f"I cannot use this reply: it {error.problem}. Reply again, in full, with one JSON object and nothing "
        f"else: no remarks, no code fence. It must follow this JSON schema:\n{json.dumps(schema, ensure_ascii=False)}",
    )


def make_strict_schema(reply_type: type[BaseModel]) -> dict[str, object]:
    """Return a type's JSON schema in the strict form that OpenAI requires: every field required, no other allowed."""
    schema = _make_strict(reply_type.model_json_schema())
    assert isinstance(schema, dict)
    return schema


def _make_strict(node: object) -> object:
    if isinstance(node, list):
        return [_make_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    strict: dict[str, object] = {}
    for key, value in node.items():
        if key in _KEYS_OF_NAMES:  # here the keys are names of fields, which may well be "title"
            strict[key] = {name: _make_strict(inner) for name, inner in value.items()}
        elif key not in ("title", "default"):
            strict[key] = _make_strict(value)
    if "properties" in node:
        strict |= {"required": list(node["properties"]), "additionalProperties": False}
    return strict
