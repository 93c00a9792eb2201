"""Filters of requests: what they need, and how many there may be."""

import errno
from pathlib import Path
from unittest.mock import Mock

import pytest
from fastapi.testclient import TestClient

from queries_only import QueriesOnly
from serve.http.small_server import Make
from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Document
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords
from written_facts import Written


def test_a_filter_opens_no_file_and_needs_the_embedder_for_the_question_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight passages of one title, which says nothing about each of them; a filter leaves four."""
    documents = [
        Document(id=f"{folder}{number}", title="Description", text=f"{folder} | has | pump {number}")
        for folder in ("Kestrel", "Falcon")
        for number in range(4)
    ]
    IndexBuilder(folder=tmp_path / "r.index", embedder=HashedWords(), extractor=Written()).build(documents)
    library = Library([tmp_path], Settings(home=tmp_path / "home", offline=True), embedder=QueriesOnly())
    with TestClient(make_app(library, keys=Keys(library.keys_file))) as client:
        client.post("/api/indexes/r/search", json={"question": "which pump?", "method": "bm25"})
        for reading in ("array", "read_bytes"):
            monkeypatch.setattr(FolderArrays, reading, Mock(side_effect=AssertionError("a file is opened")))
        for method in ("bm25", "dense", "blend"):
            body = {"question": "which pump?", "method": method, "where": 'document contains "Kestrel"'}
            response = client.post("/api/indexes/r/search", json=body)
            assert response.status_code == 200, response.text
            found = {passage["document_id"] for passage in response.json()["passages"]}
            assert found == {f"Kestrel{number}" for number in range(4)}


def test_too_many_open_files_say_so_and_pass(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a generation still cannot be opened after views went: 503 with a code of its own, and no path."""
    full = OSError(errno.EMFILE, "Too many open files", "/tmp/triplebeam-view-secret")
    opening = Mock(side_effect=full)
    with make() as client:
        monkeypatch.setattr("triplebeam.index.folder.snapshot.PassageTable", opening)
        body = {"question": "Herschel", "method": "bm25"}
        response = client.post("/api/indexes/world/search", json=body)
        assert (response.status_code, response.json()["error"]["code"]) == (503, "too_many_open_files")
        assert "ulimit -n" in response.json()["error"]["message"]
        assert "secret" not in response.text
        assert opening.call_count == 2, "once more, after what can be spared has gone"
        monkeypatch.undo()
        assert client.post("/api/indexes/world/search", json=body).status_code == 200
