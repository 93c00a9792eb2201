"""What tests of the server share: waiting for jobs, and a real server on a loopback port."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

#: Makes a client of a new app; the folders and options are the app's.
Make: TypeAlias = Callable[..., TestClient]


def job_ended(client: Any, job_id: str, seconds: float = 20.0) -> dict[str, Any]:
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


@contextlib.contextmanager
def really_served(app: FastAPI) -> Iterator[str]:
    """The address of a real server in a thread."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
