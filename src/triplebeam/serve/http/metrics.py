"""Metrics for Prometheus, with a registry per app."""

import time

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triplebeam.serve.http.indexing.job_runner import JobRunner
from triplebeam.serve.running import Runner

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0)


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
        self._gauge("triplebeam_jobs_running", "Indexing jobs running.").set_function(
            lambda: jobs.store.running() if jobs.store else 0
        )
        self._gauge("triplebeam_jobs_waiting", "Indexing jobs waiting.").set_function(
            lambda: jobs.store.waiting() if jobs.store else 0
        )
        self._gauge("triplebeam_agents_running", "Questions being answered.").set_function(
            lambda: runner.agents_running
        )
        self._gauge("triplebeam_searches_waiting", "Searches waiting for a thread.").set_function(
            lambda: runner.searches_waiting
        )

    def response(self) -> Response:
        """All metrics in Prometheus's text format."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)

    def _gauge(self, name: str, words: str) -> Gauge:
        return Gauge(name, words, registry=self._registry)


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

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            route = _template(scope)
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.requests.labels(route, method, str(status)).inc()
            self._metrics.seconds.labels(route, method).observe(time.perf_counter() - started)


def _template(scope: Scope) -> str:
    """The path of the route that answered, with names in place of its parameters.

    For a router that is included under a prefix FastAPI keeps the whole path separately; the route has only the rest.
    """
    whole = getattr(scope.get("fastapi", {}).get("effective_route_context"), "path_format", "")
    return whole or getattr(scope.get("route"), "path_format", "") or getattr(scope.get("route"), "path", "none")
