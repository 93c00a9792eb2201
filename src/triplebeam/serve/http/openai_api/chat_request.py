"""A chat as OpenAI's clients send it, and the question in it.

The user's last message is asked; the turns before it say what it refers to. Sampling parameters (temperature,
max_tokens, stop and the like) are ignored, since methods have their own; what would change the shape of the reply is
refused.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from triplebeam.assemble import DEFAULT_AGENT, DEFAULT_METHOD
from triplebeam.explain.conversation import Turn
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.library import Library
from triplebeam.where.parse import MAX_CHARACTERS


class Message(BaseModel):
    """One turn of the chat."""

    role: str = Field(examples=["user"])
    content: str | list[dict[str, Any]] | None = Field(
        None, description="Text, or parts of `type: text`, which are joined."
    )


class StreamOptions(BaseModel):
    """What a stream contains in addition to the text."""

    include_usage: bool | None = Field(None, description="One more chunk at the end, with the tokens used.")


class ChatRequest(BaseModel):
    """A chat completion to make."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(
        description="`INDEX/METHOD`, where the method is a search or an agent; `INDEX` alone uses the default.",
        examples=["films/auto"],
    )
    messages: list[Message] = Field(description="The user's last message is the question.")
    where: str | None = Field(
        None, max_length=MAX_CHARACTERS, description="A filter by metadata; not part of OpenAI's interface."
    )
    stream: bool | None = None
    stream_options: StreamOptions | None = None

    @property
    def include_usage(self) -> bool:
        """Does the stream end with the tokens used?"""
        return bool(self.stream_options and self.stream_options.include_usage)


#: What would change the reply's shape, with the values that do not.
_UNSUPPORTED: dict[str, tuple[object, ...]] = {
    "n": (1,),
    "tools": ([],),
    "functions": ([],),
    "tool_choice": ("none", "auto"),
    "logprobs": (False,),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
    "audio": (),
}


def check_supported(chat: ChatRequest) -> None:
    """Refuse parameters that would change the reply's shape."""
    for name, value in (chat.model_extra or {}).items():
        if value is not None and name in _UNSUPPORTED and value not in _UNSUPPORTED[name]:
            raise HTTPProblem(
                400,
                "unsupported_parameter",
                f"{name} is not supported, since the reply is one plain text: leave it out.",
            )


def question_of(chat: ChatRequest) -> tuple[str, list[Turn]]:
    """The user's last message, and what was said from the first one on, without instructions and calls of tools."""
    places = [place for place, message in enumerate(chat.messages) if message.role == "user"]
    if not places:
        raise HTTPProblem(
            400, "no_question", "there is no message with the role 'user': the last one of those is the question."
        )
    question = chat.messages[places[-1]]
    _check_text_only(question)
    before = chat.messages[places[0] : places[-1]]
    turns = ({"role": each.role, "content": _text(each)} for each in before if each.role in ("user", "assistant"))
    earlier = [Turn.model_validate(turn) for turn in turns]
    return _text(question), earlier


def _check_text_only(message: Message) -> None:
    for part in message.content if isinstance(message.content, list) else []:
        if part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise HTTPProblem(
                400,
                "unsupported_content",
                f"a part of the question has the type {str(part.get('type'))[:40]!r}: only text can be asked.",
            )


def _text(message: Message) -> str:
    """The texts of a message; of earlier ones, pictures and the like are left out."""
    if not isinstance(message.content, list):
        return message.content or ""
    return "\n".join(part["text"] for part in message.content if isinstance(part.get("text"), str))


def index_and_method(library: Library, model: str) -> tuple[str, str]:
    """What a model's id means. The default is an agent if a language model is configured, else a search."""
    index, _, method = model.partition("/")
    return index, method or (DEFAULT_AGENT if library.can_ask else DEFAULT_METHOD)
