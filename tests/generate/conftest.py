import socket
from collections.abc import Iterator

import pytest
from loopback_endpoint import Endpoint, serve


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """A running endpoint."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve() as endpoint:
        yield endpoint


@pytest.fixture
def unused_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
