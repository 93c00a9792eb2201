"""Searches of the user's own as bases: functions, documents that must be matched to passages, expansion and agents."""

import re
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from scripted_loops import final, reply
from small_world import WORLD
from tables import read_table
from triplebeam.adapters.retriever import KnownPassages, from_function
from triplebeam.assemble import Index, open_index
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, ExtraMissingError, install_command
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.agent import EvidenceAgent
from triplebeam.methods.gear import NaiveGE, SyncGE
from triplebeam.passage import Passage
from triplebeam.retrieve.retriever import Retriever
from triplebeam.testing.contracts import RetrieverContract
from triplebeam.testing.scripted import Scripted

EXAMPLES = Path(__file__).parents[2] / "examples"


def longest(query: str, k: int) -> Iterable[str]:
    return sorted(WORLD, key=lambda id_: -len(WORLD[id_][1]))[:k]


class TestAFunction(RetrieverContract):
    @pytest.fixture
    def retriever(self, index: Index) -> Retriever:
        return from_function(longest, index)


def test_a_passage_that_comes_twice_counts_once(index: Index) -> None:
    base = from_function(lambda query, k: ["lake", "city", "lake", "film"], index)
    assert base.retrieve("any", 3).ids == ["lake", "city", "film"]


def test_expansion_finds_what_the_function_did_not(index: Index) -> None:
    base = from_function(lambda query, k: ["film"], index)
    assert "director" in index.expand(base).retrieve("When did the director of Laughter in Hell die?").ids


def test_an_unknown_id_and_an_unknown_expansion_are_reported(index: Index) -> None:
    with pytest.raises(BadInputError, match="your search gave the id 'sea'"):
        from_function(lambda query, k: ["sea"], index).retrieve("any")
    with pytest.raises(BadInputError, match="did you mean 'naive_ge'"):
        index.expand(from_function(longest, index), expansion="naive")
    with pytest.raises(BadInputError, match="a score for every passage"):
        index.expand(from_function(longest, index), expansion="gnn_ret")


class TestAgentsOverYourOwn:
    @pytest.fixture
    def model(self) -> Scripted:
        died = ["Edward Cahn", "died on", "25 August 1963"]
        verdict = reply(missing="", answerable=True, used=[1], answer="25 August 1963")
        return Scripted([reply(facts=[died]), verdict, final("25 August 1963")])

    @pytest.fixture
    def asked(self, world: Snapshot, words: Embedder, model: Scripted) -> Index:
        return open_index(world.folder, embedder=words, model=model)

    def test_gear_reads_expands_and_links_by_it(self, asked: Index) -> None:
        queries: list[str] = []

        def film_only(query: str, k: int) -> list[str]:
            queries.append(query)
            return ["film"]

        agent = asked.agent("agent[fall_back=no]", base=from_function(film_only, asked))  # the fact is in no passage
        answer = agent.answer("When did the director of Laughter in Hell die?")
        assert answer.text == "25 August 1963"
        assert "director" in answer.ranking.ids
        assert queries == ["When did the director of Laughter in Hell die?", "Edward Cahn died on 25 August 1963"]

    def test_what_is_expanded_already_is_taken_as_it_is(self, asked: Index) -> None:
        base = from_function(longest, asked)
        walked = asked.expand(base, expansion="naive_ge")
        agent = asked.agent("agent[max_steps=2]", base=walked)
        assert isinstance(agent, EvidenceAgent)
        assert agent.retriever is walked
        assert isinstance(walked, NaiveGE)
        assert agent.passage_link.passages is base
        plain = asked.agent("agent", base=base)
        assert isinstance(plain, EvidenceAgent)
        assert isinstance(plain.retriever, SyncGE)
        assert (plain.retriever.base, plain.retriever.base_k) == (base, 10)

    def test_one_base_is_enough(self, asked: Index) -> None:
        with pytest.raises(BadInputError, match="leave out one of the two"):
            asked.agent("agent:bm25", base=from_function(longest, asked))
        with pytest.raises(BadInputError, match="answers without passages"):
            asked.agent("closed_book", base=from_function(longest, asked))


class TestWhichPassageADocumentIs:
    @pytest.fixture
    def passages(self) -> list[Passage]:
        return [
            Passage("1", "Lake Michigan is a lake.", "Lakes"),
            Passage("2", "The same.", "One"),
            Passage("3", "The same.", "Two"),
        ]

    @pytest.mark.parametrize(("ids", "text", "expected"), read_table(__file__, "test_by_id_or_by_text"))
    def test_by_id_or_by_text(
        self, passages: list[Passage], ids: list[object], text: str | None, expected: str
    ) -> None:
        assert KnownPassages(passages).find(ids, text) == expected

    def test_none_of_them_is_reported_with_what_to_do(self, passages: list[Passage], index: Index) -> None:
        for source in (passages, index):
            with pytest.raises(BadInputError, match="metadata under 'key', or index the same texts") as told:
                KnownPassages(source, "key").find([None, "a7f"], "Lake Michigan is a very large lake. " * 9)
            assert "(ids: 'a7f')" in str(told.value)
            assert len(str(told.value)) < 300


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("adapters.langchain", "langchain_core", "langchain"),
        ("adapters.llama_index", "llama_index", "llama-index"),
        ("adapters.haystack", "haystack", "haystack"),
        ("serve.mcp", "mcp", "mcp"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(
    module: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(f"triplebeam.{module}")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.setitem(sys.modules, name, None)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, library, None)  # type: ignore[arg-type]
    with pytest.raises(ExtraMissingError, match=re.escape(install_command(extra))):
        __import__(f"triplebeam.{module}")


@pytest.mark.slow
@pytest.mark.xdist_group("demo")
@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*_retriever.py")))
def test_the_examples_run(
    name: str, demo_index: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRIPLEBEAM_HOME", str(home))
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "false")
    monkeypatch.setattr(sys, "argv", [name, str(demo_index)])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    printed = capsys.readouterr().out
    assert "uranus" in printed, "what the base found"
    assert "william-herschel" in printed, "what only the walk finds"
