"""The same questions through every interface: each finds the same, and refuses in the same words."""

import asyncio
import json
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from mcp.client import Client
from mcp_types import TextContent
from pydantic import ValidationError
from starlette.testclient import TestClient
from typer.testing import CliRunner

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "false"  # read when Haystack is imported: tests reach nobody

from serve.asking.served_world import QUESTION, app_over, library_over
from small_world import WORLD
from triplebeam.adapters import haystack, langchain, llama_index
from triplebeam.assemble import Context, Index, IndexReader
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import IndexMissingError, TriplebeamError
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.ranking import Ranking
from triplebeam.serve.cli.app import app
from triplebeam.serve.limits import UNLIMITED
from triplebeam.serve.mcp import make_server
from triplebeam.serve.running import Runner
from triplebeam.settings import Settings
from triplebeam.testing.scripted import Scripted

GRAPH = "hybrid+naive_ge"


class Watched:
    """A search that notes the threads it is asked from."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.threads: list[int] = []

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        self.threads.append(threading.get_ident())
        return self._index.retriever("bm25").retrieve(query, k)


class RefusedError(Exception):
    """What an interface says of a request it does not take."""


class Request(NamedTuple):
    """A search; a method may be a retriever where an interface takes one."""

    question: str = "Milwaukee lies on Lake Michigan"
    method: Any = "bm25"
    k: int = 3
    where: str | None = None
    index: str = "world"

    def body(self) -> dict[str, Any]:
        """As JSON, without a filter that is none."""
        return {"question": self.question, "method": self.method, "k": self.k} | (
            {"where": self.where} if self.where else {}
        )


@dataclass(frozen=True)
class Served:
    """What an interface is given: the folder of an index, an embedder, and a model if there is one."""

    folder: Path
    words: Embedder
    scratch: Path
    model: LanguageModel | None = None

    def index(self, request: Request) -> Index:
        snapshot = Snapshot.open(self.folder.with_name(f"{request.index}.index"))
        opened = IndexReader(Context(snapshot, Settings(model=None), self.words, self.model))
        return opened if request.where is None else opened.filter(request.where)

    @cached_property
    def client(self) -> TestClient:
        return TestClient(app_over(self.folder, self.scratch, model=self.model), base_url="http://127.0.0.1")

    def http(self, path: str, body: Mapping[str, Any]) -> Any:
        replied = self.client.post(path, json=body, headers={"Accept": "application/json"})
        if replied.status_code != 200:
            raise RefusedError(replied.json()["error"]["message"])
        return replied.json()

    def mcp(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        library = library_over(self.folder, home=self.scratch, model=self.model)

        async def call() -> Any:
            async with Client(make_server(Runner(library, UNLIMITED))) as client:
                result = await client.call_tool(tool, dict(arguments))
            if result.is_error:
                assert isinstance(result.content[0], TextContent)
                raise RefusedError(result.content[0].text)
            return result.structured_content

        return anyio.run(call)


class Found(NamedTuple):
    """What an adapter says of a passage."""

    id: str
    score: float | None
    text: str
    fields: Mapping[str, Any]


def by_langchain(index: Any, request: Request) -> list[Found]:
    found = langchain.TriplebeamRetriever(index=index, method=request.method, k=request.k)
    watched = isinstance(request.method, Watched)
    documents = asyncio.run(found.ainvoke(request.question)) if watched else found.invoke(request.question)
    return [Found(each.metadata["id"], each.metadata["score"], each.page_content, each.metadata) for each in documents]


def by_llama_index(index: Any, request: Request) -> list[Found]:
    found = llama_index.TriplebeamRetriever(index, request.method, similarity_top_k=request.k)
    watched = isinstance(request.method, Watched)
    nodes = asyncio.run(found.aretrieve(request.question)) if watched else found.retrieve(request.question)
    return [Found(each.node.node_id, each.score, each.node.get_content(), each.node.metadata) for each in nodes]


def by_haystack(index: Any, request: Request) -> list[Found]:
    found, asked = haystack.TriplebeamRetriever(index, request.method), (request.question, request.k)
    run = asyncio.run(found.run_async(*asked)) if isinstance(request.method, Watched) else found.run(*asked)
    return [Found(each.id, each.score, each.content or "", each.meta) for each in run["documents"]]


def by_cli(served: Served, request: Request) -> list[str]:
    where = ["--where", request.where] if request.where else []
    options = ["-m", request.method, "-k", str(request.k), "--json", *where]
    place = served.folder.with_name(f"{request.index}.index")
    done = CliRunner().invoke(app, ["search", str(place), request.question, *options])
    if done.exception is not None:
        raise done.exception
    return ids(json.loads(done.stdout))


def by_openai(served: Served, request: Request) -> list[str]:
    asked = {"model": f"{request.index}/{request.method}", "messages": [{"role": "user", "content": request.question}]}
    return ids(served.http("/v1/chat/completions", asked)["triplebeam"])[: request.k]


def ids(found: Any) -> list[str]:
    return [passage["id"] for passage in found["passages"]]


ADAPTERS = {"langchain": by_langchain, "llama_index": by_llama_index, "haystack": by_haystack}


def by_adapter(name: str, served: Served, request: Request) -> list[str]:
    return [each.id for each in ADAPTERS[name](served.index(request), request)]


SEARCHES: Mapping[str, Callable[[Served, Request], list[str]]] = {
    "python": lambda served, request: (
        served.index(request).search(request.question, method=request.method, k=request.k).ids
    ),
    "cli": by_cli,
    "http": lambda served, request: ids(served.http(f"/api/indexes/{request.index}/search", request.body())),
    "mcp": lambda served, request: ids(served.mcp("search", {**request.body(), "index": request.index})),
    "openai": by_openai,
    **{name: partial(by_adapter, name) for name in ADAPTERS},
}
ASKS: Mapping[str, Callable[[Served, dict[str, str]], object]] = {
    "python": lambda served, asked: served.index(Request()).ask(**asked),
    "http": lambda served, asked: served.http("/api/indexes/world/ask", asked),
    "mcp": lambda served, asked: served.mcp("ask", asked),
}


@pytest.fixture(scope="module")
def served(world: Snapshot, words: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Served:
    return Served(world.folder, words, tmp_path_factory.mktemp("served"))


def search(served: Served, by: str, **changed: Any) -> list[str]:
    return SEARCHES[by](served, Request(**changed))


def read_refusal(call: Callable[[], object]) -> str:
    with pytest.raises((RefusedError, TriplebeamError, ValidationError)) as refused:
        call()
    return str(refused.value)


@pytest.mark.parametrize("by", SEARCHES)
def test_a_search_finds_the_same_and_with_a_filter_what_it_holds_for(served: Served, index: Index, by: str) -> None:
    expected = index.search("Milwaukee lies on Lake Michigan", method="bm25", k=3).ids
    assert search(served, by) == expected == search(served, "python")
    assert search(served, by, k=1) == expected[:1]
    assert by == "openai" or search(served, by, where="document = 'lake'") == ["lake"]


#: What is asked, words of what is said to it, and the interfaces that cannot be asked so, or take it.
WRONG: Sequence[tuple[dict[str, Any], str, Collection[str]]] = [
    ({"question": "  "}, "the question is empty", ()),
    ({"question": "lake \ud800?"}, r"has '\ud800', which is not a valid character", ("http", "openai")),
    ({"method": "hybird"}, "did you mean 'hybrid'?", ()),
    ({"method": "hybrid+naive"}, "did you mean 'naive_ge'?", ()),
    ({"method": "agent"}, "answers, and is no search", ("openai", *ADAPTERS)),
    ({"index": "wrld"}, "there is no index", ()),
    ({"k": 0}, "k", ("cli", "openai")),
    ({"where": "title >="}, "the filter 'title >=' cannot be read at character 9, its end: a value", ("openai",)),
    ({"where": "yaer = 1"}, "no passage has the field 'yaer'", ("openai",)),
    ({"where": "document = 'sea'"}, "no passage matches", ("openai",)),
    ({"where": "title > 3"}, "no value of the field 'title' is one", ("openai",)),
]


@pytest.mark.parametrize("by", SEARCHES)
def test_what_is_wrong_with_a_search_is_said(served: Served, by: str) -> None:
    """A client of HTTP cannot send half a character as JSON: test_http_ask sends its bytes."""
    for changed, words, others in WRONG:
        assert by in others or words in read_refusal(partial(search, served, by, **changed)), changed


@pytest.mark.parametrize("by", ASKS)
def test_what_is_wrong_with_a_question_is_said(served: Served, by: str) -> None:
    having = replace(served, model=Scripted([]))
    for asked_of, question, method, message in (
        (having, "", "agent", "the question is empty"),
        (having, "a", "hybrid", "put an agent in front, such as agent:hybrid"),
        (having, "a", "agnet", "did you mean 'agent'?"),
        (having, "a", "agent[max_stps=2]", "did you mean 'max_steps'?"),
        (served, "a", "agent", "set TRIPLEBEAM_MODEL"),
    ):
        asked = {"question": question, "method": method}
        assert message in read_refusal(partial(ASKS[by], asked_of, asked))


@pytest.mark.parametrize("by", ADAPTERS)
def test_an_adapter_says_what_a_passage_is_and_why_it_is_here(by: str, index: Index) -> None:
    documents, ranking = ADAPTERS[by](index, Request(QUESTION, GRAPH, 6)), index.search(QUESTION, method=GRAPH, k=6)
    assert [(each.id, each.score) for each in documents] == [(hit.passage.id, hit.score) for hit in ranking]
    film = documents[ranking.ids.index("film")]
    assert (film.text, film.fields["title"]) == (WORLD["film"][1], "Laughter in Hell")
    facts = [fact for chain in film.fields["chains"] for fact in chain]
    assert ["Laughter in Hell", "directed by", "Edward Cahn"] in facts


@pytest.mark.parametrize("by", ADAPTERS)
def test_an_adapter_takes_a_folder_and_searches_in_a_thread_where_it_is_awaited(
    by: str, world: Snapshot, index: Index, tmp_path: Path
) -> None:
    for folder in (world.folder, str(world.folder)):
        assert [each.id for each in ADAPTERS[by](folder, Request(k=1))] == ["city"]
    with pytest.raises(IndexMissingError):
        ADAPTERS[by](tmp_path, Request())
    watched = Watched(index)
    assert ADAPTERS[by](index, Request(method=watched))[0].id == "city"
    assert watched.threads != [threading.get_ident()]
