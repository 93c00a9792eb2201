"""Keys, and what may be done without one."""

import errno
import stat
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from fastapi.testclient import TestClient

from serve.http.bound_tools import bearer, list_writes
from serve.http.small_server import Make, error_of
from triplebeam.errors import BadInputError, TriplebeamError
from triplebeam.serve.http.keys import Access, Keys


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


def test_a_file_that_is_no_list_of_keys_opens_nothing(make: Make, data: Path) -> None:
    keys = Keys(data / "keys.json")
    key = keys.create("write")
    asked = (("/api/indexes", bearer(key)), ("/api/indexes", {}), ("/ready", {}), ("/mcp", {}))
    with make(keys=keys) as client:
        assert client.get("/api/indexes", headers=bearer(key)).status_code == 200
        for content in ("", '{"a": 1}', '[{"name": "me"', "[[[[", "\0" * 100):
            (data / "keys.json").write_text(content)
            for path, headers in asked:
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
    with make() as client:
        is_open = not (data / "keys.json").exists()
        assert client.get("/api/indexes").status_code == (200 if is_open else 401), "an empty list opens nothing"


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
        schema = client.get("/api/schema", headers=bearer(reading)).json()
        writes = list_writes(schema, name="world", document_id="film", job_id="x")
        assert len(writes) >= 8
        for method, path in [*writes, ("get", "/api/indexes/world/corrections")]:
            code, message = error_of(client.request(method, path, headers=bearer(reading)), 403)
            assert (code, reading in message) == ("read_only_key", False)
        assert client.post("/api/indexes", json={"name": "new"}, headers=bearer(writing)).status_code == 201
        keys.delete("key-2")
        assert client.get("/api/indexes", headers=bearer(writing)).status_code == 401, "taken back at once"


def test_where_a_key_is_required_none_is_no_way_in(make: Make, tmp_path: Path) -> None:
    with make(keys=Keys(tmp_path / "none.json", required=True)) as client:
        assert client.get("/api/indexes").status_code == 401
        error = client.get("/v1/models").json()["error"]
        assert sorted(error) == ["code", "message", "param", "type"], "the shape that clients of /v1 know"


def test_pages_of_other_sites_are_kept_out_where_there_are_no_keys(
    make: Make, client: TestClient, tmp_path: Path
) -> None:
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
    keys = Keys(tmp_path / "other.json")
    key = keys.create("read")
    with make(keys=keys, allowed_hosts=["localhost"]) as client:
        assert client.get("/api/indexes", headers=bearer(key)).status_code == 200, "by whichever name"


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
