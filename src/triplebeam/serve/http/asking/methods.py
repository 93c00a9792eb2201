"""Route: the methods by name, with a line on each."""

from collections.abc import Mapping

from fastapi import APIRouter
from pydantic import BaseModel, Field

from triplebeam.assemble.method import Method as ParsedMethod
from triplebeam.assemble.table import ask_methods, search_methods

router = APIRouter(tags=["methods"])


class Method(BaseModel):
    """A method by its name."""

    name: str = Field(examples=["hybrid+naive_ge"])
    description: str
    uses_model: bool = Field(description="It calls a language model for each question.")


class MethodsResponse(BaseModel):
    """Methods that find passages, and methods that answer."""

    search: list[Method]
    ask: list[Method]


@router.get("/methods")
async def methods() -> MethodsResponse:
    """What `method` can be. Any agent can be combined with any search: `ircot:hipporag2`."""
    return MethodsResponse(search=_listed(search_methods()), ask=_listed(ask_methods()))


def _listed(described: Mapping[str, str]) -> list[Method]:
    return [
        Method(name=name, description=line, uses_model=ParsedMethod.parse(name).uses_model)
        for name, line in described.items()
    ]
