"""Routes: health, readiness, version, metrics and schema of the server; and the page with its files.

The page needs no key. It fetches nothing from other sites, and none of its scripts is inline.
"""

import hashlib
from importlib.metadata import version
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from triplebeam.assemble import context_of
from triplebeam.errors import TriplebeamError
from triplebeam.serve.http.keys import may_read, sees_everything, sees_names
from triplebeam.serve.index_folders import message_of
from triplebeam.serve.library import Library

_FOLDER = files(__package__).joinpath("page")
_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # File names are the same in every version, so a browser asks each time, and mostly gets 304.
    "Cache-Control": "no-cache",
}

router = APIRouter(tags=["server"])
page_router = APIRouter(include_in_schema=False)


class Health(BaseModel):
    """The process answers."""

    status: str = "ok"


class Version(BaseModel):
    """The program and its version."""

    name: str = "triplebeam"
    version: str


class Readiness(BaseModel):
    """Whether every index can be searched, and asked if a model is configured; if not, why."""

    status: str
    indexes: dict[str, str] = Field(description="On a server with keys: for a key that sees all indexes, else empty.")


@router.get("/health")
async def health() -> Health:
    """Tell whether the process answers. It does even while every thread is busy."""
    return Health()


@router.get("/api/version")
async def version_of_server() -> Version:
    """Return the program and its version."""
    return Version(version=version("triplebeam"))


@router.get("/ready", responses={503: {"model": Readiness}})
def ready(request: Request, named: Annotated[bool, Depends(sees_names)]) -> JSONResponse:
    """Tell whether every index can be searched, and asked if a model is configured. Opens those not open yet."""
    library: Library = request.app.state.library
    states = {name: _state(library, name) for name in library.names()}
    all_ready = all(state == "ok" for state in states.values())
    content = Readiness(status="ok" if all_ready else "not ready", indexes=states if named else {})
    return JSONResponse(content.model_dump(), status_code=200 if all_ready else 503)


@router.get("/metrics", dependencies=[Depends(sees_everything)], response_class=Response)
def metrics(request: Request) -> Response:
    """Return metrics in Prometheus's text format."""
    response: Response = request.app.state.metrics.response()
    return response


@router.get("/api/schema", dependencies=[Depends(may_read)], include_in_schema=False)
def schema(request: Request) -> dict[str, Any]:
    """Describe every route, as OpenAPI does."""
    described: dict[str, Any] = request.app.openapi()
    return described


def _state(library: Library, name: str) -> str:
    try:
        if library.is_published(name):
            context = context_of(library.index(name))
            _ = context.embedder  # loaded, and compared with the one it was built with
            if library.can_ask:
                _ = context.model  # nothing is sent to it; the weights that check its facts must be there
    except TriplebeamError as error:
        return message_of(error, library.redact)
    return "ok"


@page_router.api_route("/", methods=["GET", "HEAD"])
def page(request: Request) -> Response:
    """Return the page."""
    return _file(request, "index.html")


@page_router.api_route("/assets/{name}", methods=["GET", "HEAD"])
def asset(request: Request, name: str) -> Response:
    """Return a script, style sheet or picture of the page."""
    return _file(request, name)


def _file(request: Request, name: str) -> Response:
    """Return a file of the page's folder, found among its listed names, so that no other path can be read."""
    found = next((file for file in _FOLDER.iterdir() if file.name == name and file.is_file()), None)
    kind = _TYPES.get(name.rpartition(".")[2])
    if found is None or kind is None:
        raise HTTPException(404)
    content = found.read_bytes()
    headers = {**_HEADERS, "ETag": f'"{hashlib.sha256(content).hexdigest()[:32]}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)
