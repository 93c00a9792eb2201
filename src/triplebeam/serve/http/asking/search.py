"""Passages: searched for, and looked up."""

import asyncio
import threading
import time
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request

from triplebeam.assemble import Index
from triplebeam.generate.cancellation import cancel_on
from triplebeam.serve.http.asking.question import check_method, check_question
from triplebeam.serve.http.asking.shapes import PassageResponse, SearchRequest, SearchResponse
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.http.library import Library
from triplebeam.serve.http.tracing import span
from triplebeam.serve.http.workers import in_agents_pool, in_search_pool
from triplebeam.serve.passages_json import ranking_json

CollectionName = Annotated[str, Path(description="A collection of `GET /api/collections`.", examples=["films"])]

router = APIRouter(tags=["search"])


@router.post(
    "/collections/{name}/search",
    response_model=SearchResponse,
    response_model_exclude_unset=True,
)
async def search(request: Request, name: CollectionName, asked: SearchRequest) -> dict[str, object]:
    """Find passages, also those that only a chain of facts leads to."""
    return await found(request, name, asked)


async def found(request: Request, name: str, asked: SearchRequest) -> dict[str, object]:
    """What a search finds, as JSON. One that calls a language model runs among the agents: it may take as long."""
    check_question(request, asked.question)
    method = check_method(asked.method)
    library: Library = request.app.state.library
    if not method.uses_model or not library.can_ask:
        return await in_search_pool(request, _search, library, name, asked)
    stop = threading.Event()
    future = in_agents_pool(request, _search, library, name, asked, stop)
    seconds: float = request.app.state.limits.ask_seconds
    try:
        return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
    except TimeoutError:
        raise HTTPProblem(
            504, "time_limit", f"the search took more than the {seconds:g} seconds it may: name a quicker method."
        ) from None
    finally:
        stop.set()


def _search(
    library: Library, name: str, asked: SearchRequest, stop: threading.Event | None = None
) -> dict[str, object]:
    started = time.perf_counter()
    if stop:
        cancel_on(stop)
    with span("search", {"collection": name, "method": asked.method, "k": asked.k}):
        collection = library.collection(name)
        ranking = collection.search(asked.question, asked.method, asked.k)
        written = ranking_json(asked.question, asked.method, ranking, collection.passages)
    return {**written, "seconds": time.perf_counter() - started}


@router.get("/collections/{name}/passages/{passage_id:path}", response_model=PassageResponse)
async def passage(request: Request, name: CollectionName, passage_id: str) -> dict[str, Any]:
    """One passage, with the triples drawn from it."""
    return await in_search_pool(request, _passage, request.app.state.library, name, passage_id)


def _passage(library: Library, name: str, passage_id: str) -> dict[str, Any]:
    collection = library.collection(name)
    check_passage(collection, name, passage_id)
    passage = collection.passages[passage_id]
    return {
        "id": passage.id,
        "title": passage.title,
        "text": passage.text,
        "document_id": passage.document_id,
        "triples": [collection.triples.triple(id_) for id_ in collection.triples.triples_of([passage_id]).tolist()],
    }


def check_passage(collection: Index, name: str, passage_id: str) -> None:
    """Refuse an id that no passage has."""
    if passage_id not in collection.passages:
        raise HTTPProblem(
            404,
            "unknown_passage",
            f"there is no passage {passage_id[:80]!r} in the collection {name!r}: ids are those that a search gives.",
        )
