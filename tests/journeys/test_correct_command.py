"""`triplebeam correct`: a file of corrections, kept with the index."""

import json
from pathlib import Path

import pytest

from journeys.command_line import Quick

LINES = (
    '# rivers\n{"drop": ["Elbe", "flows", "*"]}\n{"add": ["Oder", "flows", "north"], "document": "oder"}\n'
    '{"merge": ["nile"], "into": "River Nile"}\n{"drop": ["Rhine", "*", "*"]}\n'
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "corrections.jsonl"
    path.write_text(LINES)
    return path


def triples(quick: Quick, index: Path) -> list[str]:
    return [line.strip() for line in quick("show", index, "--triples")[1].splitlines() if "|" in line]


def test_corrections_are_tried_made_shown_and_taken_back(
    quick: Quick, small_index: Path, file: Path, tiny_model: str
) -> None:
    before = triples(quick, small_index)
    code, stdout, said = quick("correct", small_index, file, "--dry-run")
    assert (code, stdout) == (0, "")
    assert 'line 2: 1 triple: {"drop": ["Elbe", "flows", "*"]}' in said
    assert 'line 5: matches nothing: {"drop": ["Rhine", "*", "*"]}' in said
    assert "4 corrections; 1 triple would be dropped, 1 would be added, 1 would be renamed." in said
    assert triples(quick, small_index) == before
    assert quick("correct", small_index) == (0, "", f"{small_index} has no corrections.\n")

    code, _, said = quick("correct", small_index, file, "--embedder", tiny_model)
    assert code == 0
    assert "4 corrections; 1 triple dropped, 1 added, 1 renamed." in said
    assert triples(quick, small_index) == ["River Nile | flows | north", "Oder | flows | north"]
    assert quick("correct", small_index)[1] == LINES
    assert (
        "4 lines (triples: 1 dropped, 1 added, 1 renamed); matching nothing now: line 5"
        in quick("status", small_index)[1]
    )
    counts = json.loads(quick("status", small_index, "--json")[1])["corrections"]
    assert counts == {
        "lines": {"drop": 2, "add": 1, "merge": 1},
        "triples": {"drop": 1, "add": 1, "merge": 1},
        "unmatched": [5],
    }
    shown = json.loads(quick("correct", small_index, "--json")[1])
    assert shown["unmatched"] == [5]
    assert shown["lines"][0] == {
        "line": 2,
        "kind": "drop",
        "triples": 1,
        "correction": {"drop": ["Elbe", "flows", "*"]},
    }

    assert quick("correct", small_index, "--remove", "--embedder", tiny_model)[0] == 0
    assert triples(quick, small_index) == before


def test_what_is_wrong_is_said_and_nothing_is_changed(quick: Quick, small_index: Path, file: Path) -> None:
    file.write_text('{"drop": ["Elbe", "flows", "*"]}\n{"drop": ["Elbe"]}\n')
    code, stdout, said = quick("correct", small_index, file)
    assert (code, stdout) == (2, "")
    assert said == f'{file}, line 2: this line needs "drop" with a subject, a predicate and an object.'
    assert len(triples(quick, small_index)) == 2
    file.write_text("# none\n")
    assert f"`triplebeam correct {small_index} --remove`" in quick("correct", small_index, file)[2]
    file.write_text('{"add": ["Oder", "is", "long"], "document": "odre"}\n')
    said = quick("correct", small_index, file, "--dry-run")[2]
    assert "line 1: there is no document 'odre' in the index (did you mean 'oder'?); the triple is added once" in said
    assert "1 correction; 0 triples would be dropped" in said
    assert "give only one of them" in quick("correct", small_index, file, "--remove")[2]
    assert "there is no index at nowhere" in quick("correct", "nowhere", "--remove", "--dry-run")[2]
