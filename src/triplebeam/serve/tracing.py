"""Spans through OpenTelemetry, where it is installed and TRIPLEBEAM_TRACING=1; otherwise nothing."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

SWITCH = "TRIPLEBEAM_TRACING"


@contextmanager
def span(name: str, attributes: Mapping[str, str | int | float] | None = None) -> Iterator[None]:
    """A span around a block: ``search``, ``ask`` or ``step``. Attributes are names and counts, never texts."""
    if not is_on():
        yield
        return
    from opentelemetry import trace

    with trace.get_tracer("triplebeam").start_as_current_span(name, attributes=dict(attributes or {})):
        yield


@cache
def is_on() -> bool:
    """Are spans wanted, and can they be made? The environment is read once."""
    return os.environ.get(SWITCH) == "1" and find_spec("opentelemetry") is not None
