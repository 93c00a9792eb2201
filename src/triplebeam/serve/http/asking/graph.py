"""Route: the graph around an entity or a passage."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from triplebeam.errors import BadInputError
from triplebeam.serve.graph import Neighbourhood, around_entity, around_passage
from triplebeam.serve.http.asking.search import IndexName, check_passage
from triplebeam.serve.library import Library
from triplebeam.serve.running import Runner

_NAME_CHARACTERS = 1000

router = APIRouter(tags=["graph"])


@router.get("/indexes/{name}/graph", response_model_exclude_none=True)
async def graph(
    request: Request,
    name: IndexName,
    entity: Annotated[str | None, Query(max_length=_NAME_CHARACTERS, examples=["Edward Cahn"])] = None,
    passage: Annotated[str | None, Query(max_length=_NAME_CHARACTERS, description="A passage's id.")] = None,
    limit: Annotated[int, Query(ge=1, le=500, description="How many triples at most.")] = 60,
) -> Neighbourhood:
    """An entity's triples with their passages, or a passage's triples and entities."""
    runner: Runner = request.app.state.runner
    return await runner.run(_graph, runner.library, name, entity, passage, limit)


def _graph(library: Library, name: str, entity: str | None, passage: str | None, limit: int) -> Neighbourhood:
    index = library.index(name)
    if entity and not passage:
        return around_entity(index, entity, limit)
    if passage and not entity:
        check_passage(index, name, passage)
        return around_passage(index, passage, limit)
    raise BadInputError("the graph is drawn around one thing: give either ?entity=NAME or ?passage=ID.")
