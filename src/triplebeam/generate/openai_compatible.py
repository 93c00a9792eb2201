"""Any endpoint that speaks OpenAI's chat completions: OpenAI itself, Azure, vLLM, llama.cpp, Ollama, a gateway."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.chat_completion import completion_from
from triplebeam.generate.dialect import Dialect, part_to_blame, request_for
from triplebeam.generate.faults import body_fault, connection_fault, status_fault
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError

if TYPE_CHECKING:
    from openai import OpenAI

_OPENAI = "https://api.openai.com/v1"
_NO_KEY = "no-key-was-given"
_SECONDS_TO_CONNECT = 15.0


@dataclass(frozen=True)
class OpenAICompatible:
    """A model behind an endpoint, one request at a time and each tried once: ``connect`` puts the rest around it.

    Without ``base_url`` and ``api_key``, OPENAI_BASE_URL and OPENAI_API_KEY are used; an endpoint other than theirs
    needs no key, and is not sent that one. ``timeout`` is how many seconds a reply may take; models on a small machine
    take minutes.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 600.0
    _dialect: Dialect = field(default_factory=Dialect, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self._url.startswith(("http://", "https://")):
            raise BadInputError(f"The base URL {self._url!r} is not one: it begins with 'http://' or 'https://'.")
        if not self.timeout > 0:
            raise BadInputError(f"The timeout is {self.timeout:g} seconds: it must be above 0.")

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self.model

    @property
    def refused(self) -> list[str]:
        """What of a request the endpoint is known not to take, such as ``json_schema`` or ``temperature``."""
        return sorted(self._dialect.refused)

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """One completion a prompt, in order; the first error ends the batch.

        Faults that may pass by themselves are raised as TransientError.
        """
        return [self._complete(prompt) for prompt in prompts]

    @property
    def _url(self) -> str:
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or _OPENAI

    @cached_property
    def _client(self) -> "OpenAI":
        from openai import OpenAI, Timeout

        theirs = self._url in (_OPENAI, os.environ.get("OPENAI_BASE_URL"))
        key = self.api_key or (os.environ.get("OPENAI_API_KEY") if theirs else None)
        if not key and self._url == _OPENAI:
            raise EndpointError(
                f"There is no API key for {_OPENAI}: set OPENAI_API_KEY, or name another endpoint by its base URL."
            )
        patience = Timeout(self.timeout, connect=min(self.timeout, _SECONDS_TO_CONNECT))
        # The client insists on a key; a local server does not look at it.
        return OpenAI(api_key=key or _NO_KEY, base_url=self._url, timeout=patience, max_retries=0)

    def _complete(self, prompt: Prompt) -> Completion:
        """Ask, leaving out what is refused until the endpoint is content or the prompt itself is at fault."""
        refused = self._dialect.refused
        while True:
            request = request_for(self.model, prompt, refused)
            body, refusal = self._send(request)
            if refusal is None:
                break
            part = part_to_blame(request, body)
            if part is None:
                raise refusal
            refused |= {part}
        self._dialect.learn(refused)
        try:
            return completion_from(body, prompt)
        except ValueError:
            raise body_fault(body, self._place, self._client.api_key) from None

    def _send(self, request: dict[str, Any]) -> tuple[str, PromptRefusedError | None]:
        """The reply's body, with an error if it is a refusal of the request as it stands."""
        from openai import APIConnectionError, APIStatusError

        client = self._client
        # `from None`: these errors quote the endpoint's words, and some endpoints quote the key.
        try:
            # The raw reply, since the client takes whatever comes for a chat completion and checks nothing.
            return client.chat.completions.with_raw_response.create(**request).text, None
        except APIStatusError as error:
            fault = status_fault(error, self._place, self.model, client.api_key)
            if isinstance(fault, PromptRefusedError):
                return error.response.text, fault
            raise fault from None
        except APIConnectionError as error:
            known = self._dialect.answered
            raise connection_fault(error, self._place, self.model, self.timeout, known=known) from None

    @property
    def _place(self) -> str:
        """The endpoint's address without a user's name, password or query, for messages."""
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
