"""One question through every door, on the demo corpus with the real embedder: each finds both hops, the same answer."""

import json
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import httpx
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from openai import OpenAI
from playwright.sync_api import expect

from journeys.command_line import runner
from patience import SECONDS
from serve.asking.served_world import events_in, on_loopback
from serve.page.served_page import Complaints, blank_page, browsing
from triplebeam import demo
from triplebeam.assemble import Index, context_of
from triplebeam.demo import Recorded, read_recordings
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library
from triplebeam.settings import Settings

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("demo")]

QUESTION = "Where was the discoverer of Uranus born?"
BOTH_HOPS = {"uranus", "william-herschel"}


@pytest.fixture(scope="module")
def settings(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    completions = tmp_path_factory.mktemp("completions") / "completions.sqlite"
    return Settings(home=home, completions=completions, offline=True, model=None)


@pytest.fixture(scope="module")
def index(settings: Settings, demo_index: Path) -> Index:
    return Index(demo_index, settings=settings)


@pytest.fixture(scope="module")
def address(index: Index, settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over the demo's index, with the demo's recorded completions for a model."""
    recorded = Recorded(read_recordings(files(demo.__name__).joinpath("completions.json").read_text("utf-8")))
    library = Library([index.location.state], settings, embedder=context_of(index).embedder, model=recorded)
    with on_loopback(make_app(library, keys=Keys(tmp_path_factory.mktemp("keys") / "keys.json"))) as address:
        yield address


def test_the_command_line(index: Index, tmp_path: Path, home: Path) -> None:
    found = runner(tmp_path, home)("search", index.location.state, QUESTION, "--json", "-k", "5")
    assert {passage["id"] for passage in json.loads(found.stdout)["passages"]} >= BOTH_HOPS


def test_rest(address: str) -> None:
    found = httpx.post(
        f"{address}/api/indexes/demo/search", json={"question": QUESTION, "k": 5}, timeout=SECONDS
    ).json()
    assert {passage["id"] for passage in found["passages"]} >= BOTH_HOPS
    graph = httpx.get(f"{address}/api/indexes/demo/graph", params={"passage": "uranus"}, timeout=SECONDS).json()
    assert "William Herschel" in {node["label"] for node in graph["nodes"]}


def test_events(address: str) -> None:
    """Steps as they happen, then the answer."""
    asked = {"question": QUESTION, "method": "agent"}
    with httpx.stream("POST", f"{address}/api/indexes/demo/ask", json=asked, timeout=SECONDS) as stream:
        events = events_in(stream.read().decode())
    assert [name for name, _ in events] == ["step", "answer"]
    answer = events[-1][1]
    assert answer["answer"] == "Hanover"
    assert answer["supported"]
    assert {fact["span"]["passage_id"] for fact in answer["evidence"]} == BOTH_HOPS


def test_an_openai_client(address: str) -> None:
    with OpenAI(base_url=f"{address}/v1", api_key="none needed on loopback") as client:
        assert "demo/agent" in {model.id for model in client.models.list()}
        asked = [{"role": "user", "content": QUESTION}]
        whole = client.chat.completions.create(model="demo/agent", messages=asked)  # type: ignore[call-overload]
        with client.chat.completions.create(model="demo/agent", messages=asked, stream=True) as chunks:  # type: ignore[call-overload]
            streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert "Hanover" in whole.choices[0].message.content
    assert "[1]" in streamed
    assert "Hanover" in streamed


@pytest.mark.anyio
async def test_mcp_over_stdio(index: Index, home: Path) -> None:
    serving = StdioServerParameters(
        command=sys.executable,
        args=["-m", "triplebeam", "mcp", str(index.location.state)],
        env={"TRIPLEBEAM_HOME": str(home), "TRIPLEBEAM_OFFLINE": "1"},
    )
    async with Client(serving) as client:
        found = await client.call_tool("search", {"question": QUESTION, "k": 5})
    assert found.structured_content
    assert {passage["id"] for passage in found.structured_content["passages"]} >= BOTH_HOPS


@pytest.mark.anyio
async def test_mcp_over_http(address: str) -> None:
    async with Client(f"{address}/mcp") as client:
        answer = await client.call_tool("ask", {"question": QUESTION, "method": "agent"})
        wrong = await client.call_tool("search", {"question": QUESTION, "method": "hibrid"})
    assert "Hanover" in json.dumps(answer.structured_content)
    assert wrong.is_error


def test_the_browser(address: str) -> None:
    complaints = Complaints()
    with browsing() as browser:
        page = blank_page(browser, address, complaints)
        page.goto("/#index=demo")
        page.get_by_label("Your question").fill(QUESTION)
        page.get_by_role("button", name="Ask", exact=True).last.click()
        expect(page.get_by_text("who was born in Hanover").first).to_be_visible()
    assert complaints.heard == []
