"""Indexes over HTTP: created, listed, damaged, deleted.

Corrections of triples, and compacting, over HTTP.
"""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from patience import SECONDS
from serve.http.small_server import Held, Make, add, error_of, ids, job_ended
from triplebeam.assemble import context_of
from triplebeam.index.build.writing import write_lock
from triplebeam.index.location import Cluster
from triplebeam.index.store.corrections import Corrections, parse_corrections
from triplebeam.serve.http import index_routes
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library


def test_indexes_are_listed(client: TestClient) -> None:
    listed = client.get("/api/indexes").json()
    graph = listed["indexes"][0].pop("passage_graph")
    assert (graph["nodes"], graph["edges_by_kind"].keys()) == (6, {"structural", "keyword", "links"})
    assert 0 < graph["nodes_with_rare_terms"] <= 6
    row = {"name": "world", "passages": 6, "documents": 6, "triples": 9, "embedder": "words", "status": "ready"}
    assert listed == {
        "indexes": [row],
        "can_create": True,
        "can_ask": False,
        "default_search": "blend",
        "default_ask": "auto",
    }
    assert client.get("/api/indexes/world").json() == row | {"passage_graph": graph, "jobs": []}


def test_an_index_is_made_filled_searched_and_emptied(client: TestClient, data: Path) -> None:
    assert client.post("/api/indexes", json={"name": "notes"}).status_code == 201
    assert client.get("/api/indexes/notes").json()["status"] == "empty"
    assert error_of(client.post("/api/indexes/notes/search", json={"question": "who?"}), 409)[0] == ("empty_index")
    job = add(client, "notes", ("ada.txt", b"Ada Lovelace wrote about engines."), ("bob.md", b"# Bob\n\nBob sings."))
    ended = job_ended(client, job["id"])
    assert (ended["state"], ended["message"]) == ("done", "2 of 2 documents new or changed")
    assert ids(client, "notes") == ["ada.txt", "bob.md"]
    found = client.post("/api/indexes/notes/search", json={"question": "engines", "method": "bm25"}).json()
    assert found["passages"][0]["title"] == "ada"
    assert list((data / ".triplebeam" / "jobs").iterdir()) == [], "what was sent is kept no longer than needed"

    ended = job_ended(client, add(client, "notes", ("ada.txt", b"Ada paints."))["id"])
    assert ended["state"] == "done"
    assert sorted(ids(client, "notes")) == ["ada.txt", "bob.md"]
    found = client.post("/api/indexes/notes/search", json={"question": "paints", "method": "bm25"}).json()
    assert found["passages"][0]["text"] == "Ada paints."

    for document_id in ("ada.txt", "bob.md"):
        response = client.delete(f"/api/indexes/notes/documents/{document_id}")
        assert response.status_code == 202
        assert job_ended(client, response.json()["job"]["id"])["message"] == "1 document deleted"
    assert client.get("/api/indexes/notes").json()["status"] == "empty"


def test_unknown_things_are_reported_with_the_nearest_name(client: TestClient) -> None:
    code, message = error_of(client.get("/api/indexes/wrold"), 404)
    assert (code, "did you mean 'world'?" in message) == ("unknown_index", True)
    assert error_of(client.get("/api/jobs/x"), 404)[0] == "unknown_job"
    assert error_of(client.get("/api/jobs/x/events"), 404)[0] == "unknown_job"
    assert error_of(client.post("/api/jobs/x/cancel"), 404)[0] == "unknown_job"
    assert error_of(client.get("/api/nothing"), 404)[0] == "not_found"
    assert error_of(client.put("/api/indexes"), 405)[0] == "method_not_allowed"


@pytest.mark.parametrize("name", ["", "..", "a/b", "../x", "a..b", ".a", "x" * 65, "a b", "é", "a\n"])
def test_names_of_indexes_are_plain(client: TestClient, data: Path, name: str) -> None:
    before = sorted(data.parent.rglob("*"))
    assert error_of(client.post("/api/indexes", json={"name": name}), 400)[0] == "bad_name"
    assert sorted(data.parent.rglob("*")) == before


def test_making_an_index_is_refused_where_it_cannot_be(client: TestClient, make: Make, data: Path) -> None:
    assert error_of(client.post("/api/indexes", json={"name": "world"}), 409)[0] == "exists"
    assert error_of(client.post("/api/indexes", json={}), 400)[0] == "bad_input"
    with make(data / "world.index") as single:
        assert single.get("/api/indexes").json()["can_create"] is False
        assert error_of(single.post("/api/indexes", json={"name": "new"}), 409)[0] == "cannot_create"


def test_an_index_is_deleted_with_all_its_files(client: TestClient, data: Path) -> None:
    search = "/api/indexes/world/search", {"question": "lake"}
    assert client.post(search[0], json=search[1]).status_code == 200
    (data / ".triplebeam-deleted-0123456789abcdef").mkdir()  # what a server that was killed left
    assert client.delete("/api/indexes/world").status_code == 204
    assert client.get("/api/indexes").json()["indexes"] == []
    assert error_of(client.post(search[0], json=search[1]), 404)[0] == "unknown_index"
    assert error_of(client.delete("/api/indexes/world"), 404)[0] == "unknown_index"
    assert [path.name for path in data.iterdir() if path.name not in (".triplebeam", "keys.json")] == []
    assert client.post("/api/indexes", json={"name": "world"}).json() == {
        "name": "world", "passages": 0, "documents": 0, "triples": 0, "status": "empty",
    }  # fmt: skip


def test_the_jobs_of_a_deleted_index_are_not_those_of_the_next_of_its_name(client: TestClient) -> None:
    client.post("/api/indexes", json={"name": "notes"})
    job = job_ended(client, add(client, "notes", ("ada.txt", b"Ada Lovelace."))["id"])
    assert client.delete("/api/indexes/notes").status_code == 204
    client.post("/api/indexes", json={"name": "notes"})
    assert client.get("/api/indexes/notes").json()["jobs"] == []
    assert client.get("/api/jobs").json()["jobs"] == []
    assert error_of(client.get(f"/api/jobs/{job['id']}"), 404)[0] == "unknown_job"


def test_a_job_that_comes_while_an_index_is_deleted_is_cancelled(
    make: Make, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its documents must not get into the next index of that name."""
    (data / "notes.index").mkdir()
    with make(data) as client:
        delete, jobs = Library.delete, client.app.state.jobs  # type: ignore[attr-defined]
        monkeypatch.setattr(type(jobs), "_enqueue", lambda self: None)  # it waits

        def delete_late(library: Library, name: str) -> None:
            add(client, name, ("late.txt", b"Too late."))
            delete(library, name)

        monkeypatch.setattr(Library, "delete", delete_late)
        assert client.delete("/api/indexes/notes").status_code == 204
        assert (jobs.store.all(), jobs.store.next_waiting()) == ([], None)


def test_an_index_that_is_written_to_or_was_named_itself_is_not_deleted(make: Make, data: Path) -> None:
    held = Held()
    with make(extractor=held) as client:
        job = add(client, "world", ("a.txt", b"The lake is deep."), extractor="local")
        assert held.begun.wait(SECONDS)
        assert error_of(client.delete("/api/indexes/world"), 409)[0] == "busy"
        held.free.set()
        job_ended(client, job["id"])
        with write_lock(data / "world.index"):
            assert error_of(client.delete("/api/indexes/world"), 409)[0] == "busy"
    with make(data / "world.index") as single:
        assert error_of(single.delete("/api/indexes/world"), 409)[0] == "cannot_delete"
    assert (data / "world.index").is_dir()


def test_nothing_but_deleted_indexes_is_swept_away(client: TestClient, data: Path) -> None:
    others = [".deleted-mail", ".triplebeam-deleted-mail", ".triplebeam-deleted-0123456789abcdef0"]
    for name in others:
        (data / name).mkdir()
    assert client.delete("/api/indexes/world").status_code == 204
    assert all((data / name).is_dir() for name in others)


def test_an_index_whose_files_are_elsewhere_is_not_deleted(client: TestClient, data: Path, tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (data / "linked.index").symlink_to(elsewhere, target_is_directory=True)
    code, message = error_of(client.delete("/api/indexes/linked"), 409)
    assert (code, "is a link to a folder elsewhere" in message) == ("cannot_delete", True)
    assert elsewhere.is_dir()
    assert (data / "linked.index").is_symlink()


def test_an_index_on_a_cluster_is_not_deleted(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder may hold the local folder of one, which has a file with the address."""
    monkeypatch.setenv("TRIPLEBEAM_STATE", str(tmp_path))
    remote = Cluster.parse("opensearch://localhost:9/docs", tmp_path)
    remote.write_address()
    with make(remote.state.parent) as client:
        code, message = error_of(client.delete("/api/indexes/docs"), 409)
    assert (code, "is on OpenSearch" in message) == ("cannot_delete", True)
    assert remote.state.is_dir()


def test_a_single_index_takes_documents_too(make: Make, data: Path) -> None:
    with make(data / "world.index") as client:
        assert job_ended(client, add(client, "world", ("new.txt", b"Something new."))["id"])["state"] == "done"
        assert client.get("/api/indexes/world").json()["documents"] == 7
    assert (data / ".triplebeam" / "jobs.sqlite").is_file()


def test_a_damaged_index_is_reported_and_the_others_work(client: TestClient, data: Path) -> None:
    (data / "broken.index").mkdir()
    (data / "broken.index" / "manifest.json").write_text("{")
    rows = {row["name"]: row for row in client.get("/api/indexes").json()["indexes"]}
    assert rows["broken"]["status"] == "damaged"
    assert str(data) not in rows["broken"]["message"]
    assert rows["world"]["status"] == "ready"
    ready = client.get("/ready")
    assert (ready.status_code, ready.json()["indexes"]["world"]) == (503, "ok")
    assert error_of(client.post("/api/indexes/broken/search", json={"question": "x"}), 503)[0] == "damaged_index"


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

    def record_call(text: str) -> Corrections:
        threads.append(threading.current_thread())
        return parse_corrections(text)

    monkeypatch.setattr(index_routes, "parse_corrections", record_call)
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
