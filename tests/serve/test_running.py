"""How much work one request may mean, and searches of many callers at once: each gets what it would get alone."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from patience import SECONDS
from planted_secrets import QUESTION, WHERE, build, find_leaks
from serve.asking.served_world import library_over, wait_until
from small_world import WordEmbedder
from tables import read_table
from triplebeam.assemble import IndexReader, context_of
from triplebeam.assemble.table import ask_methods, search_methods
from triplebeam.embed.embedder import Kind
from triplebeam.errors import BadInputError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document
from triplebeam.serve.cli.serve import start_warm_up
from triplebeam.serve.library import Library
from triplebeam.serve.limits import UNLIMITED, Limits
from triplebeam.serve.running import Runner, Searched, TimeLimitError
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords
from written_facts import Written

TOO_MUCH = read_table(__file__, "TOO_MUCH")


@pytest.mark.parametrize("method", TOO_MUCH)
def test_too_much_work_is_refused_in_a_sentence(method: str) -> None:
    with pytest.raises(BadInputError, match=TOO_MUCH[method]):
        Limits().check("Who?", method)


#: What the papers vary.
VARIED = ("hybrid+naive_ge[scorer=exact,diversity=inf]", "hybrid+naive_ge[width=20,length=4]")


@pytest.mark.parametrize("method", [*search_methods(), *ask_methods(), *VARIED])
def test_every_method_is_within_the_limits_by_default(method: str) -> None:
    Limits().check("Who?", method)


def test_a_model_over_stdio_may_ask_at_length_but_not_for_endless_work() -> None:
    UNLIMITED.check("Who?" * 10_000, "hipporag2[damping=0.9]")
    with pytest.raises(BadInputError, match=r"at most 0\.99"):
        UNLIMITED.check("Who?", "hipporag2[damping=0.999999]")


METHOD = "hybrid+naive_ge[scorer=exact,width=2,length=6,neighbours=4]"


class HeldEmbedder(HashedWords):
    """Counts how often chains are encoded, and takes as long for it as nobody lets it go."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()
        self.calls = 0

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        if kind == "passage":
            self.calls += 1
            assert self.free.wait(SECONDS)
        return super().embed(texts, kind)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A chain of ten facts."""
    documents = [Document(id=f"d{n}", text=f"lake {n} | flows to | lake {n + 1}") for n in range(10)]
    IndexBuilder(folder=tmp_path / "i.index", embedder=HashedWords(), extractor=Written()).build(documents)
    return tmp_path


def runner(folder: Path, embedder: HashedWords, seconds: float) -> Runner:
    return Runner(library_over(folder, home=folder / "home", embedder=embedder), Limits(search_seconds=seconds))


def test_a_walk_ends_at_its_time_limit(folder: Path) -> None:
    unhurried = HeldEmbedder()
    unhurried.free.set()
    assert asyncio.run(runner(folder, unhurried, SECONDS).search("i", "Where does lake 1 flow to?", METHOD, 5)).results
    assert unhurried.calls == 5, "one for each step after the first"
    held = HeldEmbedder()
    running = runner(folder, held, 0.2)
    with pytest.raises(TimeLimitError):
        asyncio.run(running.search("i", "Where does lake 1 flow to?", METHOD, 5))
    held.free.set()
    wait_until(lambda: not running.busy)
    assert held.calls <= 1, "no step after the time limit"


def test_a_search_that_its_caller_has_left_ends_as_well(folder: Path) -> None:
    held = HeldEmbedder()
    running = runner(folder, held, SECONDS)

    async def leave() -> None:
        search = asyncio.create_task(running.search("i", "Where does lake 1 flow to?", METHOD, 5))
        while not held.calls:
            await asyncio.sleep(0.005)
        search.cancel()
        await asyncio.gather(search, return_exceptions=True)

    asyncio.run(leave())
    held.free.set()
    wait_until(lambda: not running.busy)
    assert held.calls == 1


QUESTIONS = (QUESTION, "Where does Ada Lovelace work?", "Who guards Bath?", "What was built in 1781?")
PERSON = 'kind = "person"'


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("together")
    build(folder / "papers.index")
    return library_over(folder, home=folder / "home", embedder=HashedWords())


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """The filter and the questions of every search that is made."""
    made: list[tuple[str, list[str]]] = []
    search_many = IndexReader._search_many

    def record_call(index: IndexReader, questions: Sequence[str], *args: Any, **kwargs: Any) -> Any:
        made.append((context_of(index).filter_text, list(questions)))
        return search_many(index, questions, *args, **kwargs)

    monkeypatch.setattr(IndexReader, "_search_many", record_call)
    return made


async def at_once(runner: Runner, asked: Sequence[tuple[Library, str, str | None]], **wanted: Any) -> list[Any]:
    """All of them wait for the only thread, which is kept busy until they do."""
    busy = threading.Event()
    holding = asyncio.create_task(runner.run(busy.wait, SECONDS))
    searches = [
        asyncio.create_task(
            runner.over(library).search("papers", question, wanted.get("method", "blend"), 3, where=where)
        )
        for library, question, where in asked
    ]
    while runner.counts["searches waiting"] < len(asked) and not all(search.done() for search in searches):
        await asyncio.sleep(0.001)
    busy.set()
    found = await asyncio.gather(*searches, return_exceptions=True)
    await holding
    return found


def write_shown(searched: Searched) -> dict[str, Any]:
    written: dict[str, Any] = searched.results.to_dict()
    for passage in written["passages"]:
        passage["score"] = pytest.approx(passage["score"], rel=1e-4)
    return written


def test_nobody_gets_what_another_may_see(library: Library) -> None:
    runner = Runner(library, Limits(searches=1))
    views = [library, library.seen_with("papers", WHERE), library.seen_with("papers", PERSON)]
    wheres = (None, PERSON, 'year = "2020"')
    asked = [(view, question, where) for question in QUESTIONS for view in views for where in wheres]
    together = asyncio.run(at_once(runner, asked))
    alone = Runner(library, Limits(searches=1))
    for (view, question, where), found in zip(asked, together, strict=True):
        own = asyncio.run(alone.over(view).search("papers", question, "blend", 3, where=where))
        assert write_shown(found) == write_shown(own)
        if view is not library:
            assert not find_leaks(str(found.results.to_dict()))


def test_a_caller_past_its_time_limit_is_left_out_and_hurts_nobody(
    library: Library, calls: list[tuple[str, list[str]]]
) -> None:
    async def scenario() -> tuple[Any, Searched]:
        runner = Runner(library, Limits(searches=1))
        hasty = Runner(library, Limits(search_seconds=0.05))
        hasty._searches = runner._searches
        busy = threading.Event()
        holding = asyncio.create_task(runner.run(busy.wait, SECONDS))
        late = asyncio.create_task(hasty.search("papers", QUESTIONS[0], "blend", 3))
        patient = asyncio.create_task(runner.search("papers", QUESTIONS[1], "blend", 3))
        (error,) = await asyncio.gather(late, return_exceptions=True)
        busy.set()
        await holding
        return error, await patient

    error, searched = asyncio.run(scenario())
    assert isinstance(error, TimeLimitError)
    assert searched.results
    assert [batch for _, batch in calls] == [[QUESTIONS[1]]]


def test_an_unknown_index_is_said_to_each(library: Library) -> None:
    async def scenario() -> list[Any]:
        runner = Runner(library, Limits(searches=1))
        searches = [runner.search("nothing", question, "blend", 3) for question in QUESTIONS]
        return await asyncio.gather(*searches, return_exceptions=True)

    assert all("there is no index 'nothing'" in str(error) for error in asyncio.run(scenario()))


@pytest.mark.parametrize(("name", "warmed"), [(None, True), ("openai:text-embedding-3-small", False)])
def test_the_embedder_is_used_once_unless_it_costs_money(
    world: Snapshot, tmp_path: Path, name: str | None, warmed: bool
) -> None:
    library = Library([world.folder], Settings(home=tmp_path, model=None, embedder=name), embedder=WordEmbedder())
    with patch.object(WordEmbedder, "embed", autospec=True, side_effect=WordEmbedder.embed) as embed:
        start_warm_up(library).join(SECONDS)
    assert embed.called == warmed


@pytest.mark.parametrize("folder", ["empty", "damaged.index"])
def test_what_cannot_be_searched_is_left_to_the_first_search(tmp_path: Path, folder: str) -> None:
    (tmp_path / "data" / folder).mkdir(parents=True)
    thread = start_warm_up(library_over(tmp_path / "data", home=tmp_path, embedder=None))
    thread.join(SECONDS)
    assert not thread.is_alive()
