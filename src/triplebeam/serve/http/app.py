"""The app: every route, with its limits, keys, metrics and one shape of error."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import Depends, FastAPI
from fastapi.middleware.cors import CORSMiddleware

from triplebeam.serve.http import collections, documents, jobs, state_of_server
from triplebeam.serve.http.asking import router as asking
from triplebeam.serve.http.body_limit import BodyLimit
from triplebeam.serve.http.errors import add_handlers
from triplebeam.serve.http.host_check import HostCheck
from triplebeam.serve.http.job_runner import JobRunner
from triplebeam.serve.http.keys import Keys, may_read
from triplebeam.serve.http.library import Library
from triplebeam.serve.http.limits import Limits
from triplebeam.serve.http.mcp_door import PATH, MCPDoor
from triplebeam.serve.http.metrics import CountRequests, Metrics
from triplebeam.serve.http.openai_api import router as openai_api
from triplebeam.serve.http.page_routes import router as page
from triplebeam.serve.http.workers import Workers


def make_app(
    library: Library,
    *,
    keys: Keys,
    limits: Limits | None = None,
    reports: Path | None = None,
    cors_origins: Sequence[str] = (),
    allowed_hosts: Sequence[str] = (),
) -> FastAPI:
    """The app over a library. Whatever a route needs is in ``app.state``.

    ``allowed_hosts``: the names by which it may be called while there are no keys. On a loopback address they keep out
    pages whose own name was made to point here.
    """
    limits = limits or Limits()
    app = FastAPI(title="Triplebeam", version=version("triplebeam"), openapi_url=None, lifespan=_lifespan)
    app.state.library, app.state.keys, app.state.limits, app.state.reports = library, keys, limits, reports
    app.state.cors_origins = tuple(cors_origins)
    app.state.workers, app.state.jobs = Workers(limits), JobRunner(library)
    app.state.metrics = Metrics(app.state.workers, app.state.jobs)
    add_handlers(app)
    _add_middleware(app, limits, cors_origins, allowed_hosts)
    app.state.mcp = MCPDoor(library, limits, app.state.workers)
    app.add_route(PATH, app.state.mcp, include_in_schema=False)
    app.include_router(state_of_server.router)
    for router in (collections.router, documents.router, jobs.router, asking, openai_api):
        app.include_router(router, dependencies=[Depends(may_read)])
    app.include_router(page)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.jobs.start()
    async with app.state.mcp.open():
        yield
    app.state.workers.close()
    app.state.jobs.stop()


def _add_middleware(app: FastAPI, limits: Limits, cors_origins: Sequence[str], allowed_hosts: Sequence[str]) -> None:
    """The last one added is the first to see a request."""
    app.add_middleware(BodyLimit, most=limits.upload_bytes)
    if cors_origins:
        app.add_middleware(CORSMiddleware, allow_origins=list(cors_origins), allow_methods=["*"], allow_headers=["*"])
    if allowed_hosts:
        app.add_middleware(HostCheck, hosts=allowed_hosts, keys=app.state.keys)
    app.add_middleware(CountRequests, metrics=app.state.metrics)
