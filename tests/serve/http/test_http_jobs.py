"""Jobs over HTTP: followed, cancelled, and what a search sees meanwhile."""

import json
import stat
from pathlib import Path

from fastapi.testclient import TestClient

from patience import SECONDS
from serve.http.small_server import Held, Make, add, error_of, ids, job_ended


def test_a_job_is_followed_to_its_end(client: TestClient) -> None:
    job = add(client, "world", ("new.txt", b"Something new."))
    with client.stream("GET", f"/api/jobs/{job['id']}/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = [part.split("\n") for part in response.read().decode().strip().split("\n\n")]
    names = [lines[0].removeprefix("event: ") for lines in events]
    assert set(names[:-1]) == {"progress"}
    assert names[-1] == "end"
    assert json.loads(events[-1][1].removeprefix("data: "))["state"] == "done"
    assert [each["id"] for each in client.get("/api/jobs").json()["jobs"]] == [job["id"]]


def test_searches_go_on_with_the_old_generation_while_a_job_runs(make: Make) -> None:
    held = Held()
    with make(extractor=held) as client:
        job = add(client, "world", ("new.txt", b"Zebras live in Africa."), extractor="local")
        assert held.begun.wait(SECONDS)
        assert client.get(f"/api/jobs/{job['id']}").json()["state"] == "running"
        assert "triplebeam_jobs_running 1.0" in client.get("/metrics").text
        question = {"question": "zebras", "method": "bm25"}
        assert client.post("/api/indexes/world/search", json=question).json()["passages"] == []
        held.free.set()
        assert job_ended(client, job["id"])["state"] == "done"
        found = client.post("/api/indexes/world/search", json=question).json()["passages"]
        assert [passage["title"] for passage in found] == ["new"]


def test_a_cancelled_job_leaves_nothing_behind(make: Make, data: Path) -> None:
    jobs = data / ".triplebeam" / "jobs"
    held = Held()
    with make(extractor=held) as client:
        running = add(client, "world", ("wrong.txt", b"The wrong file."), extractor="local")
        waiting = add(client, "world", ("other.txt", b"Not this one either."))
        assert held.begun.wait(SECONDS)
        assert stat.S_IMODE(jobs.stat().st_mode) == 0o700, "what was sent is for the server alone"
        assert client.post(f"/api/jobs/{waiting['id']}/cancel").json()["state"] == "cancelled"
        assert [folder.name for folder in jobs.iterdir()] == [running["id"]]
        assert client.post(f"/api/jobs/{running['id']}/cancel").status_code == 200
        held.free.set()
        assert job_ended(client, running["id"])["state"] == "cancelled"
        assert error_of(client.post(f"/api/jobs/{running['id']}/cancel"), 409)[0] == "ended"
        assert job_ended(client, add(client, "world", ("right.txt", b"The right file."))["id"])["state"] == "done"
        assert [id_ for id_ in ids(client, "world") if id_.endswith(".txt")] == ["right.txt"]


def test_what_a_cancelled_job_replaced_is_reported(make: Make) -> None:
    held = Held()
    with make(extractor=held) as client:
        texts = [{"id": "film", "text": "Another film."}, {"id": "new", "text": "A new one."}]
        body = {"documents": texts, "extractor": "local"}
        job = client.post("/api/indexes/world/documents", json=body).json()["job"]
        assert held.begun.wait(SECONDS)
        client.post(f"/api/jobs/{job['id']}/cancel")
        held.free.set()
        message = job_ended(client, job["id"])["message"]
        assert "the new text of 1 that were there before, such as 'film'" in message
        assert "new" not in ids(client, "world")
        assert client.get("/api/indexes/world/passages/film").status_code == 200


def test_a_job_that_can_read_nothing_fails_and_says_why(client: TestClient, data: Path) -> None:
    ended = job_ended(client, add(client, "world", ("empty.txt", b" "))["id"])
    assert ended["state"] == "failed"
    assert ended["message"] == "nothing could be read: empty.txt: there is no text in it."
    client.post("/api/indexes", json={"name": "new"})
    ended = job_ended(client, add(client, "new", ("scan.pdf", b"%PDF-1.4 nothing"))["id"])
    assert ended["state"] == "failed"
    assert "new.index" in ended["message"]
    assert str(data) not in json.dumps(ended)


def test_a_second_server_leaves_the_jobs_to_the_first(make: Make) -> None:
    with make() as first, make() as second:
        assert job_ended(first, add(first, "world", ("new.txt", b"Something new."))["id"])["state"] == "done"
        refused = second.post("/api/indexes/world/documents", files=[("files", ("a.txt", b"a"))])
        assert error_of(refused, 409)[0] == "busy"
        assert second.get("/api/indexes/world").json()["documents"] == 7
