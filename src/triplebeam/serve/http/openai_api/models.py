"""Routes: every index with every method is a model."""

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from triplebeam.assemble import Method
from triplebeam.assemble.table import ASK_METHODS, SEARCH_METHODS
from triplebeam.serve.http.openai_api.chat_request import index_and_method
from triplebeam.serve.running import Runner

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
    """Each index alone, with the default method, then with each method that the server's configuration allows."""
    runner: Runner = request.app.state.runner
    methods = [
        name for name in (*SEARCH_METHODS, *ASK_METHODS) if runner.library.can_ask or not Method.parse(name).uses_model
    ]
    names = await runner.run(runner.library.names)
    return ModelsResponse(
        data=[Model(id=id_) for name in names for id_ in (name, *(f"{name}/{method}" for method in methods))]
    )


@router.get("/models/{model_id:path}")
async def model(request: Request, model_id: str) -> Model:
    """One model, also one with parameters in brackets, which the list does not contain."""
    runner: Runner = request.app.state.runner
    index, method = index_and_method(runner.library, model_id)
    await runner.run(runner.library.folder, index)
    Method.parse(method)
    return Model(id=model_id)
