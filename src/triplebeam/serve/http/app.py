"""The app: all routes, with limits, keys, metrics and one shape of error."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import Depends, FastAPI
from fastapi.middleware.cors import CORSMiddleware

from triplebeam.serve.http import (
    ask_routes,
    document_routes,
    index_routes,
    openai_routes,
    report_routes,
    search_routes,
    server_routes,
)
from triplebeam.serve.http.errors import add_handlers
from triplebeam.serve.http.job_runner import JobRunner
from triplebeam.serve.http.keys import Keys, may_read
from triplebeam.serve.http.mcp_endpoint import PATH, MCPEndpoint
from triplebeam.serve.http.middleware import BodyLimit, CountRequests, HostCheck, Metrics
from triplebeam.serve.library import Library
from triplebeam.serve.limits import Limits
from triplebeam.serve.running import Runner


def make_app(
    library: Library,
    *,
    keys: Keys,
    limits: Limits | None = None,
    reports: Path | None = None,
    cors_origins: Sequence[str] = (),
    allowed_hosts: Sequence[str] = (),
) -> FastAPI:
    """Make the app over a library. What routes need is in ``app.state``.

    ``allowed_hosts``: the names by which it may be called while there are no keys. On a loopback address they keep out
    pages whose own name was made to point here.
    """
    limits = limits or Limits()
    app = FastAPI(title="Triplebeam", version=version("triplebeam"), openapi_url=None, lifespan=_lifespan)
    app.state.library, app.state.keys, app.state.limits, app.state.reports = library, keys, limits, reports
    app.state.cors_origins = tuple(cors_origins)
    app.state.runner, app.state.jobs = Runner(library, limits), JobRunner(library)
    app.state.metrics = Metrics(app.state.runner, app.state.jobs)
    add_handlers(app)
    # The last one added is the first to see a request.
    app.add_middleware(BodyLimit, most=limits.upload_bytes)
    if cors_origins:
        app.add_middleware(CORSMiddleware, allow_origins=list(cors_origins), allow_methods=["*"], allow_headers=["*"])
    if allowed_hosts:
        app.add_middleware(HostCheck, hosts=allowed_hosts, keys=keys)
    app.add_middleware(CountRequests, metrics=app.state.metrics)
    app.state.mcp = MCPEndpoint(app.state.runner)
    app.add_route(PATH, app.state.mcp, include_in_schema=False)
    app.include_router(server_routes.router)
    for routes in (index_routes, document_routes, search_routes, ask_routes, report_routes, openai_routes):
        app.include_router(routes.router, dependencies=[Depends(may_read)])
    app.include_router(server_routes.page_router)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.jobs.start()
    async with app.state.mcp.open():
        yield
    app.state.runner.close()
    app.state.jobs.stop()
