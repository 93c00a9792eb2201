"""The routes that read an index and change nothing."""

from fastapi import APIRouter

from triplebeam.serve.http.asking import ask, methods, reports, search
from triplebeam.serve.http.errors import ErrorResponse

_PROBLEM = {"model": ErrorResponse, "description": "What is wrong, and what to do."}

router = APIRouter(prefix="/api", responses={"4XX": _PROBLEM, "5XX": _PROBLEM})
for _part in (search, ask, methods, reports):
    router.include_router(_part.router)
