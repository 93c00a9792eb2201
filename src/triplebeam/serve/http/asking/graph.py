"""The graph around an entity or a passage."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from triplebeam.errors import BadInputError
from triplebeam.serve.http.asking.neighbourhood import Neighbourhood, around_entity, around_passage, nearest_entities
from triplebeam.serve.http.asking.search import CollectionName, check_passage
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.library import Library
from triplebeam.serve.http.workers import in_search_pool

_NAME_CHARACTERS = 1000

router = APIRouter(tags=["graph"])


@router.get("/collections/{name}/graph", response_model_exclude_none=True)
async def graph(
    request: Request,
    name: CollectionName,
    entity: Annotated[str | None, Query(max_length=_NAME_CHARACTERS, examples=["Edward Cahn"])] = None,
    passage: Annotated[str | None, Query(max_length=_NAME_CHARACTERS, description="A passage's id.")] = None,
    limit: Annotated[int, Query(ge=1, le=500, description="How many triples at the most.")] = 60,
) -> Neighbourhood:
    """An entity's triples with the passages they stand in, or a passage's triples and entities."""
    library: Library = request.app.state.library
    if entity and not passage:
        return await in_search_pool(request, _around_entity, library, name, entity, limit)
    if passage and not entity:
        return await in_search_pool(request, _around_passage, library, name, passage, limit)
    raise BadInputError("the graph is drawn around one thing: give either ?entity=NAME or ?passage=ID.")


def _around_entity(library: Library, name: str, entity: str, limit: int) -> Neighbourhood:
    collection = library.collection(name)
    drawn = around_entity(collection, entity, limit)
    if drawn is not None:
        return drawn
    near = nearest_entities(collection, entity)
    meant = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
    raise HTTPProblem(
        404,
        "unknown_entity",
        f"there is no entity {entity[:80]!r} in the collection {name!r}{meant}: entities are the subjects and"
        " objects of its triples.",
    )


def _around_passage(library: Library, name: str, passage_id: str, limit: int) -> Neighbourhood:
    collection = library.collection(name)
    check_passage(collection, name, passage_id)
    return around_passage(collection, passage_id, limit)
