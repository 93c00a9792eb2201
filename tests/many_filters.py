"""A program that searches with 200 filters while it may have 256 files open; tests run it in a process of its own.

``python many_filters.py FOLDER python`` or ``http``: a document is added after the first hundred.
"""

import resource
import sys
from collections.abc import Callable
from pathlib import Path

from fastapi.testclient import TestClient

from serve.http.small_server import job_ended
from triplebeam.assemble import Index
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords

FILTERS, FILES = 200, 256
#: Returns the documents that a search finds with a filter.
Search = Callable[[str, str], list[str]]


def search_all(search: Search, add: Callable[[], object]) -> None:
    """Search with one filter after the other, and now and then with one that was used before."""
    for number in range(FILTERS):
        if number == FILTERS // 2:
            add()
        method = "bm25" if number % 2 else "dense"
        assert search(f"n = {number}", method) == [f"d{number}"], number
        assert search(f"n = {number // 2}", "bm25") == [f"d{number // 2}"], number
    assert search(f"n >= {FILTERS}", "bm25") == [f"d{FILTERS}"]


def row(number: int) -> dict[str, object]:
    return {"id": f"d{number}", "text": f"the blue pump number {number}", "n": number}


def in_python(index: Index) -> None:
    def search(where: str, method: str) -> list[str]:
        return index.search("which pump is blue?", method=method, where=where).ids

    search_all(search, lambda: index.add_documents([row(FILTERS)], extractor="none"))


def over_http(folder: Path) -> None:
    library = Library([folder], Settings(home=folder / "home", offline=True), embedder=HashedWords())
    with TestClient(make_app(library, keys=Keys(library.keys_file))) as client:

        def search(where: str, method: str) -> list[str]:
            body = {"question": "which pump is blue?", "method": method, "where": where}
            response = client.post("/api/indexes/i/search", json=body)
            assert response.status_code == 200, response.text
            return [passage["document_id"] for passage in response.json()["passages"]]

        def add() -> None:
            body = b'{"id": "d200", "text": "the blue pump number 200", "n": 200}'
            files = [("files", ("more.jsonl", body))]
            job = client.post("/api/indexes/i/documents", files=files, data={"extractor": "none"}).json()["job"]
            assert job_ended(client, job["id"])["state"] == "done"

        search_all(search, add)


def main(folder: Path, way: str) -> None:
    index = Index(folder / "i.index", embedder=HashedWords())
    index.add_documents([row(number) for number in range(FILTERS)], extractor="none")
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    if way == "python":
        in_python(index)
    else:
        del index
        over_http(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
