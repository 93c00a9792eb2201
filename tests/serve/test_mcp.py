"""The tools of the Model Context Protocol, through the SDK's own client, in this process."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp_types import CallToolResult, TextContent

from scripted_loops import final, reply
from serve.adapted import GRAPH, QUESTION
from triplebeam.assemble import DEFAULT_METHOD, Index, open_index
from triplebeam.embed.embedder import Embedder
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.index.snapshot import Snapshot
from triplebeam.serve.mcp import make_server
from triplebeam.testing.scripted import Scripted

pytestmark = pytest.mark.anyio

DIED = ("Edward Cahn", "died on", "25 August 1963")
MISSING = reply(missing="who directed it", answerable=False, used=[], answer="")
ANSWERED = reply(missing="", answerable=True, used=[1], answer="25 August 1963")


def asked(world: Snapshot, words: Embedder, model: LanguageModel) -> Mapping[str, Index]:
    return {"world": open_index(world.folder, embedder=words, model=model)}


async def call(collections: Mapping[str, Index], tool: str, **arguments: Any) -> CallToolResult:
    async with Client(make_server(collections)) as client:
        return await client.call_tool(tool, arguments)


async def structured(collections: Mapping[str, Index], tool: str, **arguments: Any) -> Any:
    result = await call(collections, tool, **arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def refused(collections: Mapping[str, Index], tool: str, **arguments: Any) -> str:
    result = await call(collections, tool, **arguments)
    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


async def test_every_tool_says_what_it_takes_and_gives_and_that_it_changes_nothing(collection: Index) -> None:
    async with Client(make_server({"world": collection})) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == ["search", "expand", "ask", "read_passage"]
    for tool in tools.values():
        assert tool.annotations
        assert tool.annotations.read_only_hint
        assert tool.annotations.idempotent_hint
        assert tool.annotations.open_world_hint is False
        assert tool.output_schema
        assert tool.description
        assert "\n\nUse it " in tool.description, "when to choose this one"
        assert all(each["description"] for each in tool.input_schema["properties"].values())
    assert tools["search"].input_schema["required"] == ["question"]
    assert "context" not in tools["ask"].input_schema["properties"]


async def test_search_gives_passages_and_chains(collection: Index) -> None:
    found = await structured({"world": collection}, "search", question=QUESTION, method=GRAPH, k=4)
    assert found["method"] == GRAPH
    assert [passage["id"] for passage in found["passages"]] == collection.search(QUESTION, GRAPH, 4).ids
    chains = [chain for passage in found["passages"] for chain in passage["chains"]]
    assert "Laughter in Hell – directed by → Edward Cahn" in " ".join(chains)


async def test_search_by_the_default_and_by_a_plain_method(collection: Index) -> None:
    assert (await structured({"world": collection}, "search", question="lake"))["method"] == DEFAULT_METHOD
    found = await structured({"world": collection}, "search", question="lake", method="bm25", k=1)
    assert [(passage["id"], passage["chains"]) for passage in found["passages"]] == [("lake", [])]


async def test_expand_follows_an_entity_towards_a_question(collection: Index) -> None:
    found = await structured(
        {"world": collection}, "expand", entity="laughter IN hell", question="Edward Cahn died on 25 August 1963"
    )
    assert found["entity"] == "Laughter in Hell"
    ends = [chain["facts"][-1]["object"] for chain in found["chains"]]
    assert "25 August 1963" in ends
    best = found["chains"][ends.index("25 August 1963")]
    assert best["passage_ids"] == ["film", "director"]


async def test_expand_by_one_gives_the_entity_s_own_facts(collection: Index) -> None:
    found = await structured({"world": collection}, "expand", entity="Milwaukee", length=1)
    own = {tuple(fact.values()) for chain in found["chains"] for fact in chain["facts"]}
    assert own == {
        ("Pat Brien", "lived in", "Milwaukee"),
        ("Milwaukee", "lies in", "Wisconsin"),
        ("Milwaukee", "lies on", "Lake Michigan"),
    }


async def test_read_passage_gives_it_whole_with_its_facts(collection: Index) -> None:
    passage = await structured({"world": collection}, "read_passage", passage_id="lake")
    assert passage["text"] == "Lake Michigan is one of the Great Lakes."
    assert passage["facts"] == [{"subject": "Lake Michigan", "predicate": "one of", "object": "Great Lakes"}]


async def test_ask_reports_each_step_and_quotes_its_evidence(world: Snapshot, words: Embedder) -> None:
    told: list[tuple[float, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    replies = [
        reply(facts=[["Laughter in Hell", "directed by", "Edward Cahn"]]),
        MISSING,
        reply(query="Edward Cahn death"),
        reply(facts=[DIED]),
        reply(missing="", answerable=True, used=[2], answer="25 August 1963"),
        final("25 August 1963"),
    ]
    with Scripted(replies) as model:
        async with Client(make_server(asked(world, words, model))) as client:
            result = await client.call_tool(
                "ask", {"question": QUESTION, "method": "gear:bm25+naive_ge"}, progress_callback=listen
            )
    answer = result.structured_content
    assert answer is not None, result.content
    assert (answer["answer"], answer["supported"], answer["model_calls"]) == ("25 August 1963", True, 6)
    assert answer["evidence"][0]["words"] in "Edward Cahn was a film director. He died on 25 August 1963."
    assert [step["query"] for step in answer["steps"]] == [QUESTION, "Edward Cahn death"]
    assert [number for number, _ in told] == [1, 2]
    assert "Edward Cahn death" in str(told[1][1])


class Slow:
    """A model that answers when it is told to."""

    name = "slow"

    def __init__(self, *replies: Completion) -> None:
        self.replies = list(replies)
        self.reached, self.released = threading.Event(), threading.Event()

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        self.reached.set()
        assert self.released.wait(10)
        return [self.replies.pop(0) for _ in prompts]


async def test_an_agent_at_work_holds_up_nobody(world: Snapshot, words: Embedder) -> None:
    model = Slow(reply(facts=[DIED]), ANSWERED, final("25 August 1963"))
    async with Client(make_server(asked(world, words, model))) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "ask", {"question": QUESTION, "method": "gear:bm25+naive_ge"})
        await anyio.to_thread.run_sync(model.reached.wait)
        assert not (await client.call_tool("search", {"question": "lake"})).is_error
        model.released.set()
    assert model.replies == []


async def test_a_client_that_goes_away_pays_for_no_further_step(world: Snapshot, words: Embedder) -> None:
    model = Slow(reply(facts=[DIED]), MISSING, reply(query="Edward Cahn"), *[reply(facts=[DIED])] * 5)
    async with Client(make_server(asked(world, words, model))) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "ask", {"question": QUESTION, "method": "gear:bm25+naive_ge"})
        await anyio.to_thread.run_sync(model.reached.wait)
        threading.Timer(0.2, model.released.set).start()
        tasks.cancel_scope.cancel()
    assert len(model.replies) >= 5, "no reading of a second step"


@pytest.mark.parametrize(
    ("tool", "arguments", "words_of_it"),
    [
        ("search", {"question": "  "}, "the question is empty"),
        ("search", {"question": "x", "method": "hybird"}, "did you mean 'hybrid'?"),
        ("search", {"question": "x", "method": "gear"}, "answers, and is no search"),
        ("search", {"question": "x", "k": 0}, "greater than or equal to 1"),
        ("search", {"question": "x", "collection": "word"}, "did you mean 'world'?"),
        ("search", {}, "question"),
        ("expand", {"entity": "Laughter"}, "the nearest are 'Laughter in Hell'"),
        ("expand", {"entity": " "}, "the entity is empty"),
        ("expand", {"entity": "Milwaukee", "length": 9}, "less than or equal to 4"),
        ("read_passage", {"passage_id": "sea"}, "there is no passage 'sea'"),
        ("ask", {"question": ""}, "the question is empty"),
        ("ask", {"question": "x", "method": "hybrid"}, "put an agent in front"),
        ("ask", {"question": "x", "method": "gaer"}, "did you mean 'gear'?"),
    ],
)
async def test_bad_input_is_a_tool_error(
    collection: Index, tool: str, arguments: dict[str, Any], words_of_it: str
) -> None:
    assert words_of_it in await refused({"world": collection}, tool, **arguments)


async def test_without_a_model_ask_says_how_to_configure_one(
    collection: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRIPLEBEAM_MODEL", raising=False)
    assert "set TRIPLEBEAM_MODEL" in await refused({"world": collection}, "ask", question="x")


async def test_of_several_collections_one_must_be_named(collection: Index) -> None:
    both = {"one": collection, "two": collection}
    assert "there are one, two; name one" in await refused(both, "search", question="lake")
    assert (await structured(both, "search", question="lake", collection="two"))["passages"]


async def test_collections_may_come_while_the_server_runs(collection: Index) -> None:
    collections: dict[str, Index] = {}
    async with Client(make_server(collections)) as client:
        before = await client.call_tool("search", {"question": "lake"})
        collections["world"] = collection
        after = await client.call_tool("search", {"question": "lake"})
    assert (before.is_error, after.is_error) == (True, False)
