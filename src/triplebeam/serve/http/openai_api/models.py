"""Every method over every collection is a model."""

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from triplebeam.assemble import Method
from triplebeam.assemble.table import ASK_METHODS, SEARCH_METHODS
from triplebeam.serve.http.library import Library
from triplebeam.serve.http.openai_api.chat_request import collection_and_method
from triplebeam.serve.http.workers import in_search_pool

router = APIRouter()


class Model(BaseModel):
    """A model to name in a chat."""

    id: str = Field(examples=["films/auto"])
    object: str = "model"
    created: int = 0
    owned_by: str = "triplebeam"


class ModelsResponse(BaseModel):
    """The models there are."""

    object: str = "list"
    data: list[Model]


@router.get("/models")
async def models(request: Request) -> ModelsResponse:
    """Collections with their default, then with each method that can be used as the server is configured."""
    library: Library = request.app.state.library
    methods = [name for name in (*SEARCH_METHODS, *ASK_METHODS) if library.can_ask or not Method.parse(name).uses_model]
    names = await in_search_pool(request, library.names)
    return ModelsResponse(
        data=[Model(id=id_) for name in names for id_ in (name, *(f"{name}/{method}" for method in methods))]
    )


@router.get("/models/{model_id:path}")
async def model(request: Request, model_id: str) -> Model:
    """One model, also one with parameters in brackets, which the list does not hold."""
    library: Library = request.app.state.library
    collection, method = collection_and_method(library, model_id)
    await in_search_pool(request, library.folder, collection)
    Method.parse(method)
    return Model(id=model_id)
