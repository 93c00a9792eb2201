"""`triplebeam mcp` as a client meets it: over stdio, over HTTP, and within the limits of the server."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import httpx
import pytest
from mcp.client import Client

from patience import SECONDS
from serve.asking.served_world import Slow, UntilCancelled, library_over, stands_still, wait_until
from serve.http.bound_tools import OPEN, call_refused
from serve.http.small_server import Make, error_of
from small_world import TRIPLES, TableExtractor, world_documents
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, IndexMissingError
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.cli.mcp import mcp
from triplebeam.serve.http import mcp_endpoint
from triplebeam.serve.library import Library
from triplebeam.serve.limits import UNLIMITED, Limits
from triplebeam.serve.mcp import make_server
from triplebeam.serve.running import Runner
from triplebeam.settings import Settings

ANY_TEXT = {"question": "lake", "method": "bm25", "k": 1}


def command(*arguments: object) -> list[str]:
    return ["-W", "error", "-m", "triplebeam", "mcp", *map(str, arguments)]


@pytest.mark.slow
def test_stdout_has_the_protocol_and_nothing_else(world: Snapshot) -> None:
    done = subprocess.run(
        [sys.executable, *command(world.folder)],
        input=json.dumps(OPEN) + "\n",
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=True,
    )
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["result"]["serverInfo"]["name"] == "triplebeam"


@pytest.fixture
def address(world: Snapshot) -> Iterator[str]:
    """Of a server over HTTP, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = command(world.folder, "--transport", "http", "--port", port)
    with subprocess.Popen([sys.executable, *arguments], stderr=subprocess.DEVNULL) as process:
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def listens(address: str) -> bool:
    url = httpx.URL(address)
    with socket.socket() as tried:
        return tried.connect_ex((url.host, url.port or 80)) == 0


@pytest.mark.slow
@pytest.mark.anyio
async def test_over_http_on_loopback(address: str) -> None:
    wait_until(lambda: listens(address))
    async with Client(address) as client:
        found = await client.call_tool("search", ANY_TEXT)
        wrong = await client.call_tool("search", {"question": ""})
    assert found.structured_content
    assert [passage["id"] for passage in found.structured_content["passages"]] == ["lake"]
    assert wrong.is_error
    async with httpx.AsyncClient(trust_env=False, timeout=SECONDS) as browser:
        rebound = await browser.post(address, headers={"Host": "evil.example"}, json={})
    assert rebound.status_code == 421, "another name for this machine is refused"


def test_an_index_that_is_published_again_is_opened_again(tmp_path: Path, words: Embedder) -> None:
    def index(*ids: str) -> None:
        builder = IndexBuilder(folder=tmp_path / "small.index", embedder=words, extractor=TableExtractor(TRIPLES))
        builder.build([each for each in world_documents() if each.id in ids])

    index("film")
    library = Library([tmp_path / "small.index"], Settings(), embedder=words)
    first = library.index("small")
    assert library.index("small") is first
    index("film", "lake")
    assert "lake" in library.index("small").passages


def test_indexes_are_found_in_folders(tmp_path: Path, world: Snapshot) -> None:
    for name in ("one", "two"):
        shutil.copytree(world.folder, tmp_path / "data" / f"{name}.index")
    (tmp_path / "data" / "empty.index").mkdir()
    library = Library([world.folder, tmp_path / "data"], Settings())
    library.open_all()
    assert library.names() == ["empty", "one", "two", "world"]
    shutil.copytree(world.folder, tmp_path / "world.index")
    with pytest.raises(BadInputError, match="would both be the index 'world'"):
        Library([world.folder, tmp_path / "world.index"], Settings())
    same = tmp_path / "data" / ".." / "world.index"
    assert Library([tmp_path / "world.index", same], Settings()).names() == ["world"]


def test_a_folder_without_an_index_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError, match=os.path.basename(tmp_path)):  # noqa: PTH119
        mcp([tmp_path])


ENDLESS = {"question": "Which lake?", "method": "ircot[max_steps=1000]:hybrid"}


def runner_over(data: Path, model: LanguageModel | None = None, limits: Limits | None = None) -> Runner:
    return Runner(library_over(data, home=data, model=model), limits or Limits())


async def refuse(runner: Runner, tool: str, **arguments: object) -> str:
    return await call_refused(make_server(runner), tool, **arguments)


@pytest.mark.anyio
async def test_what_no_route_would_do(data: Path) -> None:
    runner = runner_over(data, Slow())
    for tool, arguments, said in (
        ("search", {"question": "a", "method": "gnn_ret[weights=/etc/hosts]"}, "names a file"),
        ("ask", {"question": "a", "method": "ircot:gnn_ret[weights=/etc/hosts]"}, "names a file"),
        ("search", {"question": "a" * 20_000}, "ask in fewer words"),
        ("ask", {"question": "a" * 20_000}, "ask in fewer words"),
        ("expand", {"entity": "a" * 20_000}, "ask in fewer words"),
    ):
        assert said in await refuse(runner, tool, **arguments)


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
