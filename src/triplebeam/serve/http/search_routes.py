"""Routes: search for passages, read one or a whole document, and the graph around an entity or a passage."""

from collections import defaultdict
from collections.abc import Container
from typing import Annotated, cast

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from triplebeam.assemble import DEFAULT_METHOD, IndexReader, context_of
from triplebeam.embed.embedder import LazyEmbedder
from triplebeam.errors import BadInputError
from triplebeam.explain.graph import Neighbourhood, around_entity, around_passage
from triplebeam.serve.http.errors import ErrorResponse, HTTPProblem
from triplebeam.serve.http.keys import SeenRunner
from triplebeam.serve.library import Library
from triplebeam.serve.running import Searched
from triplebeam.serve.shapes import (
    DocumentShape,
    PassageShape,
    SearchShape,
    document_json,
    follow_up_json,
    passage_json,
)
from triplebeam.where.parse import MAX_CHARACTERS

IndexName = Annotated[str, Path(description="An index of `GET /api/indexes`.", examples=["films"])]
_NAME_CHARACTERS = 1000
_MAX_FACETS, _MAX_FACET_VALUES, _MAX_VALUE_CHARACTERS = 12, 20, 80
WhereText = Annotated[
    str | None,
    Field(
        max_length=MAX_CHARACTERS,
        description="A filter by metadata: only passages that match are searched, walked through and read.",
        examples=['year >= 2020 and source in ("a", "b")'],
    ),
]
EXAMPLE = "When did the director of Laughter in Hell die?"

_PROBLEM = {"model": ErrorResponse, "description": "What is wrong, and what to do."}
#: For the routes that read an index and change nothing.
PROBLEMS: dict[int | str, dict[str, object]] = {"4XX": _PROBLEM, "5XX": _PROBLEM}

router = APIRouter(prefix="/api", responses=PROBLEMS)


class SearchRequest(BaseModel):
    """A question, and how to search for it."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(examples=[EXAMPLE])
    method: str = Field(DEFAULT_METHOD, description="One of `GET /api/methods`, with parameters in brackets.")
    k: int = Field(10, ge=1, le=100, description="How many passages.")
    where: WhereText = None


@router.post("/indexes/{name}/search", tags=["search"])
async def search(runner: SeenRunner, name: IndexName, asked: SearchRequest) -> SearchShape:
    """Find passages, also those that only a chain of facts leads to."""
    found = await runner.search(name, asked.question, asked.method, asked.k, where=asked.where)
    return searched_json(found)


def searched_json(searched: Searched) -> SearchShape:
    """Return the result of a search as JSON."""
    written = searched.results.to_dict() | {"seconds": searched.seconds}
    if searched.follow_up:
        written["follow_up"] = follow_up_json(searched.follow_up)
    return cast("SearchShape", written)


class FacetValue(TypedDict):
    """A value of a field, and how many documents have it."""

    value: str
    documents: int


class Facet(TypedDict):
    """A field with its values, the most frequent first."""

    field: str
    values: list[FacetValue]


class Facets(BaseModel):
    """The fields that can be chosen from."""

    facets: list[Facet]
    fields: list[str] = Field(description="Every field that a filter may name.")


@router.get("/indexes/{name}/facets", tags=["search"])
async def facets(runner: SeenRunner, name: IndexName) -> Facets:
    """List the fields of the metadata with few values, each value with the number of its documents."""
    return await runner.run(_find_facets, runner.library, name)


@router.get("/indexes/{name}/passages/{passage_id:path}", tags=["search"])
async def passage(runner: SeenRunner, name: IndexName, passage_id: str) -> PassageShape:
    """Return one passage, with the triples extracted from it."""
    return await runner.run(_passage, runner.library, name, passage_id)


def _passage(library: Library, name: str, passage_id: str) -> PassageShape:
    index = library.index(name)
    _check_passage(index, name, passage_id)
    return passage_json(index, index.passages[passage_id])


@router.get("/indexes/{name}/documents/{document_id:path}", tags=["documents"])
async def document(
    runner: SeenRunner,
    name: IndexName,
    document_id: str,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> DocumentShape:
    """Return a document: its passages in their order, with the triples extracted from them."""
    return await runner.run(_document, runner.library, name, document_id, offset, limit)


def _document(library: Library, name: str, document_id: str, offset: int, limit: int) -> DocumentShape:
    index = library.index(name)
    check_document(index.passages.document_ids, name, document_id)
    return document_json(index, document_id, offset, limit)


def check_document(known: Container[str], name: str, document_id: str) -> None:
    """Refuse an id that no document has."""
    if document_id not in known:
        raise HTTPProblem(
            404,
            "unknown_document",
            f"there is no document {document_id[:80]!r} in {name!r}: /api/indexes/{name}/documents lists them.",
        )


def _check_passage(index: IndexReader, name: str, passage_id: str) -> None:
    if passage_id not in index.passages:
        raise HTTPProblem(
            404,
            "unknown_passage",
            f"there is no passage {passage_id[:80]!r} in the index {name!r}: use an id that a search returned.",
        )


@router.get("/indexes/{name}/graph", tags=["graph"], response_model_exclude_none=True)
async def graph(
    runner: SeenRunner,
    name: IndexName,
    entity: Annotated[str | None, Query(max_length=_NAME_CHARACTERS, examples=["Edward Cahn"])] = None,
    passage: Annotated[str | None, Query(max_length=_NAME_CHARACTERS, description="A passage's id.")] = None,
    limit: Annotated[int, Query(ge=1, le=500, description="How many triples at most.")] = 60,
    where: Annotated[str | None, Query(max_length=MAX_CHARACTERS, description="A filter by metadata.")] = None,
) -> Neighbourhood:
    """Draw an entity's triples with their passages, or a passage's triples and entities."""
    return await runner.run(_graph, runner.library, name, where, entity, passage, limit)


def _graph(
    library: Library, name: str, where: str | None, entity: str | None, passage: str | None, limit: int
) -> Neighbourhood:
    index = library.index(name, where)
    if entity and not passage:
        return around_entity(context_of(index).source, LazyEmbedder(lambda: context_of(index).embedder), entity, limit)
    if passage and not entity:
        _check_passage(index, name, passage)
        return around_passage(context_of(index).source, passage, limit)
    raise BadInputError("the graph is drawn around one thing: give either ?entity=NAME or ?passage=ID.")


def _find_facets(library: Library, name: str) -> Facets:
    """Find the fields worth choosing from, those of most documents first; and the names of all fields."""
    index = library.index(name)
    documents: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for id_, fields in zip(index.passages.documents, index.passages.fields(), strict=True):
        for field, value in fields.items():
            documents[field][value].add(id_)
    shown = []
    for field, values in documents.items():
        if _can_be_chosen(field, values):
            rows = [FacetValue(value=value, documents=len(ids)) for value, ids in values.items()]
            rows.sort(key=lambda row: (-row["documents"], row["value"]))
            shown.append(Facet(field=field, values=rows))
    shown.sort(key=lambda facet: (-sum(value["documents"] for value in facet["values"]), facet["field"]))
    return Facets(facets=shown[:_MAX_FACETS], fields=sorted(documents))


def _can_be_chosen(name: str, values: dict[str, set[str]]) -> bool:
    """Return whether there are two values or more, and few of them, each of two documents on average; none so long, or
    with quotation marks of both kinds, that no filter can name it.
    """
    documents = sum(map(len, values.values()))
    can_be_written = all(len(value) <= _MAX_VALUE_CHARACTERS and not {'"', "'"} <= set(value) for value in values)
    few = 2 <= len(values) <= min(_MAX_FACET_VALUES, documents / 2)
    return few and can_be_written and "`" not in name
