"""Documents over HTTP: put, listed, and refused at the door."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from serve.http.small_server import Make, add, error_of, ids, job_ended
from small_world import TRIPLES, TableExtractor
from triplebeam.serve.limits import Limits


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


@pytest.mark.parametrize(
    "name", ["../../x.txt", "..\\..\\x.txt", "a/../b.txt", "", ".hidden.txt", "..", "\x00\x01", "n" * 300 + ".txt"]
)
def test_names_that_lead_elsewhere_are_refused(client: TestClient, data: Path, tmp_path: Path, name: str) -> None:
    from triplebeam.serve.http.errors import HTTPProblem
    from triplebeam.serve.http.uploads import clean_name

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
    assert "looks like a zip bomb" in refused("bomb.docx", bomb(), 413)
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
