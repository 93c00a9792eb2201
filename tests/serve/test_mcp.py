"""The tools of the Model Context Protocol, through the SDK's own client, in this process."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest
from mcp.client import Client
from mcp.server import MCPServer

from scripted_loops import BAD, Gone, reply
from serve.asking.served_world import QUESTION, UntilCancelled, library_over, stands_still, wait_until
from serve.http.bound_tools import call_refused
from tables import read_table
from triplebeam.assemble import DEFAULT_METHOD, Index
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.limits import UNLIMITED
from triplebeam.serve.mcp import make_server
from triplebeam.serve.running import Runner
from triplebeam.testing.scripted import Scripted

pytestmark = pytest.mark.anyio

Served: TypeAlias = Callable[..., MCPServer[None]]

GRAPH = "hybrid+naive_ge"
DIED = ("Edward Cahn", "died on", "25 August 1963")
MISSING = reply(missing="when he died", answerable=False, used=[], answer="", query="Edward Cahn death")
ANSWERED = reply(missing="", answerable=True, used=[1], answer="25 August 1963")


@pytest.fixture
def served(world: Snapshot, tmp_path: Path) -> Served:
    """Makes a server over the small world."""

    def made(*folders: Path, model: LanguageModel | None = None) -> MCPServer[None]:
        library = library_over(*folders or [world.folder], home=tmp_path, model=model)
        return make_server(Runner(library, UNLIMITED))

    return made


async def call_structured(server: MCPServer[None], tool: str, **arguments: Any) -> Any:
    async with Client(server) as client:
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def test_every_tool_says_what_it_takes_and_gives_and_that_it_changes_nothing(served: Served) -> None:
    async with Client(served()) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == ["search", "expand", "ask", "read_passage"]
    for tool in tools.values():
        hints = tool.annotations
        assert hints
        assert (hints.read_only_hint, hints.idempotent_hint, hints.open_world_hint) == (True, True, False)
        assert tool.output_schema
        assert "\n\nUse it " in (tool.description or ""), "when to choose this one"
        assert all(each["description"] for each in tool.input_schema["properties"].values())
    assert tools["search"].input_schema["required"] == ["question"]
    assert "context" not in tools["ask"].input_schema["properties"]


async def test_search_gives_passages_and_chains(served: Served, index: Index) -> None:
    found = await call_structured(served(), "search", question=QUESTION, method=GRAPH, k=4)
    assert found["method"] == GRAPH
    assert [passage["id"] for passage in found["passages"]] == index.search(QUESTION, method=GRAPH, k=4).ids
    chains = [chain for passage in found["passages"] for chain in passage["chains"]]
    assert "Laughter in Hell – directed by → Edward Cahn" in " ".join(chains)


async def test_search_by_the_default_and_by_a_plain_method(served: Served) -> None:
    remarked = await call_structured(served(), "search", question="asdf qwer")
    assert remarked["remark"].startswith("No word of the question occurs in these passages")
    found = await call_structured(served(), "search", question="lake")
    assert (found["method"], "remark" in found) == (DEFAULT_METHOD, False)
    found = await call_structured(served(), "search", question="lake", method="bm25", k=1)
    assert [(passage["id"], passage["chains"]) for passage in found["passages"]] == [("lake", [])]


async def test_expand_follows_an_entity_towards_a_question(served: Served) -> None:
    found = await call_structured(
        served(), "expand", entity="laughter IN hell", question="Edward Cahn died on 25 August 1963"
    )
    assert found["entity"] == "Laughter in Hell"
    ends = [chain["facts"][-1]["object"] for chain in found["chains"]]
    assert "25 August 1963" in ends
    best = found["chains"][ends.index("25 August 1963")]
    assert best["passage_ids"] == ["film", "director"]


async def test_expand_by_one_gives_the_entity_s_own_facts(served: Served) -> None:
    found = await call_structured(served(), "expand", entity="Milwaukee", length=1)
    own = {tuple(fact.values()) for chain in found["chains"] for fact in chain["facts"]}
    assert own == {
        ("Pat Brien", "lived in", "Milwaukee"),
        ("Milwaukee", "lies in", "Wisconsin"),
        ("Milwaukee", "lies on", "Lake Michigan"),
    }


async def test_read_passage_gives_it_whole_with_its_facts(served: Served) -> None:
    passage = await call_structured(served(), "read_passage", passage_id="lake")
    assert passage["text"] == "Lake Michigan is one of the Great Lakes."
    assert passage["facts"] == [{"subject": "Lake Michigan", "predicate": "one of", "object": "Great Lakes"}]


async def test_ask_reports_each_step_and_quotes_its_evidence(served: Served) -> None:
    told: list[tuple[float, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    replies = [
        reply(facts=[["Laughter in Hell", "directed by", "Edward Cahn"], DIED]),
        MISSING,
        reply(facts=[]),
        reply(missing="", answerable=True, used=[2], answer="25 August 1963"),
    ]
    with Scripted(replies) as model:
        async with Client(served(model=model)) as client:
            result = await client.call_tool(
                "ask", {"question": QUESTION, "method": "agent:bm25+naive_ge"}, progress_callback=listen
            )
    answer = result.structured_content
    assert answer is not None, result.content
    assert (answer["answer"], answer["supported"], answer["model_calls"]) == ("25 August 1963", True, 4)
    assert (answer["outcome"], answer["others"], answer["missing"]) == ("answered", [], [])
    [quote] = answer["evidence"]
    assert quote["words"] in "Edward Cahn was a film director. He died on 25 August 1963."
    assert (quote["title"], quote["from_memory"]) == ("Edward Cahn", False)
    assert [step["query"] for step in answer["steps"]] == [QUESTION, "Edward Cahn death"]
    assert [number for number, _ in told] == [1, 2]
    assert "Edward Cahn death" in str(told[1][1])


@pytest.mark.parametrize(
    ("model", "said"), [(Gone(), "does not answer"), (Scripted([BAD, BAD]), "begins with 'no idea'")]
)
async def test_ask_with_a_model_that_fails_gives_the_passages(served: Served, model: LanguageModel, said: str) -> None:
    answer = await call_structured(served(model=model), "ask", question=QUESTION, method="read")
    assert (answer["outcome"], answer["answer"], answer["missing"]) == ("model_failed", "", [])
    assert said in answer["ending"]
    assert answer["passages"][0]["id"] == "film"


async def test_a_client_that_goes_away_pays_for_no_further_step(served: Served) -> None:
    model = UntilCancelled()
    async with Client(served(model=model)) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "ask", {"question": QUESTION, "method": "agent:bm25+naive_ge"})
        await anyio.to_thread.run_sync(model.asked.wait)
        tasks.cancel_scope.cancel()
    await anyio.to_thread.run_sync(wait_until, lambda: model.calls)
    assert stands_still(model)
    assert model.calls <= 1, "no reading of a second step"


@pytest.mark.parametrize(("tool", "arguments", "words_of_it"), read_table(__file__, "test_bad_input_is_a_tool_error"))
async def test_bad_input_is_a_tool_error(
    served: Served, tool: str, arguments: dict[str, Any], words_of_it: str
) -> None:
    assert words_of_it in await call_refused(served(), tool, **arguments)


async def test_indexes_may_be_created_and_of_several_one_must_be_named(
    served: Served, world: Snapshot, tmp_path: Path
) -> None:
    both = served(tmp_path)
    assert await call_refused(both, "search", question="lake")
    shutil.copytree(world.folder, tmp_path / "one.index")
    assert (await call_structured(both, "search", question="lake"))["passages"]
    shutil.copytree(world.folder, tmp_path / "two.index")
    assert "there are one, two; name one" in await call_refused(both, "search", question="lake")
    assert (await call_structured(both, "search", question="lake", index="two"))["passages"]
