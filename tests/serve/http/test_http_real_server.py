"""A real server on a loopback port: many at once, killed, on a full disk, and as the command line runs it."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from journeys.command_line import Quick, environment, triplebeam
from patience import SECONDS
from serve.asking.served_world import HeldModel, on_loopback, one_reading, wait_until
from serve.http.small_server import Make, error_of, ids, job_ended
from small_disk import SmallDisk, small_disk
from small_world import TRIPLES, TableExtractor, WordEmbedder, world_documents
from trials import FULL
from triplebeam.errors import install_command
from triplebeam.index.build.build import IndexBuilder
from triplebeam.serve.limits import Limits


def test_fifty_searches_at_once_while_an_agent_is_slow(make: Make) -> None:
    slow = HeldModel(*one_reading())
    app = make(model=slow, limits=Limits(agents=1)).app
    question = {"question": "Who directed Laughter in Hell?"}
    with (
        on_loopback(app) as address,  # type: ignore[arg-type]
        httpx.Client(base_url=address, timeout=SECONDS) as client,
        ThreadPoolExecutor(51) as many,
    ):
        url = "/api/indexes/world/ask"
        asked = many.submit(client.post, url, json=question, headers={"Accept": "application/json"})
        assert slow.asked.wait(SECONDS)
        assert error_of(client.post(url, json=question), 429)[0] == "too_many_agents"
        searches = [
            many.submit(client.post, "/api/indexes/world/search", json={"question": f"Lake number {number}?"})
            for number in range(50)
        ]
        assert [search.result().status_code for search in searches] == [200] * 50
        assert not asked.done()
        assert "triplebeam_agents_running 1.0" in client.get("/metrics").text
        slow.free.set()
        asked.result()


DOCUMENTS = 250


@contextmanager
def start_server(home: Path, *arguments: object) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """`triplebeam serve` in a process of its own."""
    process = subprocess.Popen(
        triplebeam("serve", *arguments, "--port", "0"), stderr=subprocess.PIPE, encoding="utf-8", env=environment(home)
    )
    try:
        assert process.stderr
        line = process.stderr.readline()
        found = re.search(r"is listening at (http://127\.0\.0\.1:\d+): open", line)
        assert found, line + process.stderr.read()
        with httpx.Client(base_url=found[1], timeout=SECONDS) as client:
            yield process, client
    finally:
        process.kill()
        process.communicate()


def is_half_way(client: httpx.Client, job_id: str) -> bool:
    """Everything is read, and encoding takes a second or more."""
    job = client.get(f"/api/jobs/{job_id}").json()
    assert job["state"] in ("waiting", "running"), job
    return bool(job["stage"] == "embed")


@pytest.mark.slow
def test_jobs_are_taken_up_after_the_server_was_killed(tmp_path: Path, home: Path, small_index: Path) -> None:
    data = tmp_path / "served"
    data.mkdir()
    small_index.rename(data / "rivers.index")
    model = json.loads((data / "rivers.index" / "manifest.json").read_text())["embedder"]["name"]
    texts = [{"id": f"d{n}", "text": f"the river number {n} " + "flows north " * 150} for n in range(DOCUMENTS)]
    with start_server(home, data, "--embedder", model) as (process, client):
        url = "/api/indexes/rivers/documents"
        first = client.post(url, json={"documents": texts, "extractor": "none"}).json()["job"]
        second = client.post(url, json={"documents": [{"id": "late", "text": "a late river"}], "extractor": "none"})
        wait_until(lambda: is_half_way(client, first["id"]))
        process.kill()
        assert process.wait(SECONDS) == -signal.SIGKILL
    with start_server(home, data, "--embedder", model) as (process, client):
        ended = job_ended(client, first["id"], 120)
        assert ended["message"] == f"{DOCUMENTS} of {DOCUMENTS} documents new or changed"
        assert any("continued after a restart" in line["text"] for line in ended["log"])
        assert job_ended(client, second.json()["job"]["id"])["state"] == "done"
        assert client.get("/api/indexes/rivers").json()["documents"] == 3 + DOCUMENTS + 1
        process.terminate()
        assert process.wait(SECONDS) in (0, -signal.SIGTERM)
        assert process.stderr
        assert "Traceback" not in process.stderr.read()


def test_the_command_refuses_what_would_be_unsafe_or_impossible(quick: Quick, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    code, _, stderr = quick("serve", "data", "--host", "0.0.0.0")
    assert (code, "triplebeam keys create data --role write" in stderr) == (2, True)
    assert "there is no folder" in quick("serve", "nowhere")[2]
    assert "of reports" in quick("serve", "data", "--reports", "nowhere")[2]
    (tmp_path / "one.index").mkdir()
    both = quick("serve", "one.index", "data", "--host", "0.0.0.0")[2]
    assert "triplebeam keys create data --role write" in both, "of several folders the data folder's keys count"


def test_without_the_extra_one_sentence_says_what_to_install(quick: Quick, monkeypatch: pytest.MonkeyPatch) -> None:
    from triplebeam.serve.cli import serve

    monkeypatch.setattr(serve, "find_spec", lambda name: None)
    for arguments in (("serve", "data"), ("keys", "list", "data")):
        code, _, stderr = quick(*arguments)
        assert (code, install_command("server") in stderr) == (2, True)


URL = "/api/indexes/world/documents"
SEARCH = "/api/indexes/world/search"
TEXT = "Borin lives in Velmora. " * 40


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """With the data folder of a server that has run a job before."""
    with small_disk(tmp_path / "disk") as disk:
        folder = disk.folder / "world.index"
        builder = IndexBuilder(folder=folder, embedder=WordEmbedder(), extractor=TableExtractor(TRIPLES))
        builder.build(world_documents())
        yield disk


def add(client: TestClient, name: str) -> Response:
    return client.post(URL, json={"documents": [{"id": name, "text": f"{name}. {TEXT}"}], "extractor": "none"})


def search_lakes(client: TestClient) -> object:
    response = client.post(SEARCH, json={"question": "Which lake is near Hell?", "method": "bm25"})
    assert response.status_code == 200, response.text
    return response.json()["passages"]


@pytest.mark.parametrize("left", [0, 8, 40, 60, 80, 100, 130, 160, 200, 300][:: 1 if FULL else 3])
def test_jobs_on_a_full_disk(make: Make, disk: SmallDisk, left: int) -> None:
    with make(disk.folder) as client:
        job_ended(client, add(client, "first").json()["job"]["id"])
        before = search_lakes(client)
        disk.fill(left)
        reply = add(client, "second")
        if reply.status_code == 202:
            job = job_ended(client, reply.json()["job"]["id"])
            assert job["state"] == "failed" or left > 100, job
            assert job["state"] == "done" or "free some space on its disk" in job["message"]
        else:
            code, message = error_of(reply, 507)
            assert (code, "free some space on its disk" in message) == ("disk_full", True)
            assert str(disk.folder) not in message
        if "second" not in ids(client, "world"):
            assert search_lakes(client) == before
    with make(disk.folder) as client:  # it starts while the disk is full
        if "second" not in ids(client, "world"):
            assert search_lakes(client) == before
        disk.free()
        job_ended(client, add(client, "third").json()["job"]["id"])
        assert "third" in ids(client, "world")
        assert {job["state"] for job in client.get("/api/jobs").json()["jobs"]} <= {"done", "failed"}


def test_a_read_only_disk_is_searched_and_refuses_documents(make: Make, disk: SmallDisk) -> None:
    with make(disk.folder) as client:
        job_ended(client, add(client, "first").json()["job"]["id"])
        before = search_lakes(client)
    disk.read_only(True)
    with make(disk.folder) as client:
        assert search_lakes(client) == before
        assert error_of(add(client, "second"), 503)[0] == "read_only"
        assert error_of(client.post("/api/indexes", json={"name": "new"}), 503)[0] == "read_only"
    disk.read_only(False)


def test_what_waits_has_a_limit_in_sum(make: Make) -> None:
    with make(limits=Limits(waiting_bytes=500)) as client:
        code, message = error_of(add(client, "large"), 429)
        assert code == "too_many_uploads"
        assert "0.0005 MB" in message
        small = {"documents": [{"id": "small", "text": "Alda lives in Borr."}], "extractor": "none"}
        assert job_ended(client, client.post(URL, json=small).json()["job"]["id"])["state"] == "done"
