"""Routes: list, create and delete indexes, correct their triples, compact them, and follow the jobs that do it."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from triplebeam.assemble import DEFAULT_AGENT, DEFAULT_METHOD
from triplebeam.assemble.indexing import correction_matches
from triplebeam.errors import BadInputError, TriplebeamError
from triplebeam.index.content.corrected import LineMatches
from triplebeam.index.source import GraphStatistics
from triplebeam.index.store.corrections import Corrections, parse_corrections
from triplebeam.index.store.tables import has_store, read_index_corrections
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.event_stream import EventStream, event
from triplebeam.serve.http.job_runner import ServerJobs
from triplebeam.serve.http.job_store import Job
from triplebeam.serve.http.job_tasks import Compact, CorrectTriples
from triplebeam.serve.http.keys import SeenLibrary, may_write, sees_everything
from triplebeam.serve.index_folders import EmptyIndexError, NothingVisibleError, UnknownIndexError, message_of
from triplebeam.serve.library import Library

router = APIRouter(prefix="/api")
_SECONDS_BETWEEN_CHECKS = 0.2
_INDEXES: dict[str, Any] = {"tags": ["indexes"], "response_model_exclude_none": True}
_CHANGES: dict[str, Any] = {"tags": ["indexes"], "dependencies": [Depends(may_write)]}
_JOBS: dict[str, Any] = {"tags": ["jobs"], "dependencies": [Depends(sees_everything)]}
_CORRECTIONS = "/indexes/{name}/corrections"
_BODY: dict[str, Any] = {"requestBody": {"required": True, "content": {"text/plain": {"schema": {"type": "string"}}}}}


class IndexRow(BaseModel):
    """An index in a listing."""

    name: str
    passages: int = 0
    documents: int = 0
    triples: int = 0
    embedder: str | None = None
    passage_graph: GraphStatistics | None = None
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


class CorrectionLines(BaseModel):
    """Corrections, and what each line concerns now."""

    corrections: str
    """As JSON lines."""
    lines: list[LineMatches]
    unmatched: list[int]
    """The numbers of the lines that match nothing."""


class Jobs(BaseModel):
    """The latest jobs, the newest first."""

    jobs: list[Job]


class JobReply(BaseModel):
    """The job that does the work."""

    job: Job


@router.get("/indexes", **_INDEXES)
def indexes(library: SeenLibrary) -> Indexes:
    """List every index."""
    rows = [_make_row(library, name) for name in library.names()]
    return Indexes(indexes=rows, can_create=library.can_create, can_ask=library.can_ask)


@router.post("/indexes", status_code=201, dependencies=[Depends(may_write)], **_INDEXES)
def create(library: SeenLibrary, new: NewIndex) -> IndexRow:
    """Create an empty index."""
    library.create(new.name)
    return _make_row(library, new.name)


@router.get("/indexes/{name}", **_INDEXES)
def index(library: SeenLibrary, jobs: ServerJobs, name: str) -> IndexWithJobs:
    """Return one index with its latest jobs, the newest first."""
    listed = [] if library.is_bound else jobs.all(name)
    return IndexWithJobs(**_make_row(library, name).model_dump(), jobs=listed)


@router.delete("/indexes/{name}", status_code=204, **_CHANGES)
def delete(library: SeenLibrary, jobs: ServerJobs, name: str) -> None:
    """Delete an index of the data folder with its documents, unless a job has yet to change it."""
    library.location(name)
    if any(not job.has_ended for job in jobs.all(name)):
        raise HTTPProblem(409, "busy", f"there are jobs for {name!r}: cancel them, or wait until they have ended.")
    library.delete(name)
    jobs.forget(name)


def _make_row(library: Library, name: str) -> IndexRow:
    try:
        if not library.is_published(name):
            return IndexRow(name=name, status="empty")
        manifest = library.manifest(name)
    except UnknownIndexError:
        raise
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
        passage_graph=manifest.passage_graph,
        status="ready",
    )


def _find_filled(library: SeenLibrary, name: str) -> Path:
    """Return the folder of an index that has had documents."""
    folder = library.location(name).state
    if not has_store(folder):
        raise EmptyIndexError(f"the index {name!r} has no documents yet: add some first.")
    return folder


async def _read_corrections(request: Request) -> Corrections:
    """Parse the corrections in a body in a thread: other requests do not wait for a long file."""
    try:
        return await run_in_threadpool(parse_corrections, (await request.body()).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadInputError("the corrections are not in UTF-8: send JSON lines.") from None


FilledFolder = Annotated[Path, Depends(_find_filled)]
SentCorrections = Annotated[Corrections, Depends(_read_corrections)]


@router.get(_CORRECTIONS, **_CHANGES)
def corrections(folder: FilledFolder) -> CorrectionLines:
    """Return the corrections of an index."""
    return _match(folder, read_index_corrections(folder))


@router.post(f"{_CORRECTIONS}/preview", openapi_extra=_BODY, **_CHANGES)
def preview(sent: SentCorrections, folder: FilledFolder) -> CorrectionLines:
    """Show what each line of corrections (JSON lines) would concern. Nothing is changed."""
    return _match(folder, sent)


@router.put(_CORRECTIONS, status_code=202, openapi_extra=_BODY, **_CHANGES)
def correct(sent: SentCorrections, folder: FilledFolder, jobs: ServerJobs, name: str) -> JobReply:
    """Make these corrections (JSON lines) those of the index."""
    return JobReply(job=jobs.submit(name, CorrectTriples(corrections=sent.text)))


@router.delete(_CORRECTIONS, status_code=202, **_CHANGES)
def take_back(folder: FilledFolder, jobs: ServerJobs, name: str) -> JobReply:
    """Take all corrections back."""
    return JobReply(job=jobs.submit(name, CorrectTriples()))


@router.post("/indexes/{name}/compact", status_code=202, **_CHANGES)
def compact(folder: FilledFolder, jobs: ServerJobs, name: str) -> JobReply:
    """Leave no byte of deleted documents in the files of an index, nor of cached replies about them."""
    return JobReply(job=jobs.submit(name, Compact()))


def _match(folder: Path, corrections: Corrections) -> CorrectionLines:
    lines = correction_matches(folder, corrections)
    unmatched = [line.line for line in lines if not line.matches]
    return CorrectionLines(corrections=corrections.text, lines=lines, unmatched=unmatched)


def _find_job(jobs: ServerJobs, job_id: str) -> Job:
    found = jobs.store.get(job_id) if jobs.store else None
    if found is None:
        raise HTTPProblem(404, "unknown_job", f"there is no job {job_id[:80]!r}: /api/jobs lists the latest ones.")
    return found


FoundJob = Annotated[Job, Depends(_find_job)]


@router.get("/jobs", **_JOBS)
def jobs(jobs: ServerJobs) -> Jobs:
    """List the latest jobs of all indexes, the newest first."""
    return Jobs(jobs=jobs.all())


@router.get("/jobs/{job_id}", **_JOBS)
def job(found: FoundJob) -> Job:
    """Return one job with its log."""
    return found


@router.post("/jobs/{job_id}/cancel", tags=["jobs"], dependencies=[Depends(sees_everything), Depends(may_write)])
def cancel(found: FoundJob, jobs: ServerJobs) -> Job:
    """Cancel a job: at once if it waits, after its current batch if it runs. What is published stays as it is."""
    if not jobs.cancel(found.id):
        raise HTTPProblem(409, "ended", f"the job {found.id!r} has already ended: it is {found.state}.")
    return _find_job(jobs, found.id)


@router.get(
    "/jobs/{job_id}/events",
    # FastAPI would expect a generator if this were EventStream.
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Events `progress` and, last, `end`; the data of each is the job.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
    **_JOBS,
)
async def events(found: FoundJob, jobs: ServerJobs) -> EventStream:
    """Follow a job: an event whenever it changes, the last one when it has ended."""

    async def changes() -> AsyncGenerator[bytes, None]:
        sent: Job | None = None
        while not jobs.stopping.is_set():
            now = await run_in_threadpool(_find_job, jobs, found.id)
            if now != sent:
                sent = now
                yield event("progress", now.model_dump())
            if now.has_ended:
                yield event("end", now.model_dump())
                return
            await asyncio.sleep(_SECONDS_BETWEEN_CHECKS)

    return EventStream(changes())
