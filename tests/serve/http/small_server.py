"""What tests of the server share: adding documents, and waiting for jobs."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from fastapi.testclient import TestClient

from patience import SECONDS
from small_world import TableExtractor
from triplebeam.extract.extractor import Extraction
from triplebeam.passage import Passage

#: Makes a client of a new app; the folders and options are the app's.
Make: TypeAlias = Callable[..., TestClient]


class Held(TableExtractor):
    """Extracts triples of a passage when it is allowed to, so that a job can be caught while it runs."""

    def __init__(self) -> None:
        super().__init__({})
        self.begun, self.free = threading.Event(), threading.Event()

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        for extraction in super().extract(passages):
            self.begun.set()
            assert self.free.wait(SECONDS)
            yield extraction


def add(client: TestClient, name: str, *files: tuple[str, bytes], extractor: str = "none") -> dict[str, str]:
    """The job that adds files to an index."""
    response = client.post(
        f"/api/indexes/{name}/documents", files=[("files", file) for file in files], data={"extractor": extractor}
    )
    assert response.status_code == 202, response.text
    job: dict[str, str] = response.json()["job"]
    return job


def ids(client: TestClient, name: str) -> list[str]:
    """The documents of an index."""
    return [document["id"] for document in client.get(f"/api/indexes/{name}/documents").json()["documents"]]


def job_ended(client: Any, job_id: str, seconds: float = SECONDS) -> dict[str, Any]:
    """The job when it has ended."""
    deadline = time.monotonic() + seconds
    while True:
        job: dict[str, Any] = client.get(f"/api/jobs/{job_id}").json()
        if job["state"] in ("done", "failed", "cancelled"):
            return job
        assert time.monotonic() < deadline, job
        time.sleep(0.02)


def error_of(response: Any, status: int) -> tuple[str, str]:
    """The code and message of a refusal, which has the one shape."""
    assert response.status_code == status, response.text
    body = response.json()
    assert list(body) == ["error"]
    assert "Traceback" not in response.text
    return body["error"]["code"], body["error"]["message"]
