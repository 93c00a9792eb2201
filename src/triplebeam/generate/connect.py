"""A model behind an endpoint with everything that makes it dependable, each part around the next."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from triplebeam.generate.completion_cache import Cached, CompletionStore
from triplebeam.generate.concurrency import Concurrent
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.generate.openai_compatible import OpenAICompatible
from triplebeam.generate.outcomes import Wrapper, drop_replies
from triplebeam.generate.pacing import Limited, Retrying
from triplebeam.system.retries import Notify, ignore_retries


@dataclass(frozen=True, kw_only=True)
class WithParameters(Wrapper):
    """Raises the limit of every prompt to at least ``max_tokens`` and adds ``parameters`` and ``seed`` to it.

    A "thinking" model needs room for its thoughts beside the reply, or a parameter that switches them off. A prompt
    without a limit keeps none. This belongs around a cache: another limit is another completion.
    """

    max_tokens: int | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    """For prompts that have none."""

    def complete_one(self, prompt: Prompt) -> Completion:
        """Return the model's completion of the prompt with the parameters."""
        return self.model.complete([self._with_parameters(prompt)])[0]

    def drop_reply(self, prompt: Prompt) -> None:
        """Keep the reply to the prompt with the parameters no longer."""
        drop_replies(self.model, [self._with_parameters(prompt)])

    def _with_parameters(self, prompt: Prompt) -> Prompt:
        limit = prompt.max_tokens
        if limit is not None and self.max_tokens is not None:
            limit = max(limit, self.max_tokens)
        parameters = {**self.parameters, **(prompt.parameters or {})}
        seed = self.seed if prompt.seed is None else prompt.seed
        return replace(prompt, max_tokens=limit, parameters=parameters or None, seed=seed)


def connect(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float = 600.0,
    concurrency: int = 4,
    max_tokens: int | None = None,
    parameters: Mapping[str, object] | None = None,
    seed: int | None = None,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    cache: CompletionStore | None = None,
    refresh: bool = False,
    notify: Notify = ignore_retries,
) -> Concurrent:
    """Connect to a chat model: concurrent, with parameters, cached, retrying and limited, in this order from the
    outside.

    Every try counts against the limits; a completion from the cache counts against none and is never retried.
    """
    endpoint = OpenAICompatible(model, base_url, api_key, timeout)
    limited = Limited.per_minute(endpoint, requests_per_minute, tokens_per_minute)
    # A fault that comes soon leaves time for a second try, one try that times out at the default does not.
    longest_time = max(900.0, 1.5 * timeout)
    layer: LanguageModel = Retrying(limited, timeout=timeout, longest_time=longest_time, notify=notify)
    if cache is not None:
        layer = Cached(layer, store=cache, endpoint=endpoint.place, refresh=refresh)
    layer = WithParameters(layer, max_tokens=max_tokens, parameters=parameters or {}, seed=seed)
    return Concurrent(layer, concurrency)
