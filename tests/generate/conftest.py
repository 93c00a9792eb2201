import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback_endpoint import Endpoint, serve

from triplebeam.generate.completion_cache import CompletionStore


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """A running endpoint."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve() as endpoint:
        yield endpoint


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CompletionStore]:
    """A cache of completions, in a folder that is made with it."""
    with CompletionStore(tmp_path / "cache" / "completions.sqlite") as store:
        yield store


@pytest.fixture
def unused_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
