"""Middleware: refuses bodies that are too large and, without keys, requests that name another host."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triplebeam.serve.http.errors import HTTPProblem, response_to
from triplebeam.serve.http.keys import Keys


class BodyLimit:
    """Refuses a body with more than some bytes, whether its header says so or not."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, counting its bytes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        declared = request.headers.get("content-length", "0")
        if declared.isascii() and declared.isdigit() and int(declared[:20]) > self._most:
            await response_to(request, HTTPProblem(413, "too_large", self._message))(scope, receive, send)
            return
        seen = 0

        async def counting() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most:
                # FastAPI turns any other error raised while it reads a body into 400.
                raise HTTPException(413, self._message)
            return message

        await self._app(scope, counting, send)

    @property
    def _message(self) -> str:
        return f"the request has more than {self._most:,} bytes, which is the limit: send less, or see --max-upload-mb."


class HostCheck:
    """Without keys, requests must name one of the server's own hosts, at any port.

    A page could make its own name point at a loopback address, and would then be let in as the user.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str], keys: Keys) -> None:
        self._app = app
        self._keys = keys
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            request = Request(scope)
            if _host(request.headers.get("host", "")) not in self._hosts and not self._keys.on:
                problem = HTTPProblem(
                    400, "bad_host", "this server has another name: use 127.0.0.1, or create a key first."
                )
                await response_to(request, problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _host(header: str) -> str | None:
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None
