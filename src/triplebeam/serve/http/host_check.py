"""Without keys, requests must name one of the server's own hosts: a page could make its own name point at a loopback
address, and would then be let in as the user.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from triplebeam.serve.http.errors import HTTPProblem, response_to
from triplebeam.serve.http.keys import Keys


class HostCheck:
    """Lets requests through that name one of some hosts, at whatever port; while keys are on, all."""

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
                    400, "bad_host", "this server is called by another name: use 127.0.0.1, or make a key first."
                )
                await response_to(request, problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _host(header: str) -> str | None:
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None
