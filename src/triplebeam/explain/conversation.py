"""Conversations: a follow-up such as "and when did she die?" becomes a question that needs no conversation.

A first message is asked as it is, and so is one of a page, which has its own context. For any other, a language model
is called once, with the last turns only: what was said long before is rarely meant, and would be paid for again with
each message.
"""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel

from triplebeam.generate.accounting import UNKNOWN_ORIGIN, account, follow_run
from triplebeam.generate.ask import ask
from triplebeam.generate.language_model import LanguageModel, PromptFailedError, Usage
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import load
from triplebeam.text.characters import replace_unstorable

_MAX_TURNS_SHOWN = 6
_MAX_CHARACTERS_SHOWN = 800
_MAX_MESSAGE_CHARACTERS = 1000
_MAX_QUESTION_CHARACTERS = 2000
#: Some models repeat what the prompt has before the message.
_LABEL = re.compile(r"^(?:message|question)\s*:\s*", re.IGNORECASE)
_NO_MODEL = "No language model is configured to rewrite it."


class Turn(BaseModel):
    """What was said earlier in a conversation."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """A message that continues a conversation, and the question that was made of it."""

    asked: str
    question: str
    """What is answered: the message itself if it needed no rewriting, or could not be rewritten."""
    problem: str = ""
    """Why it could not be rewritten."""
    usage: Usage = field(default_factory=Usage)


def _check_question(text: str) -> str:
    """Refuse a question without words, and one that is pages long."""
    question = _LABEL.sub("", text.strip())
    if not 0 < len(question) <= _MAX_QUESTION_CHARACTERS:
        raise ValueError(f"must have 1 to {_MAX_QUESTION_CHARACTERS} characters")
    return question


class _SelfContained(BaseModel):
    question: Annotated[Text, AfterValidator(_check_question)]


def follow_up(model: LanguageModel | None, message: str, earlier: Sequence[Turn]) -> FollowUp | None:
    """Find what a message means after the earlier turns; None for one that is asked as it is and costs no call."""
    if not any(turn.role == "user" for turn in earlier) or len(message) > _MAX_MESSAGE_CHARACTERS:
        return None
    if model is None:
        return FollowUp(asked=message, question=message, problem=_NO_MODEL)
    turns = (f"{turn.role.title()}: {_shorten_turn(turn.content)}" for turn in earlier[-_MAX_TURNS_SHOWN:])
    prompt = load("self_contained").fill(conversation="\n".join(turns), message=message)
    with account() as spent:
        try:
            question, problem = ask(model, prompt, _SelfContained).question, ""
        except PromptFailedError as error:
            question, problem = message, str(error)
    return FollowUp(asked=message, question=question, problem=problem, usage=spent.usage)


def follow_conversation(earlier: Sequence[Turn]) -> AbstractContextManager[None]:
    """Note for the replies inside that they may repeat earlier turns: nobody knows which documents those were about."""
    return follow_run({UNKNOWN_ORIGIN} if earlier else set())


def _shorten_turn(content: str) -> str:
    text = " ".join(replace_unstorable(content).split())
    return text if len(text) <= _MAX_CHARACTERS_SHOWN else f"{text[:_MAX_CHARACTERS_SHOWN]} …"
