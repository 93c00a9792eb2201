"""A program that searches with 100 filters while it may have 160 files open; tests run it in a process of its own.

``python many_filters.py FOLDER``: they are sent to a server, and a document is added after half of them.
"""

import resource
import sys
from pathlib import Path

from fastapi.testclient import TestClient

from serve.http.small_server import job_ended
from triplebeam.assemble import Index
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords

FILTERS, FILES = 100, 160


def search_all(client: TestClient) -> None:
    """Search with one filter after the other, and now and then with one that was used before."""
    for number in range(FILTERS):
        if number == FILTERS // 2:
            add_document(client)
        method = "bm25" if number % 2 else "dense"
        assert search(client, f"n = {number}", method) == [f"d{number}"], number
        assert search(client, f"n = {number // 2}") == [f"d{number // 2}"], number
    assert search(client, f"n >= {FILTERS}") == [f"d{FILTERS}"]


def search(client: TestClient, where: str, method: str = "bm25") -> list[str]:
    body = {"question": "which pump is blue?", "method": method, "where": where}
    response = client.post("/api/indexes/i/search", json=body)
    assert response.status_code == 200, response.text
    return [passage["document_id"] for passage in response.json()["passages"]]


def add_document(client: TestClient) -> None:
    body = {"documents": [row(FILTERS)], "extractor": "none"}
    job = client.post("/api/indexes/i/documents", json=body).json()["job"]
    assert job_ended(client, job["id"])["state"] == "done"


def row(number: int) -> dict[str, object]:
    return {"id": f"d{number}", "text": f"the blue pump number {number}", "n": number}


def main(folder: Path) -> None:
    documents = [row(number) for number in range(FILTERS)]
    Index(folder / "i.index", embedder=HashedWords()).add_documents(documents, extractor="none")
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    library = Library([folder], Settings(home=folder / "home", offline=True), embedder=HashedWords())
    with TestClient(make_app(library, keys=Keys(library.keys_file))) as client:
        search_all(client)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
