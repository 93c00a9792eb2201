"""Documents over HTTP: put, listed, refused at the door; fields of JSON are kept as those of a row of a file."""

import io
import json
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from serve.http.small_server import Make, add, error_of, ids, job_ended
from small_world import TRIPLES, TableExtractor
from triplebeam.assemble.indexing import read_documents
from triplebeam.ingest import read_sources
from triplebeam.passage import Document
from triplebeam.serve.http.uploads import keep_texts, read_kept
from triplebeam.serve.limits import Limits

URL = "/api/indexes/world/documents"


def put_files(client: TestClient, name: str, *files: tuple[str, bytes]) -> dict[str, Any]:
    """The job that replaces the documents of an index, when it has ended."""
    sent = [("files", file) for file in files]
    job = client.put(f"/api/indexes/{name}/documents", files=sent, data={"extractor": "none"}).json()["job"]
    return job_ended(client, job["id"])


def test_what_is_put_is_all_there_is(client: TestClient) -> None:
    assert client.post("/api/indexes", json={"name": "notes"}).status_code == 201
    job_ended(client, add(client, "notes", ("ada.txt", b"Ada wrote."), ("bob.txt", b"Bob sings."))["id"])
    ended = put_files(client, "notes", ("bob.txt", b"Bob sings."), ("cy.txt", b"Cy paints."))
    assert (ended["kind"], ended["state"]) == ("sync", "done")
    assert ended["message"] == "1 of 2 documents new or changed; 1 deleted"
    assert ids(client, "notes") == ["bob.txt", "cy.txt"]
    texts = {"documents": [{"id": "dot", "text": "Dot knits."}], "extractor": "none"}
    job_ended(client, client.put("/api/indexes/notes/documents", json=texts).json()["job"]["id"])
    assert ids(client, "notes") == ["dot"]
    assert put_files(client, "notes", ("dot.pdf", b"%PDF-1.4 and no more"))["state"] == "failed"
    assert ids(client, "notes") == ["dot"], "where nothing can be read nothing is deleted"


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


def test_names_that_lead_elsewhere_are_refused(client: TestClient, tmp_path: Path) -> None:
    headers = {"content-type": "multipart/form-data; boundary=b0undary"}
    before = sorted(tmp_path.rglob("*"))
    names = ["../../x.txt", "..\\..\\x.txt", "a/../b.txt", "", ".hidden.txt", "..", "\x00\x01", "n" * 300 + ".txt"]
    for name in names:
        body = f'--b0undary\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\nx\r\n--b0undary--'
        assert client.post(URL, content=body.encode(), headers=headers).status_code == 400, name
    assert [path for path in tmp_path.rglob("*") if path not in before and path.parent.name == "files"] == []
    assert client.get("/api/jobs").json() == {"jobs": []}


def test_a_folder_in_a_file_name_is_left_out(client: TestClient) -> None:
    job = add(client, "world", ("C:\\notes\\a b.txt", b"Words."))
    assert job_ended(client, job["id"])["state"] == "done"
    assert "a b.txt" in ids(client, "world")


def test_kinds_and_sizes_are_refused_at_the_door(client: TestClient, data: Path) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", b"\0" * 30_000_000)
    for name, content, status, said in (
        ("program.exe", b"MZ\0", 415, ".docx"),
        ("picture.txt", b"\x89PNG\0\0", 415, "not that of a .txt file"),
        ("a.pdf", b"hello", 415, "not that of a .pdf file"),
        ("a.docx", b"hello", 415, "not that of a .docx file"),
        ("a.jsonl.gz", b"hello", 415, "not that of a .jsonl.gz file"),
        ("bomb.docx", bomb.getvalue(), 413, "looks like a zip bomb"),
    ):
        assert said in error_of(client.post(URL, files=[("files", (name, content))]), status)[1]
    assert list((data / ".triplebeam" / "jobs").iterdir()) == []


def test_bad_requests_for_documents(client: TestClient) -> None:
    json_type, multipart = ({"content-type": kind} for kind in ("application/json", "multipart/form-data; boundary=x"))
    text, other = {"id": "a", "text": "a"}, {"id": "a", "text": "b"}
    for status, code, sent in (
        (415, "unsupported", {"content": b"x", "headers": {"content-type": "text/plain"}}),
        (415, "unsupported", {"content": b"x"}),
        (400, "no_files", {"data": {"extractor": "none"}, "files": {"other": b"x"}}),
        *((400, "bad_input", {"content": body, "headers": json_type}) for body in (b"", b"null")),
        *((400, "bad_input", {"json": body}) for body in ([], {"documents": []}, {"documents": [{"text": ""}]})),
        *((400, "bad_document_id", {"json": {"documents": [text | {"id": id_}]}}) for id_ in ("../x", "a/./x", "a\nb")),
        (400, "no_text", {"json": {"documents": [{"id": "a", "text": "  "}]}}),
        (400, "same_name", {"json": {"documents": [text, other]}}),
        (400, "same_name", {"files": [("files", ("a.txt", b"a")), ("files", ("a.txt", b"b"))]}),
        (503, "no_model", {"json": {"documents": [text], "extractor": "llm"}}),
        (400, "bad_input", {"json": {"documents": [text], "extractor": "x"}}),
    ):
        assert error_of(client.post(URL, **sent), status)[0] == code, sent  # type: ignore[arg-type]
    assert error_of(client.delete(f"{URL}/nowhere"), 404)[0] == "unknown_document"
    nonsense = client.post(URL, content=b"nonsense", headers=multipart)
    assert error_of(nonsense, 400)[0] in ("bad_input", "no_files")


def test_bodies_that_are_too_large_are_refused(make: Make) -> None:
    with make(limits=Limits(upload_bytes=1000)) as client:
        assert error_of(client.post(URL, files=[("files", ("a.txt", b"a" * 2000))]), 413)[0] == "too_large"
        for kind in ("application/json", "multipart/form-data; boundary=x"):
            pieces = iter([b'{"documents": [{"text": "', *[b"a" * 100] * 20])
            refused = client.post(URL, content=pieces, headers={"content-type": kind})
            assert error_of(refused, 413)[0] == "too_large"


_PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
_FIELDS = st.dictionaries(st.text(st.characters(), max_size=8), _PLAIN, max_size=5)
_NAMED = st.dictionaries(st.sampled_from(["tenant", "year", "title", "section", "modified"]), _PLAIN, max_size=3)


@st.composite
def _rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    rows = []
    for number in range(draw(st.integers(1, 4))):
        row: dict[str, Any] = draw(_FIELDS) | {"text": f"x{draw(st.text(st.characters()))}"}
        row["id"] = draw(st.sampled_from([number, f"row {number}"]))
        row["title"] = draw(st.none() | st.text(st.characters(), max_size=20))
        row["metadata"] = draw(st.none() | _FIELDS | _NAMED)
        rows.append(row)
    return rows


@given(_rows())
def test_rows_are_the_same_in_a_file_a_body_and_in_python(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        of_file = [replace(each, source="") for each in read_sources([path]) if isinstance(each, Document)]
        keep_texts(json.loads(json.dumps(rows)), Path(folder, "job"))
        of_body = list(read_kept(Path(folder, "job")))
    assert len(of_file) == len(rows)
    assert of_body == [replace(each, is_passage=False) for each in of_file]
    assert list(read_documents(rows, [])) == of_file


@pytest.mark.parametrize("fields", [{"tenant": "b"}, {"metadata": {"tenant": "b"}}])
def test_a_filter_sees_the_fields_of_what_is_sent(client: TestClient, fields: dict[str, Any]) -> None:
    secret = {"id": "secret", "text": "Kumquatius is the secret of tenant b.", "year": 1999, **fields}
    other = {"id": "other", "text": "Kumquatius is known to tenant a.", "tenant": "a", "year": 2001.5, "open": True}
    response = client.post(URL, json={"documents": [secret, other], "extractor": "none"})
    assert job_ended(client, response.json()["job"]["id"])["state"] == "done"
    for where, found in (
        ('not tenant = "b"', "other"),
        ('tenant = "b"', "secret"),
        ("year < 2000", "secret"),
        ("year > 2000 and open = true", "other"),
    ):
        body = {"question": "Kumquatius secret", "method": "bm25", "where": where}
        passages = client.post("/api/indexes/world/search", json=body).json()["passages"]
        assert [each["document_id"] for each in passages if "Kumquatius" in each["text"]] == [found]


def test_other_shapes_are_refused(client: TestClient) -> None:
    for document, said in (
        ({"tenant": ["b"]}, "its field 'tenant' is a list: send a string, a number, true or false"),
        ({"tenant": {"name": "b"}}, "its field 'tenant' is an object"),
        ({"metadata": {"tenant": ["b"]}}, "its field 'tenant' is a list"),
        ({"metadata": {"tenant": {}}}, "its field 'tenant' is an object"),
        ({"metadata": [["tenant", "b"]]}, 'its "metadata" is not a JSON object'),
        ({"metadata": "tenant=b"}, 'its "metadata" is not a JSON object'),
        ({"text": ["x"]}, 'its "text" is not a string'),
        ({"text": None}, 'its "text" is missing or empty'),
        ({"title": 3}, 'its "title" is not a string'),
        ({"title": "t" * 1001}, "its title has 1,001 characters: shorten it to 1,000"),
        ({"id": 1.5}, "its id is neither a string nor an integer"),
        ({"id": "i" * 201}, "its id has 201 characters: shorten it to 200"),
    ):
        body = {"documents": [{"text": "First."}, {"text": "Second."} | document]}
        code, message = error_of(client.post(URL, json=body), 400)
        assert (code, message.partition(said)[0]) == ("bad_input", "document 2 cannot be indexed: "), message
    assert client.get("/api/jobs").json() == {"jobs": []}


def test_rows_that_are_no_objects_and_fields_beside_the_documents_are_refused(client: TestClient) -> None:
    for row in ("text", 3, None, ["text"], True):
        message = error_of(client.post(URL, json={"documents": [row]}), 400)[1]
        assert message == "document 1 cannot be indexed: it is not a JSON object."
    beside = {"documents": [{"text": "x"}], "tenant": "b"}
    assert "tenant: there is no such parameter here" in error_of(client.post(URL, json=beside), 400)[1]
    files = [("files", ("a.txt", b"words"))]
    message = error_of(client.post(URL, files=files, data={"tenant": "b"}), 400)[1]
    assert message.startswith("there is no field 'tenant' beside files")
    assert client.get("/api/jobs").json() == {"jobs": []}


def test_bodies_that_are_no_json_are_refused(client: TestClient) -> None:
    for body in (b"[" * 100_000, b'{"documents": [%s]}' % (b"9" * 5000), b"\xff", b'{"documents"'):
        reply = client.post(URL, content=body, headers={"content-type": "application/json"})
        assert error_of(reply, 400)[1].startswith("the body cannot be read as JSON")
