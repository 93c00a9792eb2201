"""The tools of the Model Context Protocol at ``/mcp``, with the same keys and limits as every other route."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from triplebeam.errors import ExtraMissingError
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.keys import role_of_request
from triplebeam.serve.running import Runner

PATH = "/mcp"
#: A session that a client left open costs some 35 kB: it ends after this time without a request, and there is a limit.
SECONDS_IDLE, MOST_SESSIONS = 600.0, 500


class MCPEndpoint:
    """Passes requests that may read on to the tools; replies 404 if their library is not installed."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._tools: ASGIApp | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answer while the app runs: sessions live no longer than that."""
        try:
            from mcp.server.transport_security import TransportSecuritySettings

            from triplebeam.serve.mcp import make_server
        except (ImportError, ExtraMissingError):
            yield
            return
        server = make_server(self._runner)
        # The whole app checks hosts and origins already.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._tools = server.streamable_http_app(
            streamable_http_path=PATH,
            transport_security=security,
            session_idle_timeout=SECONDS_IDLE,
            max_sessions=MOST_SESSIONS,
        )
        async with server.session_manager.run():
            yield
        self._tools = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that may read."""
        request = Request(scope)
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        role_of_request(request, key.strip() if scheme.lower() == "bearer" else None)
        if self._tools is None:
            raise HTTPProblem(
                404, "not_found", "this server has no MCP tools: install them with pip install 'triplebeam[mcp]'."
            )
        await self._tools(scope, receive, send)
