"""Any endpoint with OpenAI's embeddings: OpenAI itself, vLLM, llama.cpp, Ollama, a gateway."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Kind
from triplebeam.errors import BadInputError, EndpointError
from triplebeam.system.endpoint import OPENAI, Endpoint, Retries, connection_fault, status_fault

if TYPE_CHECKING:
    from openai import OpenAI

DEFAULT_TIMEOUT_SECONDS = 60.0
_LOG = logging.getLogger("triplebeam")


@dataclass(frozen=True)
class OpenAICompatibleEmbedder:
    """An embedding model behind an endpoint.

    ``dimensions`` asks for shorter vectors than the model's own, where the endpoint supports that. ``batch`` texts are
    sent per request.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    dimensions: int | None = None
    batch: int = 256
    timeout: float = DEFAULT_TIMEOUT_SECONDS
    max_retries: int = 2
    _has_answered: list[bool] = field(default_factory=lambda: [False], init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._endpoint  # noqa: B018 - a bad address is refused here
        if self.batch < 1:
            raise BadInputError(f"batch must be at least 1, got {self.batch}.")

    @property
    def name(self) -> str:
        """What a user would type to get this embedder again."""
        return f"openai:{self.model}"

    @property
    def fingerprint(self) -> str:
        """The model and the length of its vectors; the endpoint's address does not change them."""
        return f"{self.model}/{self.dimension}"

    @cached_property
    def dimension(self) -> int:
        """Length of a vector, asked for once where it was not set."""
        return self.dimensions or int(self._request(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """Return one unit row per text, in order."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), self.batch):
            # Endpoints refuse an empty text, and a blank one is just as empty to a model.
            rows = self._request([text if text.strip() else "." for text in texts[start : start + self.batch]])
            if rows.shape[1] != self.dimension:
                raise EndpointError(
                    f"{self._endpoint.place} sent vectors of {rows.shape[1]} numbers for model {self.model!r} where "
                    f"{self.dimension} were expected: check the model's name and the number of dimensions."
                )
            vectors[start : start + self.batch] = rows
        return vectors

    @cached_property
    def _endpoint(self) -> Endpoint:
        return Endpoint(self.base_url or OPENAI, self.api_key)

    @cached_property
    def _client(self) -> "OpenAI":
        return self._endpoint.client(self.timeout)

    def _request(self, texts: list[str]) -> NDArray[np.float32]:
        # Time for a second try after one that timed out, and for no third.
        limits = Retries(
            attempts=1 + self.max_retries,
            timeout=self.timeout,
            longest_time=2.5 * self.timeout,
            notify=_LOG.warning,
        )
        return limits.retry(lambda: self._rows(self._send(texts), len(texts)))

    def _send(self, texts: list[str]) -> str:
        """Send a request and return the reply's body."""
        from openai import APIConnectionError, APIStatusError, omit

        # `from None`: these errors quote the endpoint's words, and some endpoints quote the key.
        try:
            # The raw reply, since the client accepts anything as embeddings and checks nothing.
            reply = self._client.embeddings.with_raw_response.create(
                model=self.model, input=texts, dimensions=self.dimensions or omit, encoding_format="float"
            )
        except APIStatusError as error:
            raise status_fault(error, self._endpoint, self.model) from None
        except APIConnectionError as error:
            known = self._has_answered[0]
            raise connection_fault(error, self._endpoint, self.model, self.timeout, known=known) from None
        self._has_answered[0] = True
        return reply.text

    def _rows(self, body: str, count: int) -> NDArray[np.float32]:
        """Return the vectors of a reply in the order of the texts, each scaled to length one."""
        try:
            data = {int(item["index"]): item["embedding"] for item in json.loads(body)["data"]}
            rows = np.array([list(data[number]) for number in sorted(data)], dtype=np.float32)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise EndpointError(
                f"The reply of {self._endpoint.place} holds no embeddings; it begins with"
                f" {self._endpoint.quote_reply(body)}: check the base URL, which usually ends in '/v1'."
            ) from None
        if sorted(data) != list(range(count)) or rows.ndim != 2:
            raise EndpointError(
                f"{self._endpoint.place} sent {len(data)} vectors for {count} texts for model {self.model!r}: check"
                " that it is an embedding model, or see the endpoint's log."
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
            raise EndpointError(
                f"{self._endpoint.place} sent a vector without a direction (zeros, or no numbers) for model"
                f" {self.model!r}: check that it is an embedding model, or see the endpoint's log."
            )
        unit: NDArray[np.float32] = rows / lengths
        return unit
