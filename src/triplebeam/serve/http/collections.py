"""Routes: the collections there are, and new ones."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from triplebeam.errors import TriplebeamError
from triplebeam.index.manifest import is_index, read_manifest
from triplebeam.serve.http.job_runner import JobRunner
from triplebeam.serve.http.job_store import Job
from triplebeam.serve.http.keys import may_write
from triplebeam.serve.http.library import DEFAULT_ASK, DEFAULT_SEARCH, Library

router = APIRouter(tags=["collections"])


class CollectionRow(BaseModel):
    """A collection in a listing."""

    name: str
    passages: int = 0
    documents: int = 0
    triples: int = 0
    embedder: str | None = None
    status: Literal["ready", "empty", "damaged"]
    message: str | None = None
    """Why it is damaged."""


class Collections(BaseModel):
    """Every collection, and what can be done here."""

    collections: list[CollectionRow]
    can_create: bool
    can_ask: bool
    default_search: str = DEFAULT_SEARCH
    default_ask: str = DEFAULT_ASK


class CollectionWithJobs(CollectionRow):
    """A collection with its latest jobs."""

    jobs: list[Job]


class NewCollection(BaseModel):
    """What a new collection is called."""

    name: Annotated[str, Field(max_length=200)]


@router.get("/api/collections", response_model_exclude_none=True)
def collections(request: Request) -> Collections:
    """Every collection there is."""
    library: Library = request.app.state.library
    rows = [_row(library, name) for name in library.names()]
    return Collections(collections=rows, can_create=library.can_create, can_ask=library.can_ask)


@router.post("/api/collections", status_code=201, dependencies=[Depends(may_write)], response_model_exclude_none=True)
def create(request: Request, new: NewCollection) -> CollectionRow:
    """Make an empty collection."""
    library: Library = request.app.state.library
    library.create(new.name)
    return _row(library, new.name)


@router.get("/api/collections/{name}", response_model_exclude_none=True)
def collection(request: Request, name: str) -> CollectionWithJobs:
    """One collection with its latest jobs, the newest first."""
    row = _row(request.app.state.library, name)
    jobs: JobRunner = request.app.state.jobs
    return CollectionWithJobs(**row.model_dump(), jobs=jobs.store.all(name) if jobs.store else [])


def _row(library: Library, name: str) -> CollectionRow:
    folder = library.folder(name)
    if not is_index(folder):
        return CollectionRow(name=name, status="empty")
    try:
        manifest = read_manifest(folder)
    except TriplebeamError as error:
        return CollectionRow(name=name, status="damaged", message=library.told(str(error)))
    counts = manifest.counts
    return CollectionRow(
        name=name,
        passages=counts["passages"],
        documents=counts["documents"],
        triples=counts["triples"],
        embedder=manifest.embedder.name,
        status="ready",
    )
