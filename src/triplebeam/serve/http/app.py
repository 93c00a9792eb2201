"""The app: all routes, with limits, keys, metrics and one shape of error."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import Depends, FastAPI
from fastapi.middleware.cors import CORSMiddleware

from triplebeam.serve.http import server_info
from triplebeam.serve.http.asking import router as asking
from triplebeam.serve.http.errors import add_handlers
from triplebeam.serve.http.indexing import router as indexing
from triplebeam.serve.http.indexing.job_runner import JobRunner
from triplebeam.serve.http.keys import Keys, may_read
from triplebeam.serve.http.mcp_endpoint import PATH, MCPEndpoint
from triplebeam.serve.http.metrics import CountRequests, Metrics
from triplebeam.serve.http.middleware import BodyLimit, HostCheck
from triplebeam.serve.http.openai_api.routes import router as openai_api
from triplebeam.serve.http.page_routes import router as page
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
    """The app over a library. What routes need is in ``app.state``.

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
    _add_middleware(app, limits, cors_origins, allowed_hosts)
    app.state.mcp = MCPEndpoint(app.state.runner)
    app.add_route(PATH, app.state.mcp, include_in_schema=False)
    app.include_router(server_info.router)
    for router in (indexing, asking, openai_api):
        app.include_router(router, dependencies=[Depends(may_read)])
    app.include_router(page)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.jobs.start()
    async with app.state.mcp.open():
        yield
    app.state.runner.close()
    app.state.jobs.stop()


def _add_middleware(app: FastAPI, limits: Limits, cors_origins: Sequence[str], allowed_hosts: Sequence[str]) -> None:
    """The last one added is the first to see a request."""
    app.add_middleware(BodyLimit, most=limits.upload_bytes)
    if cors_origins:
        app.add_middleware(CORSMiddleware, allow_origins=list(cors_origins), allow_methods=["*"], allow_headers=["*"])
    if allowed_hosts:
        app.add_middleware(HostCheck, hosts=allowed_hosts, keys=app.state.keys)
    app.add_middleware(CountRequests, metrics=app.state.metrics)
