"""Any endpoint that speaks OpenAI's embeddings: OpenAI itself, vLLM, llama.cpp, Ollama, a gateway."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Kind
from triplebeam.errors import BadInputError, EndpointError

if TYPE_CHECKING:
    from openai import OpenAI

_OPENAI = "https://api.openai.com/v1"
_NO_KEY = "no-key-was-given"
_ADVICE = {
    401: "check the API key",
    403: "check what the API key may use",
    404: "check the model's name and the base URL, which mostly ends in '/v1'",
    429: "wait, or check the account's quota",
}


@dataclass(frozen=True)
class OpenAICompatibleEmbedder:
    """An embedding model behind an endpoint.

    Without ``base_url`` and ``api_key``, OPENAI_BASE_URL and OPENAI_API_KEY are used. ``dimensions`` asks for shorter
    vectors than the model's own, where the endpoint can give them. ``batch`` texts are sent in one request.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    dimensions: int | None = None
    batch: int = 256
    timeout: float = 60.0
    max_retries: int = 2

    def __post_init__(self) -> None:
        if not self._url.startswith(("http://", "https://")):
            raise BadInputError(f"The base URL {self._url!r} is not one: it begins with 'http://' or 'https://'.")
        if self.batch < 1:
            raise BadInputError(f"The batch is {self.batch} texts: it must be at least 1.")

    @property
    def name(self) -> str:
        """What a user would type to get this embedder again."""
        return f"openai:{self.model}"

    @property
    def fingerprint(self) -> str:
        """The model and the length of its vectors; where the endpoint stands does not change them."""
        return f"{self.model}/{self.dimension}"

    @cached_property
    def dimension(self) -> int:
        """Length of a vector, asked for once where it was not given."""
        return self.dimensions or int(self._request(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """One unit row a text, in order."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), self.batch):
            # Endpoints refuse an empty text, and a blank one is as empty to a model.
            rows = self._request([text if text.strip() else "." for text in texts[start : start + self.batch]])
            if rows.shape[1] != self.dimension:
                raise EndpointError(
                    f"{self._place} sent vectors of {rows.shape[1]} numbers for model {self.model!r} where "
                    f"{self.dimension} were expected: check the model's name and the number of dimensions."
                )
            vectors[start : start + self.batch] = rows
        return vectors

    @property
    def _url(self) -> str:
        return self.base_url or os.environ.get("OPENAI_BASE_URL") or _OPENAI

    @property
    def _place(self) -> str:
        """The endpoint's address without a user's name, password or query, for messages."""
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

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

    def _request(self, texts: list[str]) -> NDArray[np.float32]:
        from openai import APIConnectionError, APIStatusError, omit

        # `from None`: these errors quote the endpoint's words, and some endpoints quote the key.
        try:
            # The raw reply, since the client takes whatever comes for embeddings and checks nothing.
            reply = self._client.embeddings.with_raw_response.create(
                model=self.model, input=texts, dimensions=self.dimensions or omit, encoding_format="float"
            )
        except APIStatusError as error:
            advice = _ADVICE.get(error.status_code, "see the endpoint's log or try again later")
            raise EndpointError(
                f"{self._place} answered HTTP {error.status_code} for model {self.model!r}, saying "
                f"{self._quoted(error.response.text)}: {advice}."
            ) from None
        except APIConnectionError as error:
            raise EndpointError(
                f"{self._place} cannot be reached ({error.__cause__ or error}): check the base URL and that the "
                "server runs."
            ) from None
        return self._rows(reply.text, len(texts))

    def _rows(self, body: str, count: int) -> NDArray[np.float32]:
        """The vectors of a reply in the order of the texts, each scaled to length one."""
        try:
            data = {int(item["index"]): item["embedding"] for item in json.loads(body)["data"]}
            rows = np.array([data[number] for number in sorted(data)], dtype=np.float32)
        except (ValueError, KeyError, TypeError):
            raise EndpointError(
                f"The reply of {self._place} holds no embeddings; it begins with {self._quoted(body)}: check the base "
                "URL, which mostly ends in '/v1'."
            ) from None
        if sorted(data) != list(range(count)) or rows.ndim != 2:
            raise EndpointError(
                f"{self._place} sent {len(data)} vectors for {count} texts: model {self.model!r} cannot be used there."
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
            raise EndpointError(f"{self._place} sent a vector without a direction for model {self.model!r}.")
        unit: NDArray[np.float32] = rows / lengths
        return unit

    def _quoted(self, words: str) -> str:
        """The beginning of what an endpoint said, on one line and without the key."""
        return repr(" ".join(words.replace(self._client.api_key, "[key]").split())[:200])
