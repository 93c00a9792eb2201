"""The tools of MCP as tests call them: refused, or with a key that is bound to a filter and shows nothing else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp_types import TextContent

from patience import SECONDS
from planted_secrets import QUESTION, find_leaks

#: How a client of MCP begins.
OPEN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@asynccontextmanager
async def tools(address: str, key: str) -> AsyncIterator[Client]:
    async with (
        httpx.AsyncClient(headers=bearer(key), timeout=SECONDS) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
    ):
        yield client


def list_writes(schema: dict[str, Any], **names: str) -> list[tuple[str, str]]:
    """Every method and path of a schema that neither reads nor asks, with names in their places."""
    return [
        (method, path.format(**names))
        for path, methods in schema["paths"].items()
        for method in methods
        if method != "get" and not path.endswith(("/search", "/ask", "/chat/completions"))
    ]


async def call_refused(server: MCPServer[None], tool: str, **arguments: Any) -> str:
    """What a tool says when it refuses."""
    async with Client(server) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


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
