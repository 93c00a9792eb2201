"""`triplebeam remove`: documents out of an index."""

import json
import shutil
from pathlib import Path

import pytest

from journeys.command_line import Quick


def test_documents_are_removed(quick: Quick, small_index: Path, tiny_model: str) -> None:
    code, stdout, stderr = quick("remove", small_index, "elbe")
    assert (code, stdout) == (0, "")
    assert "1 removed, 2 documents left." in stderr
    code, stdout, _ = quick("search", small_index, "elbe river", "--method", "bm25", "--json")
    assert "elbe" not in [hit["id"] for hit in json.loads(stdout)["passages"]]


def test_as_json(quick: Quick, small_index: Path) -> None:
    code, stdout, _ = quick("remove", small_index, "elbe", "oder", "--json")
    assert code == 0
    assert json.loads(stdout) == {"removed": 2, "documents": 1, "passages": 1}


@pytest.mark.parametrize(
    ("folder", "documents", "said"),
    [
        ("small.index", ["elbee"], "there is no document 'elbee' in the index (did you mean 'elbe'?)"),
        ("small.index", ["nile", "rhine"], "there is no document 'rhine' in the index, which has 3, such as 'elbe'."),
        ("other.index", ["nile"], "there is no index at other.index"),
    ],
)
def test_what_is_not_there_is_said_and_nothing_is_removed(
    quick: Quick, small_index: Path, folder: str, documents: list[str], said: str
) -> None:
    code, stdout, message = quick("remove", folder, *documents)
    assert (code, stdout) == (2, "")
    assert said in message
    assert "\n" not in message
    assert len(json.loads(quick("search", small_index, "river", "-m", "bm25", "--json")[1])["passages"]) == 3


def test_a_folder_is_all_that_came_from_it(quick: Quick, tiny_model: str, tmp_path: Path) -> None:
    for name in ("docs/old/a.md", "docs/old/inner/b.md", "docs/older.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# Notes\n\nThis is {name}.")
    rows = [json.dumps({"id": name, "text": f"This is {name}."}) for name in ("one", "two")]
    (tmp_path / "docs/rows.jsonl").write_text("\n".join(rows))
    assert quick("index", "my.index", "docs", "--extractor", "none", "--embedder", tiny_model)[0] == 0
    shutil.rmtree(tmp_path / "docs/old")
    assert "2 removed, 3 documents left." in quick("remove", "my.index", "docs/old/")[2]
    assert "2 removed, 1 document left." in quick("remove", "my.index", "docs/rows.jsonl")[2]
    assert "there is no document '.'" in quick("remove", "my.index", ".")[2], "a slip must not empty the index"
    shutil.rmtree(tmp_path / "docs")
    assert "1 removed, 0 documents left." in quick("remove", "my.index", tmp_path / "docs")[2]
