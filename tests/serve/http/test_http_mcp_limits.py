"""The tools of the Model Context Protocol keep the server's limits."""

import sys
import threading
import time
from pathlib import Path
from typing import NoReturn

import pytest
from mcp.client import Client
from mcp_types import TextContent

from patience import SECONDS
from serve.asking.served_world import Slow, stands_still
from serve.http.small_server import Make, error_of
from small_world import WordEmbedder
from triplebeam.generate.language_model import LanguageModel
from triplebeam.serve.http import mcp_endpoint
from triplebeam.serve.library import Library
from triplebeam.serve.limits import UNLIMITED, Limits
from triplebeam.serve.mcp import make_server
from triplebeam.serve.running import Runner
from triplebeam.settings import Settings

ENDLESS = {"question": "Which lake?", "method": "ircot[max_steps=1000]:hybrid"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def runner_over(data: Path, model: LanguageModel | None = None, **limits: float) -> Runner:
    library = Library([data], Settings(home=data, offline=True, model=None), embedder=WordEmbedder(), model=model)
    return Runner(library, Limits(**limits))  # type: ignore[arg-type]


async def call_refused(runner: Runner, tool: str, **arguments: object) -> str:
    async with Client(make_server(runner)) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search", {"question": "a", "method": "gnn_ret[weights=/etc/hosts]"}, "names a file"),
        ("ask", {"question": "a", "method": "ircot:gnn_ret[weights=/etc/hosts]"}, "names a file"),
        ("search", {"question": "a" * 20_000}, "ask in fewer words"),
        ("ask", {"question": "a" * 20_000}, "ask in fewer words"),
        ("expand", {"entity": "a" * 20_000}, "ask in fewer words"),
    ],
)
async def test_what_no_route_would_do(data: Path, tool: str, arguments: dict[str, object], said: str) -> None:
    assert said in await call_refused(runner_over(data, Slow()), tool, **arguments)


@pytest.mark.anyio
async def test_a_model_names_no_file_even_to_the_user_s_own_process(data: Path) -> None:
    """Whether the file exists must not make a difference."""
    library = Library([data], Settings(home=data, offline=True, model=None), embedder=WordEmbedder())
    runner = Runner(library, UNLIMITED)
    for path in ("/etc/hosts", "/no/such/file"):
        assert "names a file" in await call_refused(runner, "search", question="a", method=f"gnn_ret[weights={path}]")


OPEN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
HEADERS = {"Accept": "application/json, text/event-stream"}


def test_sessions_end_when_nobody_uses_them_and_there_is_a_limit(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_endpoint, "SECONDS_IDLE", 2.0)
    monkeypatch.setattr(mcp_endpoint, "MOST_SESSIONS", 2)
    with make() as client:
        replies = [client.post("/mcp", json=OPEN, headers=HEADERS) for _ in range(3)]
        assert [reply.status_code for reply in replies] == [200, 200, 503]
        deadline = time.monotonic() + SECONDS
        while client.post("/mcp", json=OPEN, headers=HEADERS).status_code != 200:
            assert time.monotonic() < deadline, "the sessions never ended"
            time.sleep(0.1)
        known = {**HEADERS, "Mcp-Session-Id": replies[0].headers["mcp-session-id"]}
        assert client.post("/mcp", json={**OPEN, "method": "ping", "params": {}}, headers=known).status_code == 404


def test_without_the_extra_a_client_learns_which_is_lacking(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triplebeam.serve.mcp", None)
    with make() as client:
        said = error_of(client.post("/mcp", json=OPEN, headers=HEADERS), 404)[1]
    assert said == "this server has no MCP tools: it lacks the extra 'mcp'."


def test_tools_that_cannot_be_made_fail_their_request_alone(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Runner) -> NoReturn:
        raise OSError("no more files can be opened")

    with make() as client:
        with monkeypatch.context() as broken:
            broken.setattr("triplebeam.serve.mcp.make_server", fails)
            assert error_of(client.post("/mcp", json=OPEN, headers=HEADERS), 500)[0] == "internal"
        assert client.get("/health").status_code == 200
        assert client.post("/mcp", json=OPEN, headers=HEADERS).status_code == 200


@pytest.mark.anyio
async def test_nobody_learns_where_the_server_keeps_its_files(data: Path) -> None:
    next(data.glob("world.index/generations/*/passage_vectors.npy")).unlink()
    message = await call_refused(runner_over(data), "search", question="lake")
    assert "world.index" in message
    assert str(data) not in message


@pytest.mark.anyio
async def test_an_agent_has_a_place_among_the_agents_or_none(data: Path) -> None:
    runner = runner_over(data, Slow(), agents=1)
    free = threading.Event()
    running = runner.start_agent(free.wait)
    assert "1 questions are being answered" in await call_refused(runner, "ask", **ENDLESS)
    assert "1 questions" in await call_refused(runner, "search", question="a", method="hybrid+sync_ge")
    async with Client(make_server(runner)) as client:
        assert not (await client.call_tool("search", {"question": "lake"})).is_error
    free.set()
    running.result(SECONDS)


@pytest.mark.anyio
async def test_past_the_time_limit_no_model_is_asked(data: Path) -> None:
    model = Slow()
    runner = runner_over(data, model, ask_seconds=2.0)
    assert "limit of 2 seconds" in await call_refused(runner, "ask", **ENDLESS)
    assert model.calls
    assert stands_still(model)
    assert not runner.busy
