"""Routes: list, add and delete the documents of an index."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile

from triplebeam.assemble import HOW_TO_CONFIGURE
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.index_routes import JobReply
from triplebeam.serve.http.job_runner import JobRunner, ServerJobs
from triplebeam.serve.http.job_tasks import AddDocuments, DeleteDocuments
from triplebeam.serve.http.keys import SeenLibrary, may_write
from triplebeam.serve.http.search_routes import check_document
from triplebeam.serve.http.uploads import NewDocument, keep_files, keep_texts
from triplebeam.serve.library import DocumentRow, Library
from triplebeam.serve.limits import MEGABYTE, Limits
from triplebeam.system.durable import explain_disk_errors, flush_tree

router = APIRouter(tags=["documents"])

ExtractorName: TypeAlias = Literal["local", "llm", "none"]
_EXTRACTOR: TypeAdapter[ExtractorName | None] = TypeAdapter(ExtractorName | None)
_MAX_FILES = 1000


class Documents(BaseModel):
    """A page of the list of documents."""

    documents: list[DocumentRow]
    total: int


class NewDocuments(BaseModel):
    """Texts to index."""

    model_config = ConfigDict(extra="forbid")
    documents: list[Any] = Field(min_length=1, max_length=10_000)
    """Checked one by one, as the rows of a file are."""
    extractor: ExtractorName | None = None
    """Unless named, the one the index was built with; local for a new index."""


def _describe_body() -> dict[str, Any]:
    """Describe the two kinds of body that the route accepts, which FastAPI cannot by itself."""
    texts = NewDocuments.model_json_schema()
    texts["properties"]["documents"]["items"] = NewDocument.model_json_schema()
    file = {"type": "string", "format": "binary"}
    files = {
        "type": "object",
        "required": ["files"],
        "properties": {
            "files": {"type": "array", "minItems": 1, "items": file},
            "extractor": texts["properties"]["extractor"],
        },
    }
    content = {"application/json": {"schema": texts}, "multipart/form-data": {"schema": files}}
    return {"requestBody": {"required": True, "content": content}}


_UPLOAD: dict[str, Any] = {"status_code": 202, "dependencies": [Depends(may_write)], "openapi_extra": _describe_body()}


@router.get("/api/indexes/{name}/documents")
def documents(
    library: SeenLibrary,
    name: str,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Documents:
    """List the documents of an index, in the order in which they were first indexed."""
    rows = library.documents(name)
    return Documents(documents=list(rows.values())[offset : offset + limit], total=len(rows))


@router.post("/api/indexes/{name}/documents", **_UPLOAD)
async def add(request: Request, name: str) -> JobReply:
    """Index files (multipart ``files``) or texts (JSON). A document whose id exists already is replaced."""
    return await _receive(request, name, "add")


@router.put("/api/indexes/{name}/documents", **_UPLOAD)
async def sync(request: Request, name: str) -> JobReply:
    """Make the files (multipart ``files``) or texts (JSON) that are sent all that is in the index.

    Unchanged documents are not processed again; those that were not sent are deleted.
    """
    return await _receive(request, name, "sync")


@router.delete("/api/indexes/{name}/documents/{document_id:path}", status_code=202, dependencies=[Depends(may_write)])
def delete(library: SeenLibrary, jobs: ServerJobs, name: str, document_id: str) -> JobReply:
    """Delete a document."""
    check_document(library.documents(name), name, document_id)
    return JobReply(job=jobs.submit(name, DeleteDocuments(document_ids=[document_id])))


async def _receive(request: Request, name: str, kind: Literal["add", "sync"]) -> JobReply:
    library: Library = request.app.state.library
    await run_in_threadpool(library.location, name)
    content = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    with explain_disk_errors(library.home):
        if content == "multipart/form-data":
            async with request.form(max_files=_MAX_FILES, max_fields=10) as form:
                return await run_in_threadpool(_add_files, request, name, kind, form)
        if content == "application/json":
            return await run_in_threadpool(_add_texts, request, name, kind, await request.body())
    raise HTTPProblem(
        415, "unsupported", f"send documents as multipart/form-data or application/json, not as {content[:80]!r}."
    )


def _add_files(request: Request, name: str, kind: Literal["add", "sync"], form: FormData) -> JobReply:
    files = [(each.filename or "", each.file) for each in form.getlist("files") if isinstance(each, UploadFile)]
    unknown = sorted({str(field) for field in form} - {"files", "extractor"})
    if unknown and files:
        raise HTTPProblem(
            400,
            "bad_input",
            f"there is no field {unknown[0][:80]!r} beside files: send metadata in the rows of a .jsonl file, or the"
            " documents as JSON.",
        )
    if not files:
        raise HTTPProblem(400, "no_files", "there is no file in the field 'files': send at least one.")
    with _refuse_invalid():
        extractor = _EXTRACTOR.validate_python(form.get("extractor") or None)
    return _submit(request, name, AddDocuments(kind=kind, extractor=extractor), partial(keep_files, files))


def _add_texts(request: Request, name: str, kind: Literal["add", "sync"], body: bytes) -> JobReply:
    try:  # as a line of a file is read: the same numbers and the same letters come out
        read = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise HTTPProblem(400, "bad_input", f"the body cannot be read as JSON ({error}): see /api/schema.") from error
    with _refuse_invalid():
        new = NewDocuments.model_validate(read)
    return _submit(request, name, AddDocuments(kind=kind, extractor=new.extractor), partial(keep_texts, new.documents))


def _submit(request: Request, name: str, task: AddDocuments, keep: Callable[[Path], object]) -> JobReply:
    """Keep the upload in the folder of a new job; a refused one leaves nothing behind."""
    library: Library = request.app.state.library
    jobs: JobRunner = request.app.state.jobs
    limits: Limits = request.app.state.limits
    if task.extractor == "llm" and not library.settings.endpoint("extraction").model:
        raise HTTPProblem(
            503, "no_model", f"the extractor llm needs a language model: {HOW_TO_CONFIGURE}; or use local."
        )
    folder = jobs.new_folder()
    with ExitStack() as on_error:
        on_error.callback(shutil.rmtree, folder, ignore_errors=True)
        keep(folder)
        flush_tree(folder)
        if jobs.bytes_waiting() > limits.waiting_bytes:  # one client after another could fill the disk otherwise
            raise HTTPProblem(
                429,
                "too_many_uploads",
                f"more than {limits.waiting_bytes / MEGABYTE:,g} MB would be waiting to be indexed, which is the limit:"
                " send these documents again when a job has ended.",
            )
        job = jobs.submit(name, task, folder)
        on_error.pop_all()
    return JobReply(job=job)


@contextmanager
def _refuse_invalid() -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_input=False, include_context=False)) from None
