"""Middleware: counts requests, refuses bodies that are too large and, without keys, requests that name another host."""

import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triplebeam.serve.http.errors import HTTPProblem, response_to
from triplebeam.serve.http.job_runner import JobRunner
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.running import Runner

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0)


class BodyLimit:
    """Refuses a body with more than some bytes, whether its header says so or not."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, count_bytes its bytes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        declared = request.headers.get("content-length", "0")
        if declared.isascii() and declared.isdigit() and int(declared[:20]) > self._most:
            await response_to(request, HTTPProblem(413, "too_large", self._message))(scope, receive, send)
            return
        seen = 0

        async def count_bytes() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most:
                # FastAPI turns any other error raised while it reads a body into 400.
                raise HTTPException(413, self._message)
            return message

        await self._app(scope, count_bytes, send)

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
            if _parse_host(request.headers.get("host", "")) not in self._hosts and not self._keys.on:
                problem = HTTPProblem(
                    400, "bad_host", "this server has another name: use 127.0.0.1, or create a key first."
                )
                await response_to(request, problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _parse_host(header: str) -> str | None:
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None


class Metrics:
    """The metrics of one app."""

    def __init__(self, runner: Runner, jobs: JobRunner) -> None:
        self._registry = CollectorRegistry()
        names = ("route", "method", "status")
        self.requests = Counter("triplebeam_requests", "Requests.", names, registry=self._registry)
        self.seconds = Histogram(
            "triplebeam_request_seconds",
            "From a request's arrival to the end of its reply.",
            names[:2],
            buckets=_SECONDS,
            registry=self._registry,
        )
        gauges: dict[str, tuple[str, Callable[[], int]]] = {
            "jobs_running": ("Indexing jobs running.", lambda: jobs.count("running")),
            "jobs_waiting": ("Indexing jobs waiting.", lambda: jobs.count("waiting")),
            "agents_running": ("Questions being answered.", lambda: runner.counts["agents running"]),
            "searches_waiting": ("Searches waiting for a thread.", lambda: runner.counts["searches waiting"]),
        }
        for name, (words, count) in gauges.items():
            Gauge(f"triplebeam_{name}", words, registry=self._registry).set_function(count)

    def response(self) -> Response:
        """Return all metrics in Prometheus's text format."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)


class CountRequests:
    """Counts requests by the template of their route, so that ids make no new series."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and count it when its reply has ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note_status)
        finally:
            route = _template(scope)
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.requests.labels(route, method, str(status)).inc()
            self._metrics.seconds.labels(route, method).observe(time.perf_counter() - started)


def _template(scope: Scope) -> str:
    """Return the path of the route that answered, with names in place of its parameters.

    For a router that is included under a prefix FastAPI keeps the whole path separately; the route has only the rest.
    """
    whole = getattr(scope.get("fastapi", {}).get("effective_route_context"), "path_format", "")
    return whole or getattr(scope.get("route"), "path_format", "") or getattr(scope.get("route"), "path", "none")
