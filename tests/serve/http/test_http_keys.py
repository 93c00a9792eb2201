"""Keys, and what may be done without one.

Filters of requests: what they need, and how many there may be.
"""

import errno
import stat
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from fastapi.testclient import TestClient

from queries_only import QueriesOnly
from serve.http.small_server import Make, error_of
from triplebeam.errors import BadInputError, TriplebeamError
from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Document
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Access, Keys
from triplebeam.serve.library import Library
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords
from written_facts import Written


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_a_key_is_kept_as_its_hash_in_a_file_of_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    keys = Keys(path)
    assert not keys.on
    key = keys.create("read", "mine")
    assert len(key) > 40
    assert key not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert keys.on
    assert (keys.access_of(key), keys.access_of(key + "x"), keys.access_of("")) == (Access(role="read"), None, None)
    with pytest.raises(BadInputError, match="already"):
        keys.create("read", "mine")
    with pytest.raises(BadInputError, match="there are mine"):
        keys.delete("other")
    keys.delete("mine")
    assert keys.access_of(key) is None


@pytest.mark.parametrize("content", ["", '{"a": 1}', '[{"name": "me"', "[[[[", "\0" * 100])
def test_a_file_that_is_no_list_of_keys_opens_nothing(make: Make, data: Path, content: str) -> None:
    keys = Keys(data / "keys.json")
    key = keys.create("write")
    with make(keys=keys) as client:
        assert client.get("/api/indexes", headers=bearer(key)).status_code == 200
        (data / "keys.json").write_text(content)
        for path, headers in (("/api/indexes", bearer(key)), ("/api/indexes", {}), ("/ready", {}), ("/mcp", {})):
            code, message = error_of(client.get(path, headers=headers), 503)
            assert code == "keys_damaged"
            assert "keys.json cannot be read as a list of keys" in message
            assert str(data) not in message
    with pytest.raises(TriplebeamError, match="nobody is let in: restore the file, or remove it"):
        _ = Keys(data / "keys.json").on


def test_a_misspelt_field_does_not_make_a_key_that_sees_everything(make: Make, data: Path) -> None:
    keys = Keys(data / "keys.json")
    key = keys.create("read", where='group = "open"')
    written = (data / "keys.json").read_text()
    with make(keys=keys) as client:
        (data / "keys.json").write_text(written.replace('"where"', '"were"'))
        code, message = error_of(client.get("/api/indexes", headers=bearer(key)), 503)
    assert (code, "group" in message) == ("keys_damaged", False)
    assert "cannot be read as a list of keys (unknown field 'were'), so nobody is let in" in message


@pytest.mark.parametrize("close", [lambda path: Keys(path).delete("mine"), Path.unlink])
def test_deleting_the_last_key_does_not_open_the_server(make: Make, data: Path, close: Callable[[Path], None]) -> None:
    keys = Keys(data / "keys.json")
    keys.create("write", "mine")
    with make(keys=keys) as client:
        assert client.get("/api/indexes").status_code == 401
        close(data / "keys.json")
        assert client.get("/api/indexes").status_code == 401
        assert client.post("/api/indexes", json={"name": "new"}).status_code == 401


def test_an_empty_list_of_keys_opens_nothing_to_the_next_server_either(make: Make, data: Path) -> None:
    Keys(data / "keys.json").create("write", "mine")
    Keys(data / "keys.json").delete("mine")
    with make() as client:
        assert client.get("/api/indexes").status_code == 401


def test_without_a_key_readiness_has_no_names_and_no_reasons(make: Make, data: Path) -> None:
    keys = Keys(data / "keys.json")
    key = keys.create("read")
    with make(keys=keys) as client:
        assert client.get("/ready").json() == {"status": "ok", "indexes": {}}
        assert client.get("/ready", headers=bearer(key)).json() == {"status": "ok", "indexes": {"world": "ok"}}
    (next((data / "world.index" / "generations").iterdir()) / "passage_vectors.npy").unlink()
    with make(keys=keys) as client:
        hidden, seen = client.get("/ready", headers=bearer("wrong")), client.get("/ready", headers=bearer(key))
        assert (hidden.status_code, hidden.json()) == (503, {"status": "not ready", "indexes": {}})
        assert "passage_vectors.npy is missing" in seen.json()["indexes"]["world"]


def test_roles(make: Make, data: Path) -> None:
    keys = Keys(data / "keys.json")
    reading, writing = keys.create("read"), keys.create("write")
    with make(keys=keys) as client:
        for path in ("/health", "/ready", "/api/version"):
            assert client.get(path).status_code == 200, "open to everybody"
        for path in ("/api/indexes", "/api/jobs", "/metrics", "/api/schema", "/api/methods", "/v1/models", "/mcp"):
            response = client.get(path)
            assert response.status_code == 401, path
            assert response.json()["error"]["code"] == "no_key"
            assert response.headers["www-authenticate"] == "Bearer"
            assert client.get(path, headers=bearer("wrong")).json()["error"]["code"] == "bad_key"
        assert client.get("/api/indexes", headers=bearer(reading)).status_code == 200
        new = {"name": "new"}
        code, message = error_of(client.post("/api/indexes", json=new, headers=bearer(reading)), 403)
        assert (code, reading in message) == ("read_only_key", False)
        url = "/api/indexes/world/documents"
        assert error_of(client.delete(f"{url}/film", headers=bearer(reading)), 403)[0] == "read_only_key"
        assert error_of(client.post(url, headers=bearer(reading)), 403)[0] == "read_only_key"
        assert error_of(client.post("/api/jobs/x/cancel", headers=bearer(reading)), 403)[0] == "read_only_key"
        assert client.post("/api/indexes", json=new, headers=bearer(writing)).status_code == 201
        keys.delete("key-2")
        assert client.get("/api/indexes", headers=bearer(writing)).status_code == 401, "taken back at once"


def test_where_a_key_is_required_none_is_no_way_in(make: Make, tmp_path: Path) -> None:
    with make(keys=Keys(tmp_path / "none.json", required=True)) as client:
        assert client.get("/api/indexes").status_code == 401
        error = client.get("/v1/models").json()["error"]
        assert sorted(error) == ["code", "message", "param", "type"], "the shape that clients of /v1 know"


def test_pages_of_other_sites_are_kept_out_where_there_are_no_keys(make: Make, client: TestClient) -> None:
    evil, own = {"Origin": "https://evil.example"}, {"Origin": "http://testserver"}
    assert error_of(client.post("/api/indexes", json={"name": "a"}, headers=evil), 403)[0] == "cross_origin"
    assert error_of(client.get("/api/indexes", headers={"Origin": "http://["}), 403)[0] == "cross_origin"
    assert "access-control-allow-origin" not in client.get("/api/indexes", headers=own).headers
    assert client.post("/api/indexes", json={"name": "a"}, headers=own).status_code == 201
    with make(cors_origins=["https://friend.example"]) as friendly:
        origin = {"Origin": "https://friend.example"}
        response = friendly.get("/api/indexes", headers=origin)
        assert response.headers["access-control-allow-origin"] == "https://friend.example"
    with make(allowed_hosts=["localhost"]) as local:
        refused = local.get("/api/indexes")
        assert error_of(refused, 400)[0] == "bad_host", "a page's own name was made to point here"
        assert local.get("/api/indexes", headers={"Host": "[::1"}).status_code == 400
        assert local.get("/api/indexes", headers={"Host": "localhost:8000"}).status_code == 200


def test_by_which_name_a_server_is_called_matters_only_while_there_are_no_keys(make: Make, data: Path) -> None:
    keys = Keys(data / "keys.json")
    key = keys.create("read", "mine")
    with make(keys=keys, allowed_hosts=["localhost"]) as client:
        assert client.get("/api/indexes", headers=bearer(key)).status_code == 200
    with make(keys=Keys(data / "none.json"), allowed_hosts=["localhost"]) as client:
        assert error_of(client.get("/api/indexes"), 400)[0] == "bad_host"


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
