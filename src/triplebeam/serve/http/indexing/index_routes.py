"""Routes: list indexes, create one, and delete one."""

from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from triplebeam.assemble import DEFAULT_AGENT, DEFAULT_METHOD
from triplebeam.errors import TriplebeamError
from triplebeam.index.folder.manifest import is_index, read_manifest, retry_on_publish
from triplebeam.index.manifest import Manifest
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.indexing.job_runner import JobRunner
from triplebeam.serve.http.indexing.job_store import Job
from triplebeam.serve.http.keys import library_of, may_write
from triplebeam.serve.library import Library
from triplebeam.serve.library_errors import NothingVisibleError, message_of

router = APIRouter(tags=["indexes"])


class IndexRow(BaseModel):
    """An index in a listing."""

    name: str
    passages: int = 0
    documents: int = 0
    triples: int = 0
    embedder: str | None = None
    status: Literal["ready", "empty", "damaged"]
    message: str | None = None
    """Why it is damaged."""


class Indexes(BaseModel):
    """Every index, and what this server can do."""

    indexes: list[IndexRow]
    can_create: bool
    can_ask: bool
    default_search: str = DEFAULT_METHOD
    default_ask: str = DEFAULT_AGENT


class IndexWithJobs(IndexRow):
    """An index with its latest jobs."""

    jobs: list[Job]


class NewIndex(BaseModel):
    """The name of a new index."""

    name: Annotated[str, Field(max_length=200)]


@router.get("/api/indexes", response_model_exclude_none=True)
def indexes(request: Request) -> Indexes:
    """Every index."""
    library = library_of(request)
    rows = [_row(library, name) for name in library.names()]
    return Indexes(indexes=rows, can_create=library.can_create, can_ask=library.can_ask)


@router.post("/api/indexes", status_code=201, dependencies=[Depends(may_write)], response_model_exclude_none=True)
def create(request: Request, new: NewIndex) -> IndexRow:
    """Create an empty index."""
    library: Library = request.app.state.library
    library.create(new.name)
    return _row(library, new.name)


@router.get("/api/indexes/{name}", response_model_exclude_none=True)
def index(request: Request, name: str) -> IndexWithJobs:
    """One index with its latest jobs, the newest first."""
    library = library_of(request)
    jobs: JobRunner = request.app.state.jobs
    listed = jobs.store.all(name) if jobs.store and not library.is_bound else []
    return IndexWithJobs(**_row(library, name).model_dump(), jobs=listed)


@router.delete("/api/indexes/{name}", status_code=204, dependencies=[Depends(may_write)])
def delete(request: Request, name: str) -> None:
    """Delete an index of the data folder with its documents, unless a job has yet to change it."""
    library: Library = request.app.state.library
    jobs: JobRunner = request.app.state.jobs
    library.folder(name)
    if jobs.store and any(not job.has_ended for job in jobs.store.all(name)):
        raise HTTPProblem(409, "busy", f"there are jobs for {name!r}: cancel them, or wait until they have ended.")
    library.delete(name)
    jobs.forget(name)


def _row(library: Library, name: str) -> IndexRow:
    folder = library.folder(name)
    if not is_index(folder):
        return IndexRow(name=name, status="empty")
    try:
        manifest = library.index(name).snapshot.manifest if library.is_bound else _manifest(folder)
    except NothingVisibleError:
        return IndexRow(name=name, status="empty")
    except TriplebeamError as error:
        return IndexRow(name=name, status="damaged", message=message_of(error, library.redact))
    counts = manifest.counts
    return IndexRow(
        name=name,
        passages=counts["passages"],
        documents=counts["documents"],
        triples=counts["triples"],
        embedder=manifest.embedder.name,
        status="ready",
    )


def _manifest(folder: Path) -> Manifest:
    return retry_on_publish(folder, lambda: read_manifest(folder))
