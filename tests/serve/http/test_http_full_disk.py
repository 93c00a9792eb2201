"""A server whose disk is full: it searches, fails the job with the reason, and starts; nothing waits for ever."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from serve.http.small_server import Make, error_of, job_ended
from small_disk import SmallDisk, small_disk
from small_world import TRIPLES, TableExtractor, WordEmbedder, world_documents
from triplebeam.index.build.build import IndexBuilder
from triplebeam.serve.limits import Limits

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


def searched(client: TestClient) -> object:
    response = client.post(SEARCH, json={"question": "Which lake is near Hell?", "method": "bm25"})
    assert response.status_code == 200, response.text
    return response.json()["passages"]


def documents(client: TestClient) -> list[str]:
    return [each["id"] for each in client.get(URL).json()["documents"]]


@pytest.mark.parametrize("left", [0, 8, 40, 60, 80, 100, 130, 160, 200, 300])
def test_jobs_on_a_full_disk(make: Make, disk: SmallDisk, left: int) -> None:
    with make(disk.folder) as client:
        job_ended(client, add(client, "first").json()["job"]["id"])
        before = searched(client)
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
        if "second" not in documents(client):
            assert searched(client) == before
    with make(disk.folder) as client:  # it starts while the disk is full
        if "second" not in documents(client):
            assert searched(client) == before
        disk.free()
        job_ended(client, add(client, "third").json()["job"]["id"])
        assert "third" in documents(client)
        assert {job["state"] for job in client.get("/api/jobs").json()["jobs"]} <= {"done", "failed"}


def test_a_read_only_disk_is_searched_and_refuses_documents(make: Make, disk: SmallDisk) -> None:
    with make(disk.folder) as client:
        job_ended(client, add(client, "first").json()["job"]["id"])
        before = searched(client)
    disk.read_only(True)
    with make(disk.folder) as client:
        assert searched(client) == before
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
