"""Routes: correct the triples of an index, and compact it. All need a key that may write."""

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from triplebeam.assemble.indexing import correction_matches
from triplebeam.errors import BadInputError
from triplebeam.index.content.corrected import LineMatches
from triplebeam.index.store.corrections import Corrections, parse_corrections
from triplebeam.index.store.lookup import has_store, read_index_corrections
from triplebeam.serve.http.indexing.document_routes import JobReply
from triplebeam.serve.http.indexing.job_runner import JobRunner
from triplebeam.serve.http.indexing.job_tasks import Compact, CorrectTriples, Task
from triplebeam.serve.http.keys import may_write
from triplebeam.serve.library import Library
from triplebeam.serve.library_errors import EmptyIndexError

router = APIRouter(tags=["indexes"], dependencies=[Depends(may_write)])
_PATH = "/api/indexes/{name}/corrections"
_BODY: dict[str, Any] = {"requestBody": {"required": True, "content": {"text/plain": {"schema": {"type": "string"}}}}}


class CorrectionLines(BaseModel):
    """Corrections, and what each line concerns now."""

    corrections: str
    """As JSON lines."""
    lines: list[LineMatches]
    unmatched: list[int]
    """The numbers of the lines that match nothing."""


async def _sent(request: Request) -> Corrections:
    """The corrections in a body, checked in a thread: other requests do not wait for a long file."""
    return await run_in_threadpool(_checked, await request.body())


def _checked(body: bytes) -> Corrections:
    try:
        return parse_corrections(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadInputError("the corrections are not in UTF-8: send JSON lines.") from None


Sent = Annotated[Corrections, Depends(_sent)]


@router.get(_PATH)
def corrections(request: Request, name: str) -> CorrectionLines:
    """The corrections of an index."""
    return _matched(request, name, read_index_corrections(_folder(request, name)))


@router.post(f"{_PATH}/preview", openapi_extra=_BODY)
async def preview(request: Request, name: str, sent: Sent) -> CorrectionLines:
    """What each line of corrections (JSON lines) would concern. Nothing is changed."""
    return await run_in_threadpool(_matched, request, name, sent)


@router.put(_PATH, status_code=202, openapi_extra=_BODY)
async def correct(request: Request, name: str, sent: Sent) -> JobReply:
    """Make these corrections (JSON lines) those of the index."""
    return await run_in_threadpool(_submitted, request, name, CorrectTriples(corrections=sent.text))


@router.delete(_PATH, status_code=202)
def take_back(request: Request, name: str) -> JobReply:
    """Take all corrections back."""
    return _submitted(request, name, CorrectTriples())


@router.post("/api/indexes/{name}/compact", status_code=202)
def compact(request: Request, name: str) -> JobReply:
    """Leave no byte of deleted documents in the files of an index, nor of cached replies about them."""
    return _submitted(request, name, Compact())


def _matched(request: Request, name: str, corrections: Corrections) -> CorrectionLines:
    lines = correction_matches(_folder(request, name), corrections)
    unmatched = [line.line for line in lines if not line.matches]
    return CorrectionLines(corrections=corrections.text, lines=lines, unmatched=unmatched)


def _submitted(request: Request, name: str, task: Task) -> JobReply:
    _folder(request, name)
    jobs: JobRunner = request.app.state.jobs
    return JobReply(job=jobs.submit(name, task))


def _folder(request: Request, name: str) -> Path:
    """The folder of an index that has had documents."""
    library: Library = request.app.state.library
    folder = library.location(name).state
    if not has_store(folder):
        raise EmptyIndexError(f"the index {name!r} has no documents yet: add some first.")
    return folder
