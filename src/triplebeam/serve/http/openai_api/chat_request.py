"""A chat as OpenAI's clients send it, and the question in it.

Only the last message of the user is asked: each question stands for itself. What a client says about sampling
(temperature, max_tokens, stop and the like) is passed over, since methods have their own; what would change the shape
of the reply is refused.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.library import DEFAULT_ASK, DEFAULT_SEARCH, Library


class Message(BaseModel):
    """One turn of the chat."""

    role: str = Field(examples=["user"])
    content: str | list[dict[str, Any]] | None = Field(
        None, description="Text, or parts of `type: text`, which are joined."
    )


class StreamOptions(BaseModel):
    """What a stream holds besides the text."""

    include_usage: bool | None = Field(None, description="One more chunk at the end, with the tokens used.")


class ChatRequest(BaseModel):
    """A chat completion to make."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(
        description="`COLLECTION/METHOD`, a method of search or an agent; `COLLECTION` alone has the default.",
        examples=["films/auto"],
    )
    messages: list[Message] = Field(description="The last of the user's is the question.")
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
    """Refuse what the reply would not do."""
    for name, value in (chat.model_extra or {}).items():
        if value is not None and name in _UNSUPPORTED and value not in _UNSUPPORTED[name]:
            raise HTTPProblem(
                400,
                "unsupported_parameter",
                f"{name} is not supported: the reply is one plain text; leave it out.",
            )


def question_of(chat: ChatRequest) -> str:
    """The last message of the user."""
    asked = [message for message in chat.messages if message.role == "user"]
    if not asked:
        raise HTTPProblem(
            400, "no_question", "there is no message of the role 'user': the last one of those is the question."
        )
    return _text(asked[-1].content)


def _text(content: str | list[dict[str, Any]] | None) -> str:
    if not isinstance(content, list):
        return content or ""
    for part in content:
        if part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise HTTPProblem(
                400,
                "unsupported_content",
                f"a part of the question has the type {str(part.get('type'))[:40]!r}: only text can be asked.",
            )
    return "\n".join(part["text"] for part in content)


def collection_and_method(library: Library, model: str) -> tuple[str, str]:
    """What a model's id stands for. The default is an agent where a language model is configured, else a search."""
    collection, _, method = model.partition("/")
    return collection, method or (DEFAULT_ASK if library.can_ask else DEFAULT_SEARCH)
