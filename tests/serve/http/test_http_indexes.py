"""Collections, documents and jobs over HTTP."""

import io
import json
import stat
import threading
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from serve.http.small_server import Make, error_of, job_ended
from small_world import TRIPLES, TableExtractor
from triplebeam.extract.extractor import Extraction
from triplebeam.index.opensearch.address import Address
from triplebeam.index.writing import write_lock
from triplebeam.passage import Passage
from triplebeam.serve.limits import Limits


class Held(TableExtractor):
    """Extracts triples of a passage when it is allowed to, so that a job can be caught while it runs."""

    def __init__(self) -> None:
        super().__init__({})
        self.begun, self.free = threading.Event(), threading.Event()

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        for extraction in super().extract(passages):
            self.begun.set()
            assert self.free.wait(20)
            yield extraction


def add(client: TestClient, name: str, *files: tuple[str, bytes], extractor: str = "none") -> dict[str, str]:
    response = client.post(
        f"/api/indexes/{name}/documents", files=[("files", file) for file in files], data={"extractor": extractor}
    )
    assert response.status_code == 202, response.text
    job: dict[str, str] = response.json()["job"]
    return job


def ids(client: TestClient, name: str) -> list[str]:
    return [document["id"] for document in client.get(f"/api/indexes/{name}/documents").json()["documents"]]


def test_indexes_are_listed(client: TestClient) -> None:
    listed = client.get("/api/indexes").json()
    row = {"name": "world", "passages": 6, "documents": 6, "triples": 9, "embedder": "words", "status": "ready"}
    assert listed == {
        "indexes": [row],
        "can_create": True,
        "can_ask": False,
        "default_search": "blend",
        "default_ask": "auto",
    }
    assert client.get("/api/indexes/world").json() == row | {"jobs": []}


def test_what_is_put_is_all_there_is(client: TestClient) -> None:
    assert client.post("/api/indexes", json={"name": "notes"}).status_code == 201
    job_ended(client, add(client, "notes", ("ada.txt", b"Ada wrote."), ("bob.txt", b"Bob sings."))["id"])
    files = [("files", ("bob.txt", b"Bob sings.")), ("files", ("cy.txt", b"Cy paints."))]
    job = client.put("/api/indexes/notes/documents", files=files, data={"extractor": "none"}).json()["job"]
    assert job["kind"] == "sync"
    ended = job_ended(client, job["id"])
    assert (ended["state"], ended["message"]) == ("done", "1 of 2 documents new or changed; 1 deleted")
    assert ids(client, "notes") == ["bob.txt", "cy.txt"]
    texts = {"documents": [{"id": "dot", "text": "Dot knits."}], "extractor": "none"}
    job_ended(client, client.put("/api/indexes/notes/documents", json=texts).json()["job"]["id"])
    assert ids(client, "notes") == ["dot"]
    broken = [("files", ("dot.pdf", b"%PDF-1.4 and no more"))]
    job = client.put("/api/indexes/notes/documents", files=broken, data={"extractor": "none"}).json()["job"]
    assert job_ended(client, job["id"])["state"] == "failed"
    assert ids(client, "notes") == ["dot"], "where nothing can be read nothing is deleted"


def test_rows_that_are_not_put_again_go_also_from_a_file_with_a_bad_line(client: TestClient) -> None:
    client.post("/api/indexes", json={"name": "rows"})
    rows = [b'{"id": "one", "text": "Row one."}', b'{"id": "two", "text": "Row two."}']
    for sent in (b"\n".join(rows), b"\n".join([rows[0], b"no JSON"])):
        files = [("files", ("rows.jsonl", sent))]
        job = client.put("/api/indexes/rows/documents", files=files, data={"extractor": "none"}).json()["job"]
        assert job_ended(client, job["id"])["state"] == "done"
    assert ids(client, "rows") == ["one"]


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


def test_texts_come_as_json(client: TestClient) -> None:
    texts = [{"id": "notes/one", "title": "One", "text": "The first."}, {"text": "The second."}]
    response = client.post("/api/indexes/world/documents", json={"documents": texts, "extractor": "none"})
    job = response.json()["job"]
    assert job_ended(client, job["id"])["state"] == "done"
    assert {"notes/one", f"{job['id']}-2"} <= set(ids(client, "world"))
    assert client.delete("/api/indexes/world/documents/notes/one").status_code == 202


def test_lines_of_json_are_documents_of_their_own(client: TestClient) -> None:
    rows = b'{"id": "r1", "text": "Row one."}\n{"text": "Row two."}\nno JSON\n'
    ended = job_ended(client, add(client, "world", ("rows.jsonl", rows))["id"])
    assert ended["state"] == "done"
    assert {"r1", "rows.jsonl:2"} <= set(ids(client, "world"))
    assert any("rows.jsonl, line 3: it is not JSON" in line["text"] for line in ended["log"])


def test_the_given_extractor_draws_triples(make: Make) -> None:
    with make(extractor=TableExtractor({"film.txt#0": TRIPLES["film"], "film.txt": TRIPLES["film"]})) as client:
        job = add(client, "world", ("film.txt", b"A film."), extractor="local")
        assert job_ended(client, job["id"])["state"] == "done"
        assert client.get("/api/indexes/world").json()["triples"] > 9


def test_documents_are_paged(client: TestClient) -> None:
    page = client.get("/api/indexes/world/documents?offset=1&limit=2").json()
    assert page["total"] == 6
    assert page["documents"] == [
        {"id": "city", "title": "Milwaukee", "passages": 1},
        {"id": "director", "title": "Edward Cahn", "passages": 1},
    ]
    for query in ("limit=0", "limit=1001", "offset=-1", "limit=x"):
        assert error_of(client.get(f"/api/indexes/world/documents?{query}"), 400)[0] == "bad_input"


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
        assert held.begun.wait(20)
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
        assert held.begun.wait(20)
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
        assert held.begun.wait(20)
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


@pytest.mark.parametrize(
    "name", ["../../x.txt", "..\\..\\x.txt", "a/../b.txt", "", ".hidden.txt", "..", "\x00\x01", "n" * 300 + ".txt"]
)
def test_names_that_lead_elsewhere_are_refused(client: TestClient, data: Path, tmp_path: Path, name: str) -> None:
    from triplebeam.serve.http.errors import HTTPProblem
    from triplebeam.serve.http.indexing.uploads import clean_name

    with pytest.raises(HTTPProblem):
        clean_name(name)
    boundary = "b0undary"
    body = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\nx\r\n--{boundary}--'
    before = sorted(tmp_path.rglob("*"))
    response = client.post(
        "/api/indexes/world/documents",
        content=body.encode(),
        headers={"content-type": f"multipart/form-data; boundary={boundary}"},
    )
    assert response.status_code == 400
    kept = [path for path in sorted(tmp_path.rglob("*")) if path not in before and path.parent.name == "files"]
    assert kept == []
    assert client.get("/api/jobs").json() == {"jobs": []}


def test_a_folder_in_a_file_name_is_left_out(client: TestClient) -> None:
    job = add(client, "world", ("C:\\notes\\a b.txt", b"Words."))
    assert job_ended(client, job["id"])["state"] == "done"
    assert "a b.txt" in ids(client, "world")


def bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", b"\0" * 30_000_000)
    return buffer.getvalue()


def test_kinds_and_sizes_are_refused_at_the_door(client: TestClient, data: Path) -> None:
    def refused(name: str, content: bytes, status: int) -> str:
        response = client.post("/api/indexes/world/documents", files=[("files", (name, content))])
        return error_of(response, status)[1]

    assert ".docx" in refused("program.exe", b"MZ\0", 415)
    assert "not that of a .txt file" in refused("picture.txt", b"\x89PNG\0\0", 415)
    assert "not that of a .pdf file" in refused("a.pdf", b"hello", 415)
    assert "not that of a .docx file" in refused("a.docx", b"hello", 415)
    assert "not that of a .jsonl.gz file" in refused("a.jsonl.gz", b"hello", 415)
    assert "looks like a trap" in refused("bomb.docx", bomb(), 413)
    assert list((data / ".triplebeam" / "jobs").iterdir()) == []


def test_bad_requests_for_documents(client: TestClient) -> None:
    url = "/api/indexes/world/documents"
    assert error_of(client.post(url, content=b"x", headers={"content-type": "text/plain"}), 415)[0] == "unsupported"
    assert error_of(client.post(url, content=b"x"), 415)[0] == "unsupported"
    assert error_of(client.post(url, data={"extractor": "none"}, files={"other": b"x"}), 400)[0] == "no_files"
    json_type = {"content-type": "application/json"}
    for body in (b"", b"{", b"[]", b"\xff", b'{"documents": []}', b'{"documents": [{"text": ""}]}', b"null"):
        assert error_of(client.post(url, content=body, headers=json_type), 400)[0] == "bad_input"
    for document, code in (
        ({"id": "../x", "text": "a"}, "bad_document_id"),
        ({"id": "a/./x", "text": "a"}, "bad_document_id"),
        ({"id": "a\nb", "text": "a"}, "bad_document_id"),
        ({"id": "a", "text": "  "}, "no_text"),
    ):
        assert error_of(client.post(url, json={"documents": [document]}), 400)[0] == code
    twice = [{"id": "a", "text": "a"}, {"id": "a", "text": "b"}]
    assert error_of(client.post(url, json={"documents": twice}), 400)[0] == "same_name"
    same = [("files", ("a.txt", b"a")), ("files", ("a.txt", b"b"))]
    assert error_of(client.post(url, files=same), 400)[0] == "same_name"
    llm = {"documents": [{"text": "a"}], "extractor": "llm"}
    assert error_of(client.post(url, json=llm), 503)[0] == "no_model"
    assert error_of(client.post(url, json={"documents": [{"text": "a"}], "extractor": "x"}), 400)[0] == "bad_input"
    assert error_of(client.delete(f"{url}/nowhere"), 404)[0] == "unknown_document"
    broken = {"content-type": "multipart/form-data; boundary=x"}
    assert error_of(client.post(url, content=b"nonsense", headers=broken), 400)[0] in ("bad_input", "no_files")


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


def test_an_index_that_is_written_to_or_was_named_itself_is_not_deleted(make: Make, data: Path) -> None:
    held = Held()
    with make(extractor=held) as client:
        job = add(client, "world", ("a.txt", b"The lake is deep."), extractor="local")
        assert held.begun.wait(20)
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
    remote = Address(("localhost:9200",), "docs").folder(tmp_path).rename(data / "remote.index")
    for name, why in ("linked", "is a link to a folder elsewhere"), ("remote", "is on OpenSearch"):
        code, message = error_of(client.delete(f"/api/indexes/{name}"), 409)
        assert (code, why in message) == ("cannot_delete", True)
    assert elsewhere.is_dir()
    assert remote.is_dir()
    assert (data / "linked.index").is_symlink()


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


def test_bodies_that_are_too_large_are_refused(make: Make) -> None:
    with make(limits=Limits(upload_bytes=1000)) as client:
        url = "/api/indexes/world/documents"
        assert error_of(client.post(url, files=[("files", ("a.txt", b"a" * 2000))]), 413)[0] == "too_large"

        def pieces() -> Iterator[bytes]:
            yield b'{"documents": [{"text": "'
            for _ in range(20):
                yield b"a" * 100

        json_type = {"content-type": "application/json"}
        assert error_of(client.post(url, content=pieces(), headers=json_type), 413)[0] == "too_large"
        multipart = {"content-type": "multipart/form-data; boundary=x"}
        assert error_of(client.post(url, content=pieces(), headers=multipart), 413)[0] == "too_large"


def test_a_second_server_leaves_the_jobs_to_the_first(make: Make) -> None:
    with make() as first, make() as second:
        assert job_ended(first, add(first, "world", ("new.txt", b"Something new."))["id"])["state"] == "done"
        refused = second.post("/api/indexes/world/documents", files=[("files", ("a.txt", b"a"))])
        assert error_of(refused, 409)[0] == "busy"
        assert second.get("/api/indexes/world").json()["documents"] == 7
