"""The three ways to a query's entities."""

import gzip
import json
from pathlib import Path

import pytest

from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import account
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.hipporag.query_entities import GivenQueryEntities, LLMQueryEntities, VerbatimEntities
from triplebeam.testing.scripted import Scripted


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
