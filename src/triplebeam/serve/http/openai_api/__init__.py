"""Triplebeam for clients of OpenAI's interface: each index with a method is a model to chat with."""

from fastapi import APIRouter
from pydantic import BaseModel

from triplebeam.serve.http.openai_api import chat, models


class OpenAIErrorDetail(BaseModel):
    """Why a request failed."""

    message: str
    type: str
    code: str
    param: str | None


class OpenAIErrorResponse(BaseModel):
    """An error in the shape that OpenAI's clients know."""

    error: OpenAIErrorDetail


_PROBLEM = {"model": OpenAIErrorResponse, "description": "What is wrong, and what to do."}

router = APIRouter(prefix="/v1", tags=["openai"], responses={"4XX": _PROBLEM, "5XX": _PROBLEM})
for _part in (models, chat):
    router.include_router(_part.router)
