"""Any endpoint that speaks OpenAI's chat completions: OpenAI itself, vLLM, llama.cpp, Ollama, a gateway."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.chat_completion import completion_from, request_for
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError, OpenAI

_OPENAI = "https://api.openai.com/v1"
_NO_KEY = "no-key-was-given"
_REFUSED = (400, 413, 422)
_ADVICE = {
    401: "check the API key",
    403: "check what the API key may use",
    404: "check the model's name and the base URL, which mostly ends in '/v1'",
    429: "wait, lower the concurrency or check the account's quota",
}


@dataclass(frozen=True)
class OpenAICompatible:
    """A model behind an endpoint.

    Without ``base_url`` and ``api_key``, OPENAI_BASE_URL and OPENAI_API_KEY are used; an endpoint other than OpenAI's
    needs no key. A batch runs in ``concurrency`` threads. Connection errors, 429 and 5xx are tried ``max_retries`` more
    times with growing pauses, or after the pause the endpoint asks for.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    concurrency: int = 4
    max_retries: int = 2

    def __post_init__(self) -> None:
        if not self._url.startswith(("http://", "https://")):
            raise BadInputError(f"The base URL {self._url!r} is not one: it begins with 'http://' or 'https://'.")
        if self.concurrency < 1:
            raise BadInputError(f"The concurrency is {self.concurrency}: it must be at least 1.")

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self.model

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """One completion a prompt, in order; the first error ends the batch."""
        if not prompts:
            return []
        client = self._client
        with ThreadPoolExecutor(min(self.concurrency, len(prompts))) as threads:
            return list(threads.map(lambda prompt: self._complete(client, prompt), prompts))

    @property
    def _url(self) -> str:
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or _OPENAI

    @cached_property
    def _client(self) -> "OpenAI":
        from openai import OpenAI

        key = self.api_key or os.environ.get("OPENAI_API_KEY")
        if not key and self._url == _OPENAI:
            raise EndpointError(
                f"There is no API key for {_OPENAI}: set OPENAI_API_KEY, or name another endpoint by its base URL."
            )
        # The client insists on a key; a local server does not look at it.
        return OpenAI(api_key=key or _NO_KEY, base_url=self._url, timeout=self.timeout, max_retries=self.max_retries)

    def _complete(self, client: "OpenAI", prompt: Prompt) -> Completion:
        try:
            return self._ask(client, prompt, with_schema=True)
        except PromptRefusedError:
            if prompt.schema is None:
                raise
        # It may be the schema that was refused, and endpoints do not agree on how to say so.
        return self._ask(client, prompt, with_schema=False)

    def _ask(self, client: "OpenAI", prompt: Prompt, *, with_schema: bool) -> Completion:
        from openai import APIConnectionError, APIStatusError

        request = request_for(self.model, prompt, with_schema=with_schema)
        # `from None`: these errors quote the endpoint's words, and some endpoints quote the key.
        try:
            # The raw reply, since the client takes whatever comes for a chat completion and checks nothing.
            body = client.chat.completions.with_raw_response.create(**request).text
        except APIStatusError as error:
            raise self._refusal(error, client.api_key) from None
        except APIConnectionError as error:
            raise self._silence(error) from None
        try:
            return completion_from(body, prompt)
        except ValueError:
            raise EndpointError(
                f"The reply of {self._place} is no chat completion; it begins with {_quoted(body, client.api_key)}: "
                "check the base URL, which mostly ends in '/v1'."
            ) from None

    def _refusal(self, error: "APIStatusError", key: str) -> EndpointError:
        words = _quoted(error.response.text, key)
        advice = _ADVICE.get(error.status_code, "see the endpoint's log or try again later")
        kind: type[EndpointError] = EndpointError
        if error.status_code in _REFUSED:
            kind, advice = PromptRefusedError, "shorten the passage or check the model's parameters"
        return kind(
            f"{self._place} answered HTTP {error.status_code} for model {self.model!r}, saying {words}: {advice}."
        )

    def _silence(self, error: "APIConnectionError") -> EndpointError:
        from openai import APITimeoutError

        if isinstance(error, APITimeoutError):
            return EndpointError(
                f"{self._place} did not answer for model {self.model!r} within {self.timeout:g} seconds: "
                "raise the timeout or lower the concurrency."
            )
        return EndpointError(
            f"{self._place} cannot be reached ({error.__cause__}): check the base URL and that the server runs."
        )

    @property
    def _place(self) -> str:
        """The endpoint's address without a user's name, password or query, for messages."""
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _quoted(words: str, key: str) -> str:
    """The beginning of what an endpoint said, on one line and without the key."""
    return repr(" ".join(words.replace(key, "[key]").split())[:200])
