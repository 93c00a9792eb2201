"""Corrections of triples, and compacting, over HTTP."""

import json
import threading
from typing import Any

import pytest
from fastapi.testclient import TestClient

from serve.http.small_server import Make, error_of, job_ended
from triplebeam.assemble import context_of
from triplebeam.index.store.corrections import Corrections, parse_corrections
from triplebeam.serve.http import index_routes
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library

CORRECTIONS = "/api/indexes/world/corrections"


def triples(client: TestClient) -> int:
    count: int = client.get("/api/indexes/world").json()["triples"]
    return count


def job(client: TestClient, response: Any) -> dict[str, Any]:
    assert response.status_code == 202, response.text
    return job_ended(client, response.json()["job"]["id"])


def a_fact(client: TestClient) -> list[str]:
    library: Library = client.app.state.library  # type: ignore[attr-defined]
    return list(context_of(library.index("world")).triples.triple(0))


def test_corrections_are_looked_at_made_and_taken_back(client: TestClient) -> None:
    before = triples(client)
    assert client.get(CORRECTIONS).json() == {"corrections": "", "lines": [], "unmatched": []}
    text = f"# wrong\n{json.dumps({'drop': a_fact(client)})}\n{json.dumps({'drop': ['x', 'y', 'z']})}\n"
    preview = client.post(f"{CORRECTIONS}/preview", content=text).json()
    assert [(line["line"], line["kind"], line["triples"]) for line in preview["lines"]] == [
        (2, "drop", 1),
        (3, "drop", 0),
    ]
    assert preview["unmatched"] == [3]
    assert triples(client) == before
    done = job(client, client.put(CORRECTIONS, content=text))
    assert (done["kind"], done["message"]) == ("correct", "2 corrections; matching nothing: lines 3")
    assert triples(client) == before - 1
    assert client.get(CORRECTIONS).json() == preview
    assert job(client, client.delete(CORRECTIONS))["message"] == "there are no corrections now"
    assert triples(client) == before


def test_what_is_wrong_is_said_before_there_is_a_job(client: TestClient) -> None:
    for method, path in (("PUT", CORRECTIONS), ("POST", f"{CORRECTIONS}/preview")):
        code, message = error_of(client.request(method, path, content='{"dorp": []}'), 400)
        assert (code, "the corrections, line 1" in message) == ("bad_input", True)
        assert error_of(client.request(method, path, content=b"\xff"), 400)[0] == "bad_input"
    assert error_of(client.get("/api/indexes/other/corrections"), 404)[0] == "unknown_index"
    client.post("/api/indexes", json={"name": "notes"})
    for path in ("corrections/preview", "compact"):
        assert error_of(client.post(f"/api/indexes/notes/{path}"), 409)[0] == "empty_index"
    assert client.get("/api/jobs").json() == {"jobs": []}


def test_a_long_file_is_not_parsed_where_requests_are_served(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def noted(text: str) -> Corrections:
        threads.append(threading.current_thread())
        return parse_corrections(text)

    monkeypatch.setattr(index_routes, "parse_corrections", noted)
    assert client.post(f"{CORRECTIONS}/preview", content='{"drop": ["x", "y", "z"]}').status_code == 200
    assert [thread.name for thread in threads] == ["AnyIO worker thread"]
    info = parse_corrections.cache_info()
    assert info.maxsize is not None
    assert info.maxsize <= 2, "what was sent is not kept in memory"


def test_an_index_is_compacted(client: TestClient) -> None:
    document = client.get("/api/indexes/world/documents").json()["documents"][0]["id"]
    job(client, client.delete(f"/api/indexes/world/documents/{document}"))
    done = job(client, client.post("/api/indexes/world/compact"))
    assert (done["kind"], done["state"]) == ("compact", "done")
    assert "0 cached replies forgotten" in done["message"]


def test_a_key_that_may_only_read_may_neither_see_nor_do_it(make: Make, tmp_path: Any) -> None:
    keys = Keys(tmp_path / "keys.json")
    reader = {"Authorization": f"Bearer {keys.create('read')}"}
    keys.create("write")
    with make(keys=keys) as client:
        for method, path in (
            ("GET", CORRECTIONS),
            ("PUT", CORRECTIONS),
            ("DELETE", CORRECTIONS),
            ("POST", f"{CORRECTIONS}/preview"),
            ("POST", "/api/indexes/world/compact"),
        ):
            assert error_of(client.request(method, path, headers=reader), 403)[0] == "read_only_key"
