"""The parts of `connect` put together with pauses too short to notice."""

from random import Random
from typing import Any

from loopback_endpoint import Endpoint

from patience import SECONDS
from triplebeam.generate.completion_cache import Cached, CompletionStore
from triplebeam.generate.connect import Concurrent, Retrying
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.openai_compatible import OpenAICompatible

KEY = "sk-very-secret-0123456789"


def retrying(endpoint: Endpoint, *, timeout: float = SECONDS, **settings: Any) -> Retrying:
    model = OpenAICompatible("m", endpoint.base_url, KEY, timeout)
    return Retrying(model=model, **{"attempts": 3, "first_pause": 0.001, "random": Random(0), **settings})


def dependable(
    endpoint: Endpoint, store: CompletionStore | None = None, *, concurrency: int = 2, **settings: Any
) -> Concurrent:
    model: LanguageModel = retrying(endpoint, **settings)
    return Concurrent(Cached(model=model, store=store) if store else model, concurrency)
