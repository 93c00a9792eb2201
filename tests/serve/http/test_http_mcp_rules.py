"""The tools of the Model Context Protocol keep the server's limits."""

import time
from pathlib import Path

import pytest
from mcp.client import Client
from mcp_types import TextContent

from serve.asking.served_world import Slow, stands_still
from small_world import WordEmbedder
from triplebeam.generate.language_model import LanguageModel
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.library import Library
from triplebeam.serve.http.limits import Limits
from triplebeam.serve.http.mcp_rules import ServerRules
from triplebeam.serve.http.workers import Workers
from triplebeam.serve.mcp import make_server
from triplebeam.settings import Settings

ENDLESS = {"question": "Which lake?", "method": "ircot[max_steps=10000]:hybrid"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def rules_over(data: Path, model: LanguageModel | None = None, **limits: float) -> ServerRules:
    library = Library([data], Settings(home=data, offline=True, model=None), embedder=WordEmbedder(), model=model)
    chosen = Limits(**limits)  # type: ignore[arg-type]
    return ServerRules(library, chosen, Workers(chosen))


async def refused(rules: ServerRules, tool: str, **arguments: object) -> str:
    async with Client(make_server(rules.library, rules=rules)) as client:
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
    assert said in await refused(rules_over(data, Slow()), tool, **arguments)


@pytest.mark.anyio
async def test_nobody_is_told_where_the_server_keeps_its_files(data: Path) -> None:
    next(data.glob("world.index/generations/*/passage_vectors.npy")).unlink()
    message = await refused(rules_over(data), "search", question="lake")
    assert "world.index" in message
    assert str(data) not in message


@pytest.mark.anyio
async def test_an_agent_has_a_place_among_the_agents_or_none(data: Path) -> None:
    rules = rules_over(data, Slow(), agents=1)
    with rules.answering():
        assert rules.workers.agents_running == 1
        assert "1 questions are being answered" in await refused(rules, "ask", **ENDLESS)
        assert "1 questions" in await refused(rules, "search", question="a", method="hybrid+sync_ge")
        async with Client(make_server(rules.library, rules=rules)) as client:
            assert not (await client.call_tool("search", {"question": "lake"})).is_error
    assert not rules.workers.busy


@pytest.mark.anyio
async def test_past_the_time_limit_no_model_is_asked(data: Path) -> None:
    model = Slow()
    rules = rules_over(data, model, ask_seconds=0.3)
    assert "more than the 0.3 seconds" in await refused(rules, "ask", **ENDLESS)
    assert model.calls
    assert stands_still(model)
    assert not rules.workers.busy


def test_a_search_past_its_time_limit_is_told(data: Path) -> None:
    rules = rules_over(data, search_seconds=0.01)
    with pytest.raises(HTTPProblem, match=r"more than the 0\.01 seconds"):
        rules.search(lambda: time.sleep(0.1), "hybrid")
