"""`triplebeam status`: what is in an index, and whether its files are as they should be."""

import json
import shutil
from pathlib import Path

import pytest

from journeys.command_line import Quick


def test_the_store_is_looked_at(quick: Quick, small_index: Path) -> None:
    store = small_index / "store.sqlite"
    code, stdout, _ = quick("status", small_index)
    assert code == 0
    assert "store  3 documents, 0.1 MB, format 1\n" in stdout
    shown = json.loads(quick("status", small_index, "--json")[1])
    assert shown["store"]["documents"] == shown["counts"]["documents"] == 3
    assert shown["store"]["revision"] == shown["revision"]
    content = store.read_bytes()
    for damaged in (content[:-1], content[: len(content) // 2], b"no database" * 1000):
        store.write_bytes(damaged)
        code, _, said = quick("status", small_index)
        assert (code, "store.sqlite is not a usable SQLite file" in said) == (2, True)
    store.unlink()
    code, stdout, _ = quick("status", small_index)
    assert (code, "missing: the index can be searched, but not added to" in stdout) == (0, True)
    assert json.loads(quick("status", small_index, "--json")[1])["store"] is None


def test_changes_that_are_not_published_are_named(
    quick: Quick, small_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("triplebeam.index.folder.publish.FolderPublisher.publish", killed)
        quick("remove", small_index, "elbe")
    stdout = quick("status", small_index)[1]
    assert "store  2 documents" in stdout
    assert "it has changes that are not published" in " ".join(stdout.split())


def test_an_index_without_its_manifest_knows_its_embedder(quick: Quick, small_index: Path) -> None:
    (small_index / "manifest.json").unlink()
    shutil.rmtree(small_index / "generations")
    code, _, said = quick("repair", small_index)
    assert code == 0, said
    assert quick("search", small_index, "river", "--method", "dense")[0] == 0
