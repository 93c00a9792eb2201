"""Searches of many callers at once: what each gets is what it would get alone, and never another's passages.

A server loads its weights before anybody searches.
"""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from patience import SECONDS
from planted_secrets import QUESTION, WHERE, build, find_leaks
from serve.asking.served_world import library_over
from small_world import WordEmbedder
from triplebeam.assemble import IndexReader, context_of
from triplebeam.embed.embedder import Kind
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.cli.serve import start_warm_up
from triplebeam.serve.library import Library
from triplebeam.serve.limits import Limits
from triplebeam.serve.running import Runner, Searched, TimeLimitError
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords

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


class Counting(WordEmbedder):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        self.asked.extend(texts)
        return super().embed(texts, kind)


@pytest.mark.parametrize(("name", "warmed"), [(None, True), ("openai:text-embedding-3-small", False)])
def test_the_embedder_is_used_once_unless_it_costs_money(
    world: Snapshot, tmp_path: Path, name: str | None, warmed: bool
) -> None:
    embedder = Counting()
    library = Library([world.folder], Settings(home=tmp_path, model=None, embedder=name), embedder=embedder)
    start_warm_up(library).join(SECONDS)
    assert bool(embedder.asked) == warmed


@pytest.mark.parametrize("folder", ["empty", "damaged.index"])
def test_what_cannot_be_searched_is_left_to_the_first_search(tmp_path: Path, folder: str) -> None:
    (tmp_path / "data" / folder).mkdir(parents=True)
    thread = start_warm_up(library_over(tmp_path / "data", home=tmp_path, embedder=None))
    thread.join(SECONDS)
    assert not thread.is_alive()
