"""A model behind an endpoint with all that makes it dependable, each part around the next."""

from collections.abc import Mapping

from triplebeam.generate.cached import Cached
from triplebeam.generate.completion_store import CompletionStore
from triplebeam.generate.concurrency import Concurrent
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.limited import Limited
from triplebeam.generate.metered import Meter, Metered
from triplebeam.generate.openai_compatible import OpenAICompatible
from triplebeam.generate.retrying import Notify, Retrying, unheard
from triplebeam.generate.tuned import Tuned


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
    meter: Meter | None = None,
    notify: Notify = unheard,
) -> Concurrent:
    """A chat model: concurrent, tuned, metered, cached, retrying and limited, in this order from the outside.

    Every try counts against the limits; a completion from the cache counts against none and is never tried again.
    """
    endpoint = OpenAICompatible(model, base_url, api_key, timeout)
    limited = Limited(endpoint, requests_per_minute=requests_per_minute, tokens_per_minute=tokens_per_minute)
    # One time-out must leave time for a second try.
    layer: LanguageModel = Retrying(model=limited, longest_time=max(900.0, 1.5 * timeout), notify=notify)
    if cache is not None:
        layer = Cached(model=layer, store=cache, refresh=refresh)
    if meter is not None:
        layer = Metered(model=layer, meter=meter)
    layer = Tuned(model=layer, max_tokens=max_tokens, parameters=parameters or {}, seed=seed)
    return Concurrent(model=layer, concurrency=concurrency)
