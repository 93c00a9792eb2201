"""Spans, for whoever collects them: through OpenTelemetry where it is installed and asked for, else nothing."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

SWITCH = "TRIPLEBEAM_TRACING"


@contextmanager
def span(name: str, attributes: Mapping[str, str | int | float] | None = None) -> Iterator[None]:
    """A span around a block: ``search``, ``ask`` or ``step``. Attributes are names and counts, never what was asked."""
    if os.environ.get(SWITCH) != "1" or not _installed():
        yield
        return
    from opentelemetry import trace

    with trace.get_tracer("triplebeam").start_as_current_span(name, attributes=dict(attributes or {})):
        yield


@cache
def _installed() -> bool:
    from importlib.util import find_spec

    return find_spec("opentelemetry") is not None
