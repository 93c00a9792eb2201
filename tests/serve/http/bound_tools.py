"""The tools of MCP with a key that is bound to a filter: none shows a trace of anything else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from patience import SECONDS
from planted_secrets import QUESTION, find_leaks


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@asynccontextmanager
async def tools(address: str, key: str) -> AsyncIterator[Client]:
    async with (
        httpx.AsyncClient(headers=bearer(key), timeout=SECONDS) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
    ):
        yield client


async def check_tools(address: str, key: str, hidden: str, visible: str) -> None:
    """Call every tool with what the key may see and with what it may not."""
    calls = [
        ("search", {"question": QUESTION}),
        ("search", {"question": QUESTION, "where": "year = 2020"}),
        ("search", {"question": QUESTION, "index": "zqxother"}),
        ("expand", {"entity": "Mill Harbour", "length": 4, "limit": 50}),
        ("expand", {"entity": "Zqxvault"}),
        ("ask", {"question": QUESTION, "method": "agent"}),
        ("read_passage", {"passage_id": f"{hidden}#0"}),
        ("read_passage", {"passage_id": f"{visible}#0"}),
    ]
    async with tools(address, key) as client:
        assert not find_leaks(client.instructions or "")
        replies = [await client.call_tool(tool, arguments) for tool, arguments in calls]
    assert [reply.is_error for reply in replies] == [False, False, True, False, True, False, True, False]
    for reply, (_, arguments) in zip(replies, calls, strict=True):
        said = reply.model_dump_json()
        for value in map(str, arguments.values()) if reply.is_error else ():
            said = said.replace(value, "")
        assert not find_leaks(said)
