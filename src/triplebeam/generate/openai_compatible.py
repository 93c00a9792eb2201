"""Any endpoint with OpenAI's chat completions: OpenAI itself, Azure, vLLM, llama.cpp, Ollama, a gateway."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from triplebeam.errors import BadInputError
from triplebeam.generate.chat_completion import completion_from
from triplebeam.generate.dialect import Dialect, part_to_blame, request_for
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError
from triplebeam.system.endpoint import OPENAI, Endpoint
from triplebeam.system.endpoint_faults import REFUSED_STATUS, body_fault, connection_fault, status_fault

if TYPE_CHECKING:
    from openai import OpenAI


@dataclass(frozen=True)
class OpenAICompatible:
    """A model behind an endpoint, one request at a time and each tried once: ``connect`` puts the rest around it.

    An endpoint other than OpenAI's needs no key. ``timeout`` is how many seconds a reply may take; models on a small
    machine take minutes.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 600.0
    _dialect: Dialect = field(default_factory=Dialect, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._endpoint  # noqa: B018 - a bad address is refused here
        if not self.timeout > 0:
            raise BadInputError(f"timeout must be above 0 seconds, got {self.timeout:g}.")

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self.model

    @property
    def place(self) -> str:
        """The endpoint's address without a user's name, password or query."""
        return self._endpoint.place.rstrip("/")

    @property
    def refused(self) -> list[str]:
        """The parts of a request that the endpoint is known to refuse, such as ``json_schema`` or ``temperature``."""
        return sorted(self._dialect.refused)

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Return one completion per prompt, in order; the first error ends the batch.

        Faults that a retry may get past are raised as TransientError.
        """
        return [self._complete(prompt) for prompt in prompts]

    @cached_property
    def _endpoint(self) -> Endpoint:
        return Endpoint(self.base_url or OPENAI, self.api_key)

    @cached_property
    def _client(self) -> "OpenAI":
        return self._endpoint.client(self.timeout)

    def _complete(self, prompt: Prompt) -> Completion:
        """Ask, leaving out what is refused until the endpoint accepts it or the prompt itself is at fault."""
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
        except (ValueError, RecursionError):  # the second where the JSON is nested too deeply
            raise body_fault(body, self._endpoint) from None

    def _send(self, request: dict[str, Any]) -> tuple[str, PromptRefusedError | None]:
        """Send a request and return the reply's body, with an error if it refuses the request."""
        from openai import APIConnectionError, APIStatusError

        # `from None`: these errors quote the endpoint's words, and some endpoints quote the key.
        try:
            # The raw reply, since the client accepts anything as a chat completion and checks nothing.
            return self._client.chat.completions.with_raw_response.create(**request).text, None
        except APIStatusError as error:
            fault = status_fault(error, self._endpoint, self.model)
            if error.status_code in REFUSED_STATUS:
                return error.response.text, PromptRefusedError(str(fault))
            raise fault from None
        except APIConnectionError as error:
            known = self._dialect.answered
            raise connection_fault(error, self._endpoint, self.model, self.timeout, known=known) from None
