"""The tools of the Model Context Protocol at ``/mcp``, behind the same keys as everything else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from triplebeam.serve.extras import ExtraMissingError
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.keys import role_of_request
from triplebeam.serve.http.library import DEFAULT_ASK, DEFAULT_SEARCH, Library
from triplebeam.serve.http.limits import Limits
from triplebeam.serve.http.workers import Workers

PATH = "/mcp"


class MCPDoor:
    """Lets requests with a key through to the tools; where their library is not installed, nobody."""

    def __init__(self, library: Library, limits: Limits, workers: Workers) -> None:
        self._library = library
        self._limits = limits
        self._workers = workers
        self._inside: ASGIApp | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answer while the app runs: sessions live no longer than that."""
        try:
            from mcp.server.transport_security import TransportSecuritySettings

            from triplebeam.serve.http.mcp_rules import ServerRules
            from triplebeam.serve.mcp import make_server
        except (ImportError, ExtraMissingError):
            yield
            return
        rules = ServerRules(self._library, self._limits, self._workers)
        server = make_server(self._library, search_method=DEFAULT_SEARCH, ask_method=DEFAULT_ASK, rules=rules)
        # Which hosts may be named and which pages may call is settled for the whole app, not here once more.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._inside = server.streamable_http_app(streamable_http_path=PATH, transport_security=security)
        async with server.session_manager.run():
            yield
        self._inside = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on that may read."""
        request = Request(scope)
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        role_of_request(request, key.strip() if scheme.lower() == "bearer" else None)
        if self._inside is None:
            raise HTTPProblem(
                404, "not_found", "this server has no MCP tools: install them with pip install 'triplebeam[mcp]'."
            )
        await self._inside(scope, receive, send)
