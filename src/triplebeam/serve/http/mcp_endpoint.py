"""The tools of the Model Context Protocol at ``/mcp``, with the same keys and limits as every other route.

Tools run in tasks of their own, which know nothing of the request. So every part of the indexes that keys are bound to
has tools of its own, made at its first request; a session belongs to one of them, and no other key can go on with it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TypeAlias

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from triplebeam.errors import ExtraMissingError
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.keys import access_of_request
from triplebeam.serve.running import Runner

_LOG = logging.getLogger("triplebeam.http")

PATH = "/mcp"
#: An index and a filter.
Seen: TypeAlias = tuple[str | None, str | None]
#: A session that a client left open costs some 35 kB: it ends after this time without a request, and there is a limit.
SECONDS_IDLE, MOST_SESSIONS = 600.0, 500


class MCPEndpoint:
    """Passes requests that may read on to the tools; replies 404 if their library is not installed."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._closing: asyncio.Event | None = None
        self._tools: dict[Seen, asyncio.Future[ASGIApp]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answer while the app runs: sessions live no longer than that."""
        with suppress(ImportError, ExtraMissingError):
            import triplebeam.serve.mcp  # noqa: F401

            self._closing = asyncio.Event()
        try:
            yield
        finally:
            if self._closing:
                self._closing.set()
                await asyncio.gather(*self._tasks, return_exceptions=True)
            self._closing = None
            self._tools.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that may read."""
        request = Request(scope)
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        access = access_of_request(request, key.strip() if scheme.lower() == "bearer" else None)
        if self._closing is None:
            raise HTTPProblem(404, "not_found", "this server has no MCP tools: it lacks the extra 'mcp'.")
        seen = access.index, access.where
        if seen not in self._tools:
            ready = self._tools[seen] = asyncio.get_running_loop().create_future()
            task = asyncio.create_task(self._serve(seen, ready, self._closing))
            self._tasks.add(task)
            task.add_done_callback(partial(self._end, seen, ready))
        tools = await asyncio.shield(self._tools[seen])
        await tools(scope, receive, send)

    def _end(self, seen: Seen, ready: asyncio.Future[ASGIApp], task: asyncio.Task[None]) -> None:
        """Forget the tools of a task that has ended; whoever waits for them gets its error."""
        self._tasks.discard(task)
        if error := None if task.cancelled() else task.exception():
            self._tools.pop(seen, None)
            if ready.done():
                _LOG.error("the MCP tools stopped, and start again at the next request", exc_info=error)
            else:
                ready.set_exception(error)

    async def _serve(self, seen: Seen, ready: asyncio.Future[ASGIApp], closing: asyncio.Event) -> None:
        """Have tools over what may be seen, until the app stops."""
        from mcp.server.transport_security import TransportSecuritySettings

        from triplebeam.serve.mcp import make_server

        server = make_server(self._runner.over(self._runner.library.seen_with(*seen)))
        # The whole app checks hosts and origins already.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        tools = server.streamable_http_app(
            streamable_http_path=PATH,
            transport_security=security,
            session_idle_timeout=SECONDS_IDLE,
            max_sessions=MOST_SESSIONS,
        )
        async with server.session_manager.run():
            ready.set_result(tools)
            await closing.wait()
