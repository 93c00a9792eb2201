"""`triplebeam mcp` as a client meets it: a process of its own, over stdio and over streamable HTTP on loopback."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from patience import SECONDS
from small_world import TRIPLES, TableExtractor, world_documents
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, IndexMissingError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.cli.mcp import mcp
from triplebeam.serve.library import Library
from triplebeam.serve.limits import UNLIMITED
from triplebeam.serve.mcp import make_server
from triplebeam.serve.running import Runner
from triplebeam.settings import Settings

ANY_TEXT = {"question": "lake", "method": "bm25", "k": 1}


def command(*arguments: object) -> list[str]:
    return ["-W", "error", "-m", "triplebeam", "mcp", *map(str, arguments)]


def server(*arguments: object) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=command(*arguments))


@pytest.mark.slow
@pytest.mark.anyio
async def test_over_stdio(world: Snapshot) -> None:
    async with Client(server(world.folder)) as client:
        found = await client.call_tool("search", ANY_TEXT)
        wrong = await client.call_tool("read_passage", {"passage_id": "sea"})
    assert found.structured_content
    assert [passage["id"] for passage in found.structured_content["passages"]] == ["lake"]
    assert wrong.is_error


@pytest.mark.slow
def test_stdout_has_the_protocol_and_nothing_else(world: Snapshot) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    done = subprocess.run(
        [sys.executable, *command(world.folder)],
        input=json.dumps(hello) + "\n",
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


async def _until_it_listens(address: str) -> None:
    url = httpx.URL(address)
    with anyio.fail_after(SECONDS):
        while True:
            try:
                stream = await anyio.connect_tcp(url.host, url.port or 80)
            except OSError:
                await anyio.sleep(0.1)
            else:
                await stream.aclose()
                return


@pytest.mark.slow
@pytest.mark.anyio
async def test_over_http_on_loopback(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    await _until_it_listens(address)
    async with Client(address) as client:
        found = await client.call_tool("search", ANY_TEXT)
        wrong = await client.call_tool("search", {"question": ""})
    assert found.structured_content
    assert [passage["id"] for passage in found.structured_content["passages"]] == ["lake"]
    assert wrong.is_error
    async with httpx.AsyncClient(trust_env=False, timeout=SECONDS) as browser:
        rebound = await browser.post(address, headers={"Host": "evil.example"}, json={})
    assert rebound.status_code == 421, "another name for this machine is refused"


@pytest.mark.anyio
async def test_an_app_mounts_it(world: Snapshot, words: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    library = Library([world.folder], Settings(), embedder=words)
    tools = make_server(Runner(library, UNLIMITED))
    mounted = tools.streamable_http_app(streamable_http_path="/mcp")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with tools.session_manager.run():
            yield

    app = FastAPI(lifespan=lifespan)
    app.mount("/", mounted)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            address = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
            await _until_it_listens(address)
            async with Client(address) as client:
                found = await client.call_tool("search", ANY_TEXT)
            server.should_exit = True
    assert not found.is_error


def test_an_index_that_is_published_again_is_opened_again(tmp_path: Path, words: Embedder) -> None:
    def index(*ids: str) -> None:
        documents = [each for each in world_documents() if each.id in ids]
        IndexBuilder(folder=tmp_path / "small.index", embedder=words, extractor=TableExtractor(TRIPLES)).build(
            documents
        )

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
