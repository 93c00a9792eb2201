"""Routes: is it up, is it ready, what is it, and how busy."""

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.responses import Response

from triplebeam.errors import TriplebeamError
from triplebeam.index.manifest import is_index
from triplebeam.serve.http.keys import may_read
from triplebeam.serve.http.library import Library

router = APIRouter(tags=["server"])


class Health(BaseModel):
    """The process answers."""

    status: str = "ok"


class Version(BaseModel):
    """What answers."""

    name: str = "triplebeam"
    version: str


class Readiness(BaseModel):
    """Whether every collection can be searched; where not, why."""

    status: str
    collections: dict[str, str]


@router.get("/health")
async def health() -> Health:
    """Is the process there? Answers also while every thread is busy."""
    return Health()


@router.get("/api/version")
async def tell_version() -> Version:
    """What this is."""
    return Version(version=version("triplebeam"))


@router.get("/ready", responses={503: {"model": Readiness}})
def ready(request: Request) -> JSONResponse:
    """Can every collection be searched? Opens those that are not open yet."""
    library: Library = request.app.state.library
    states = {name: _state(library, name) for name in library.names()}
    whole = all(state == "ok" for state in states.values())
    content = Readiness(status="ok" if whole else "not ready", collections=states)
    return JSONResponse(content.model_dump(), status_code=200 if whole else 503)


@router.get("/metrics", dependencies=[Depends(may_read)], response_class=Response)
def metrics(request: Request) -> Response:
    """Numbers in Prometheus's text format."""
    response: Response = request.app.state.metrics.response()
    return response


@router.get("/api/schema", dependencies=[Depends(may_read)], include_in_schema=False)
def schema(request: Request) -> dict[str, Any]:
    """Every route, as OpenAPI describes it."""
    described: dict[str, Any] = request.app.openapi()
    return described


def _state(library: Library, name: str) -> str:
    try:
        if is_index(library.folder(name)):
            library.collection(name)
    except TriplebeamError as error:
        return library.told(str(error))
    return "ok"
