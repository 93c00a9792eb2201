"""The fields of documents that are sent as JSON: kept as those of a row of a file, or refused; a filter sees them."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from serve.http.small_server import Make, error_of, job_ended
from triplebeam.assemble.indexing import read_documents
from triplebeam.ingest import read_sources
from triplebeam.passage import Document
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.http.uploads import keep_texts, read_kept

URL = "/api/indexes/world/documents"
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


@pytest.fixture
def kept(make: Make, tmp_path: Path) -> Iterator[tuple[TestClient, dict[str, dict[str, str]]]]:
    """A server with keys, and their headers."""
    keys = Keys(tmp_path / "keys.json")
    made = {
        "write": keys.create("write", "writer"),
        "not b": keys.create("read", "reader", index="world", where='not tenant = "b"'),
        "b": keys.create("read", "other", index="world", where='tenant = "b"'),
    }
    with make(keys=keys) as client:
        yield client, {name: {"Authorization": f"Bearer {key}"} for name, key in made.items()}


@pytest.mark.parametrize("fields", [{"tenant": "b"}, {"metadata": {"tenant": "b"}}])
def test_a_key_does_not_see_what_its_filter_excludes(
    kept: tuple[TestClient, dict[str, dict[str, str]]], fields: dict[str, Any]
) -> None:
    client, headers = kept
    secret = {"id": "secret", "text": "Kumquatius is the secret of tenant b.", "year": 1999, **fields}
    other = {"id": "other", "text": "Kumquatius is known to tenant a.", "tenant": "a", "year": 2001.5, "open": True}
    response = client.post(URL, json={"documents": [secret, other], "extractor": "none"}, headers=headers["write"])
    client.headers.update(headers["write"])
    assert job_ended(client, response.json()["job"]["id"])["state"] == "done"

    def found(key: str, where: str | None = None) -> set[str]:
        body = {"question": "Kumquatius secret", "method": "bm25", "where": where}
        reply = client.post("/api/indexes/world/search", json=body, headers=headers[key])
        assert reply.status_code == 200, reply.text
        return {each["document_id"] for each in reply.json()["passages"]} & {"secret", "other"}

    assert found("not b") == {"other"}
    assert found("b") == {"secret"}
    assert found("write", "year < 2000") == {"secret"}
    assert found("write", "year > 2000 and open = true") == {"other"}
    assert client.get(f"{URL}/secret", headers=headers["not b"]).status_code == 404


@pytest.mark.parametrize(
    ("document", "said"),
    [
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
    ],
)
def test_other_shapes_are_refused(client: TestClient, document: dict[str, Any], said: str) -> None:
    body = {"documents": [{"text": "First."}, {"text": "Second."} | document]}
    code, message = error_of(client.post(URL, json=body), 400)
    assert code == "bad_input"
    assert message.startswith(f"document 2 cannot be indexed: {said}"), message
    assert client.get("/api/jobs").json() == {"jobs": []}


@pytest.mark.parametrize("row", ["text", 3, None, ["text"], True])
def test_a_row_is_an_object(client: TestClient, row: object) -> None:
    message = error_of(client.post(URL, json={"documents": [row]}), 400)[1]
    assert message == "document 1 cannot be indexed: it is not a JSON object."


def test_fields_beside_the_documents_are_refused(client: TestClient) -> None:
    beside = {"documents": [{"text": "x"}], "tenant": "b"}
    assert "tenant: there is no such parameter here" in error_of(client.post(URL, json=beside), 400)[1]
    files = [("files", ("a.txt", b"words"))]
    message = error_of(client.post(URL, files=files, data={"tenant": "b"}), 400)[1]
    assert message.startswith("there is no field 'tenant' beside files")
    assert client.get("/api/jobs").json() == {"jobs": []}


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"documents": [%s]}' % (b"9" * 5000), b"\xff", b'{"documents"'])
def test_bodies_that_are_no_json_are_refused(client: TestClient, body: bytes) -> None:
    reply = client.post(URL, content=body, headers={"content-type": "application/json"})
    assert error_of(reply, 400)[1].startswith("the body cannot be read as JSON")
