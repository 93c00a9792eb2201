"""Routes: indexing jobs, their progress, and cancelling one."""

import asyncio
from collections.abc import AsyncGenerator

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.event_stream import EventStream, event
from triplebeam.serve.http.indexing.job_runner import JobRunner
from triplebeam.serve.http.indexing.job_store import Job
from triplebeam.serve.http.keys import may_write, sees_everything

router = APIRouter(tags=["jobs"], dependencies=[Depends(sees_everything)])
_SECONDS_BETWEEN_CHECKS = 0.2


class Jobs(BaseModel):
    """The latest jobs, the newest first."""

    jobs: list[Job]


@router.get("/api/jobs")
def jobs(request: Request) -> Jobs:
    """The latest jobs of all indexes, the newest first."""
    runner: JobRunner = request.app.state.jobs
    return Jobs(jobs=runner.store.all() if runner.store else [])


@router.get("/api/jobs/{job_id}")
def job(request: Request, job_id: str) -> Job:
    """One job with its log."""
    return _found(request.app.state.jobs, job_id)


@router.post("/api/jobs/{job_id}/cancel", dependencies=[Depends(may_write)])
def cancel(request: Request, job_id: str) -> Job:
    """Cancel a job: at once if it waits, after its current batch if it runs. What is published stays as it is."""
    runner: JobRunner = request.app.state.jobs
    found = _found(runner, job_id)
    if not runner.cancel(job_id):
        raise HTTPProblem(409, "ended", f"the job {job_id!r} has already ended: it is {found.state}.")
    return _found(runner, job_id)


@router.get(
    "/api/jobs/{job_id}/events",
    # FastAPI would expect a generator if this were EventStream.
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Events `progress` and, last, `end`; the data of each is the job.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
)
async def events(request: Request, job_id: str) -> EventStream:
    """Follow a job: an event whenever it changes, the last one when it has ended."""
    runner: JobRunner = request.app.state.jobs
    await run_in_threadpool(_found, runner, job_id)
    return EventStream(_changes(runner, job_id))


async def _changes(runner: JobRunner, job_id: str) -> AsyncGenerator[bytes, None]:
    sent: Job | None = None
    while not runner.stopping:
        now = await run_in_threadpool(_found, runner, job_id)
        if now != sent:
            sent = now
            yield event("progress", now.model_dump())
        if now.has_ended:
            yield event("end", now.model_dump())
            return
        await asyncio.sleep(_SECONDS_BETWEEN_CHECKS)


def _found(runner: JobRunner, job_id: str) -> Job:
    found = runner.store.get(job_id) if runner.store else None
    if found is None:
        raise HTTPProblem(404, "unknown_job", f"there is no job {job_id[:80]!r}: /api/jobs lists the latest ones.")
    return found
