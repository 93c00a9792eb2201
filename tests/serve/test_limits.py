"""How much work one request may mean: there are few threads for searches, and each ends at its next step at best.

A search that is past its time limit does no more than the step or the batch of texts it is at.
"""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from patience import SECONDS
from serve.asking.served_world import library_over, wait_until
from tables import read_table
from triplebeam.assemble.table import ask_methods, search_methods
from triplebeam.embed.embedder import Kind
from triplebeam.errors import BadInputError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Document
from triplebeam.serve.limits import UNLIMITED, Limits
from triplebeam.serve.running import Runner, TimeLimitError
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
