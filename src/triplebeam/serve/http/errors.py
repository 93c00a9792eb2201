"""Errors as HTTP reports them: a status, a code for programs and one sentence for people, always in the same shape.

Under ``/v1`` the shape is OpenAI's, which has the same two fields and two more.
"""

import logging
import secrets
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from triplebeam import errors
from triplebeam.errors import TriplebeamError
from triplebeam.explain.graph import UnknownEntityError
from triplebeam.serve import index_folders
from triplebeam.serve.index_folders import message_of
from triplebeam.serve.limits import QuestionTooLongError
from triplebeam.serve.running import TimeLimitError, TooManyAgentsError

_LOG = logging.getLogger("triplebeam.http")

_KINDS: dict[type[TriplebeamError], tuple[int, str]] = {
    errors.BadInputError: (400, "bad_input"),
    index_folders.BadIndexNameError: (400, "bad_name"),
    index_folders.UnknownIndexError: (404, "unknown_index"),
    UnknownEntityError: (404, "unknown_entity"),
    index_folders.EmptyIndexError: (409, "empty_index"),
    index_folders.NothingVisibleError: (403, "nothing_visible"),
    index_folders.IndexExistsError: (409, "exists"),
    index_folders.CannotCreateError: (409, "cannot_create"),
    index_folders.CannotDeleteError: (409, "cannot_delete"),
    errors.CannotWriteError: (503, "read_only"),
    errors.DiskFullError: (507, "disk_full"),
    QuestionTooLongError: (413, "question_too_long"),
    TimeLimitError: (504, "time_limit"),
    TooManyAgentsError: (429, "too_many_agents"),
    errors.SourceError: (400, "unreadable_source"),
    errors.ModelMissingError: (503, "no_model"),
    errors.EndpointError: (503, "model_endpoint"),
    errors.ClusterError: (503, "cluster"),
    errors.IndexMissingError: (503, "not_ready"),
    errors.IndexDamagedError: (503, "damaged_index"),
    errors.IndexFormatError: (503, "index_format"),
    errors.TooManyOpenFilesError: (503, "too_many_open_files"),
    errors.IndexBusyError: (409, "busy"),
    errors.EmbedderMismatchError: (503, "embedder_mismatch"),
    errors.ExtractionError: (503, "extraction_failed"),
    errors.ExtraMissingError: (503, "extra_missing"),
}
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "unsupported"}
#: The commonest faults, in words about the request; pydantic's are about its own types.
_IN_WORDS = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such parameter here",
    "json_invalid": "the body is not JSON",
    "model_attributes_type": "send a JSON object, with the header Content-Type: application/json",
}
_MAX_FAULTS_SHOWN = 3


class ErrorDetail(BaseModel):
    """Why a request failed."""

    code: str = Field(examples=["unknown_index"])
    message: str = Field(examples=["there is no index 'films': there are books, music."])


class ErrorResponse(BaseModel):
    """The one shape of every error."""

    error: ErrorDetail


class HTTPProblem(TriplebeamError):  # noqa: N818 - it is the answer to a request, not an error of the program
    """Why a request failed: a status, a code for programs, and one sentence that says what to do next."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    def content(self) -> dict[str, dict[str, str]]:
        """Return the body of the reply, also the data of an ``error`` event."""
        return {"error": {"code": self.code, "message": self.message}}

    def openai_content(self) -> dict[str, dict[str, str | None]]:
        """Return the same in the shape that clients of OpenAI's interface expect."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {"error": {"message": self.message, "type": kind, "code": self.code, "param": None}}


def problem_of(error: BaseException, redact: Callable[[str], str]) -> HTTPProblem:
    """Return an error as a client sees it: ours with the server's paths redacted, a bug as nothing but its number."""
    match error:
        case HTTPProblem():
            return error
        case TriplebeamError():
            status, code = next((_KINDS[kind] for kind in type(error).__mro__ if kind in _KINDS), (500, "internal"))
            return HTTPProblem(status, code, message_of(error, redact))
        case Exception():
            return report_bug(error)
        case _:
            raise error


def report_bug(error: Exception) -> HTTPProblem:
    """Log an error that is a bug with an id, which is all that the client sees."""
    number = secrets.token_hex(4)
    _LOG.error("error %s", number, exc_info=error)
    return HTTPProblem(500, "internal", f"something went wrong here: the server's log has it as error {number}.")


def response_to(request: Request, problem: HTTPProblem) -> JSONResponse:
    """Make the reply that reports a problem."""
    content: dict[str, Any] = problem.openai_content() if request.url.path.startswith("/v1") else problem.content()
    headers = {"WWW-Authenticate": "Bearer"} if problem.status == 401 else None
    return JSONResponse(content, status_code=problem.status, headers=headers)


def add_handlers(app: FastAPI) -> None:
    """Give every error of the app the one shape."""

    @app.exception_handler(TriplebeamError)
    @app.exception_handler(Exception)
    async def report_error(request: Request, error: Exception) -> JSONResponse:
        return response_to(request, problem_of(error, request.app.state.library.redact))

    @app.exception_handler(RequestValidationError)
    async def report_faults(request: Request, error: RequestValidationError) -> JSONResponse:
        # By fields, without quoting what was sent: that may be long, or secret.
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'body'}: {_IN_WORDS.get(fault['type'], fault['msg'])}"
            for fault in error.errors()[:_MAX_FAULTS_SHOWN]
        )
        message = f"the request is not valid ({faults}): see /api/schema for its format."
        return response_to(request, HTTPProblem(400, "bad_input", message))

    @app.exception_handler(HTTPException)
    async def report_refusal(request: Request, error: HTTPException) -> JSONResponse:
        code = _CODES.get(error.status_code, "bad_input" if error.status_code < 500 else "internal")
        response = response_to(request, HTTPProblem(error.status_code, code, _refusal(request, error)))
        response.headers.update(error.headers or {})
        return response


def _refusal(request: Request, error: HTTPException) -> str:
    match error.status_code:
        case 404:
            return f"there is nothing at {request.url.path!r}: /api/schema lists the paths."
        case 405:
            return f"{request.url.path!r} does not accept {request.method}: see /api/schema."
        case 400:
            return f"the body cannot be read ({error.detail}): see /api/schema for its format."
        case _:
            return str(error.detail)
