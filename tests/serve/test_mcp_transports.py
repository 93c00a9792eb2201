"""`triplebeam mcp` as a client meets it: a process of its own, over stdio and over streamable HTTP on loopback."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from mcp.client import Client

from patience import SECONDS
from serve.asking.served_world import wait_until
from serve.http.bound_tools import OPEN
from small_world import TRIPLES, TableExtractor, world_documents
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, IndexMissingError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.cli.mcp import mcp
from triplebeam.serve.library import Library
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
