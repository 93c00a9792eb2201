"""The tools of the Model Context Protocol keep the server's limits."""

import sys
import threading
from pathlib import Path
from typing import NoReturn

import pytest
from mcp.client import Client

from patience import SECONDS
from serve.asking.served_world import Slow, UntilCancelled, library_over, stands_still, wait_until
from serve.http.bound_tools import OPEN, call_refused
from serve.http.small_server import Make, error_of
from triplebeam.generate.language_model import LanguageModel
from triplebeam.serve.http import mcp_endpoint
from triplebeam.serve.limits import UNLIMITED, Limits
from triplebeam.serve.mcp import make_server
from triplebeam.serve.running import Runner

ENDLESS = {"question": "Which lake?", "method": "ircot[max_steps=1000]:hybrid"}


def runner_over(data: Path, model: LanguageModel | None = None, limits: Limits | None = None) -> Runner:
    return Runner(library_over(data, home=data, model=model), limits or Limits())


async def refuse(runner: Runner, tool: str, **arguments: object) -> str:
    return await call_refused(make_server(runner), tool, **arguments)


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
    assert said in await refuse(runner_over(data, Slow()), tool, **arguments)


@pytest.mark.anyio
async def test_a_model_names_no_file_even_to_the_user_s_own_process(data: Path) -> None:
    """Whether the file exists must not make a difference."""
    runner = runner_over(data, limits=UNLIMITED)
    for path in ("/etc/hosts", "/no/such/file"):
        assert "names a file" in await refuse(runner, "search", question="a", method=f"gnn_ret[weights={path}]")


HEADERS = {"Accept": "application/json, text/event-stream"}


def test_sessions_end_when_nobody_uses_them_and_there_is_a_limit(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_endpoint, "SECONDS_IDLE", 2.0)
    monkeypatch.setattr(mcp_endpoint, "MOST_SESSIONS", 2)
    with make() as client:
        replies = [client.post("/mcp", json=OPEN, headers=HEADERS) for _ in range(3)]
        assert [reply.status_code for reply in replies] == [200, 200, 503]
        wait_until(lambda: client.post("/mcp", json=OPEN, headers=HEADERS).status_code == 200, "no session ended")
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
    message = await refuse(runner_over(data), "search", question="lake")
    assert "world.index" in message
    assert str(data) not in message


@pytest.mark.anyio
async def test_an_agent_has_a_place_among_the_agents_or_none(data: Path) -> None:
    runner = runner_over(data, Slow(), Limits(agents=1))
    free = threading.Event()
    running = runner.start_agent(free.wait)
    assert "1 questions are being answered" in await refuse(runner, "ask", **ENDLESS)
    assert "1 questions" in await refuse(runner, "search", question="a", method="hybrid+sync_ge")
    async with Client(make_server(runner)) as client:
        assert not (await client.call_tool("search", {"question": "lake"})).is_error
    free.set()
    running.result(SECONDS)


@pytest.mark.anyio
async def test_past_the_time_limit_no_model_is_asked(data: Path) -> None:
    model = UntilCancelled()
    runner = runner_over(data, model, Limits(ask_seconds=0.1))
    assert "limit of 0.1 seconds" in await refuse(runner, "ask", **ENDLESS)
    assert stands_still(model)
    assert model.calls <= 1
    assert not runner.busy
