"""Routes: health, readiness, version, metrics and schema of the server."""

from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.responses import Response

from triplebeam.assemble import context_of
from triplebeam.errors import TriplebeamError
from triplebeam.serve.http.keys import may_read, sees_everything, sees_names
from triplebeam.serve.library import Library
from triplebeam.serve.library_errors import message_of

router = APIRouter(tags=["server"])


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
    """Does the process answer? It does even while every thread is busy."""
    return Health()


@router.get("/api/version")
async def version_of_server() -> Version:
    """The program and its version."""
    return Version(version=version("triplebeam"))


@router.get("/ready", responses={503: {"model": Readiness}})
def ready(request: Request, named: Annotated[bool, Depends(sees_names)]) -> JSONResponse:
    """Can every index be searched, and asked if a model is configured? Opens those that are not open yet."""
    library: Library = request.app.state.library
    states = {name: _state(library, name) for name in library.names()}
    all_ready = all(state == "ok" for state in states.values())
    content = Readiness(status="ok" if all_ready else "not ready", indexes=states if named else {})
    return JSONResponse(content.model_dump(), status_code=200 if all_ready else 503)


@router.get("/metrics", dependencies=[Depends(sees_everything)], response_class=Response)
def metrics(request: Request) -> Response:
    """Metrics in Prometheus's text format."""
    response: Response = request.app.state.metrics.response()
    return response


@router.get("/api/schema", dependencies=[Depends(may_read)], include_in_schema=False)
def schema(request: Request) -> dict[str, Any]:
    """Every route, as OpenAPI describes it."""
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
