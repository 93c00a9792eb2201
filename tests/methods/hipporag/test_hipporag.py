"""HippoRAG against its transcription, the ways to a query's entities, and what it does without any."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_graphs import Drawn, OneHot, drawn_graphs
from oracles.hipporag import hipporag
from scripted_loops import Anywhere
from trials import examples
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import account
from triplebeam.index.folder.entity_graph import MIN_LARGE_GRAPH
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.hipporag.hipporag import HippoRAG, VerbatimEntities
from triplebeam.methods.hipporag.query_entities import GivenQueryEntities, LLMQueryEntities
from triplebeam.testing.scripted import Scripted


def name_always(*names: str) -> Any:
    return SimpleNamespace(entities=lambda query: names)


@settings(max_examples=examples(80), deadline=None)
@given(
    drawn=drawn_graphs(),
    data=st.data(),
    damping=st.sampled_from([0.2, 0.5]),
    specificity=st.booleans(),
    large=st.sampled_from([0, MIN_LARGE_GRAPH]),
)
def test_agrees_with_the_transcription(
    drawn: Drawn, data: st.DataObject, damping: float, specificity: bool, large: int
) -> None:
    """So does the walk by pushing over a large graph, where everything is worth a look."""
    linked = data.draw(st.lists(st.sampled_from(drawn.entities), min_size=1, max_size=3))
    walk = {"damping": damping, "node_specificity": specificity, "tolerance": 1e-9}
    graph = replace(drawn.graph(), large=large)
    over: dict[str, Any] = {"graph": graph, "embedder": OneHot(), "passages": drawn, "fallback": Anywhere()}
    method = HippoRAG(query_entities=name_always(*linked), **over, **walk)
    expected = hipporag(drawn.triples, drawn.synonyms, linked, damping, specificity)
    with mock.patch("triplebeam.methods.hipporag.hipporag._MIN_RESIDUAL", 1e-12):
        found = {hit.passage_id: hit.score for hit in method.retrieve("?", 100)}
    assert found == pytest.approx({passage: score for passage, score in expected.items() if score > 0}, abs=1e-6)


def test_a_passage_two_steps_away_is_found(world: Snapshot, words: Embedder) -> None:
    ranking = HippoRAG.over(world, words, name_always("Laughter in Hell")).retrieve("When did the director die?")
    assert ranking.ids[:2] == ["film", "actor"]
    assert "director" in ranking.ids, "joined through Edward Cahn"
    assert "other" not in ranking.ids, "it has no triples"


def test_a_name_is_linked_to_the_nearest_entity_once(world: Snapshot, words: Embedder) -> None:
    method = HippoRAG.over(world, words, name_always())
    seeds = method.link(["the lake Michigan", "Lake Michigan", "Edward Cahn Senior"])
    assert [world.entities.names[seed] for seed in seeds] == ["Lake Michigan", "Edward Cahn"]


def test_without_entities_it_falls_back_and_says_so(world: Snapshot, words: Embedder) -> None:
    method = HippoRAG.over(world, words, name_always())
    with account() as spent:
        ranking = method.retrieve("lake", 3)
    assert ranking == method.fallback.retrieve("lake", 3)
    assert spent.problems == ["no entity of 'lake' is in the graph: falls back to Dense"]


def test_a_synonym_threshold_below_what_is_stored_is_refused(world: Snapshot, words: Embedder) -> None:
    with pytest.raises(BadInputError, match=r"at least 0\.8, got 0\.5"):
        HippoRAG.over(world, words, name_always("lake"), synonym_threshold=0.5).retrieve("lake")


class TestLLM:
    def test_a_model_names_them(self) -> None:
        with Scripted(['{"entities": ["Oslo ", 1889, "", null, "Oslo"]}']) as model:
            assert LLMQueryEntities(model=model).entities("Was Oslo there in 1889?") == ["Oslo", "1889"]
        assert model.prompts[0].user == "Question: Was Oslo there in 1889?"

    def test_a_query_without_words_is_not_asked(self) -> None:
        assert LLMQueryEntities(model=Scripted([])).entities("  ") == []

    def test_a_reply_that_is_no_use_is_noted(self) -> None:
        with account() as spent:
            assert LLMQueryEntities(model=Scripted(["?", "?"])).entities("Who?") == []
        assert len(spent.problems) == 1


class TestGiven:
    ROWS = (
        {"id": "1", "question": "Where is Oslo?", "entities": ["Oslo"]},
        {"id": "2", "question": "Why?", "entities": []},
        {"id": "3", "question": "Where is Oslo? ", "entities": ["Norway", "Oslo"]},
    )

    @pytest.mark.parametrize("name", ["entities.jsonl", "entities.jsonl.gz"])
    def test_found_by_the_question(self, tmp_path: Path, name: str) -> None:
        content = "\n\n".join(map(json.dumps, self.ROWS)).encode()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        given = GivenQueryEntities(tmp_path / name)
        assert given.entities("Where is Oslo?") == ["Oslo", "Norway"]
        assert given.entities("Why?") == []
        with pytest.raises(BadInputError, match="no entities for the question 'Who\\?'"):
            given.entities("Who?")

    @pytest.mark.parametrize("line", ["{", "[]", '{"question": "a"}', '{"entities": []}', '{"question": 1}'])
    def test_a_bad_line_is_named(self, tmp_path: Path, line: str) -> None:
        (tmp_path / "e.jsonl").write_text(f'{{"question": "a", "entities": []}}\n{line}\n')
        with pytest.raises(BadInputError, match="line 2"):
            GivenQueryEntities(tmp_path / "e.jsonl").entities("a")

    def test_a_bad_file_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "e.jsonl.gz").write_text("not gzip")
        for name in ("e.jsonl.gz", "nowhere.jsonl"):
            with pytest.raises(BadInputError, match=name):
                GivenQueryEntities(tmp_path / name).entities("a")


class TestVerbatim:
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("Does LAKE Michigan lie near milwaukee?", ["Lake Michigan", "Milwaukee"]),
            ("Milwaukee or Lake-Michigan? Milwaukee!", ["Lake Michigan", "Milwaukee"]),
            ("Is the drama film Laughter in Hell older?", ["Laughter in Hell", "drama film"]),
            ("Michigan, Cahn and lakes", []),
            ("", []),
        ],
    )
    def test_longest_first(self, world: Snapshot, query: str, expected: list[str]) -> None:
        assert VerbatimEntities(world.entities).entities(query) == expected

    def test_a_word_belongs_to_one_name(self, world: Snapshot) -> None:
        class Graph:
            names = ("New York", "New York City", "City", "who")
            numbers = {"new york": 0, "new york city": 1, "city": 2, "who": 3}  # noqa: RUF012

        found = VerbatimEntities(Graph())  # type: ignore[arg-type]
        assert found.entities("Who runs New York City?") == ["New York City"]
        assert found.entities("Who built the city of New York?") == ["New York", "City"]
