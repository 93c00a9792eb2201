"""Keys that are bound to an index and a filter: on no route is there a trace of anything else."""

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain, repeat
from pathlib import Path
from typing import Any
from unittest.mock import DEFAULT, Mock

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from planted_secrets import QUESTION, WHERE, Curious, build, documents, find_leaks
from serve.asking.served_world import library_over, on_loopback
from serve.http.bound_tools import bearer, check_tools, list_writes, tools
from serve.http.small_server import error_of
from triplebeam.errors import IndexChangedError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import view
from triplebeam.index.store.corrections import Corrections
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.testing.hashed_words import HashedWords
from written_facts import Written

HIDDEN, VISIBLE = "zqx-first.md", "mill.md"
#: What is written into the paths of the schema, hidden and visible.
VALUES = {
    "name": ("papers", "zqxother", "paper"),
    "passage_id": (f"{HIDDEN}#0", f"{VISIBLE}#0"),
    "document_id": (HIDDEN, VISIBLE),
    "job_id": ("1",),
    "report_id": ("zqx/report.html",),
    "model_id": ("papers/bm25", "zqxother", "papers"),
}
QUERIES: tuple[dict[str, str], ...] = (
    {},
    *({"entity": entity} for entity in ("Zqxvault", "Mill Harbour")),
    *({"passage": f"{document}#0"} for document in (HIDDEN, VISIBLE)),
)


class Served:
    def __init__(self, folder: Path) -> None:
        build(folder / "papers.index")
        build(folder / "zqxother.index")
        self.model = Curious()
        self.keys = Keys(folder / "keys.json")
        self.whole = self.keys.create("read", "whole")
        self.bound = self.keys.create("read", "bound", index="papers", where=WHERE)
        reports = folder / "reports" / "zqx"
        reports.mkdir(parents=True)
        (reports / "report.html").write_text("<title>Zqxreport</title>")
        library = library_over(folder, home=folder / "home", embedder=HashedWords(), model=self.model)
        self.app: FastAPI = make_app(library, keys=self.keys, reports=folder / "reports")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Served:
    return Served(tmp_path_factory.mktemp("bound"))


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[TestClient]:
    with TestClient(served.app, raise_server_exceptions=False) as client:
        yield client


def paths(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Every path that can be read, filled in all ways, with its query."""
    for template in [path for path, kinds in schema["paths"].items() if "get" in kinds]:
        filled = [template]
        for name, values in VALUES.items():
            if f"{{{name}}}" in template:
                filled = [path.replace(f"{{{name}}}", value) for path in filled for value in values]
        for path in filled:
            for query in QUERIES if path.endswith("/graph") else QUERIES[:1]:
                yield path, query


def test_no_route_leaks(client: TestClient, served: Served) -> None:
    schema = client.get("/api/schema", headers=bearer(served.bound)).json()
    read, found = 0, 0
    for path, query in paths(schema):
        reply = client.get(path, params=query, headers=bearer(served.bound))
        # What was asked for may be named in the refusal.
        echoed = [value for values in VALUES.values() for value in values if value in path] + list(query.values())
        text = reply.text + repr(dict(reply.headers))
        for value in echoed if reply.status_code >= 400 else []:
            text = text.replace(value, "")
        assert not find_leaks(text), (path, query, reply.text)
        assert reply.status_code < 500, (path, reply.text)
        read += 1
        found += bool(find_leaks(client.get(path, params=query, headers=bearer(served.whole)).text))
    assert read > 30
    assert found > 10, "the key that is not bound sees them"


@pytest.mark.parametrize("where", [None, "year = 2020", "zqxfield exists", f'document = "{HIDDEN}"', "group > 3"])
def test_no_question_leaks(client: TestClient, served: Served, where: str | None) -> None:
    headers = {**bearer(served.bound), "accept": "application/json"}
    body: dict[str, Any] = {"question": QUESTION} | ({"where": where} if where else {})
    chat = {"model": "papers/agent", "messages": [{"role": "user", "content": QUESTION}], "where": where}
    replies = [
        *(client.post(f"/api/indexes/papers/{kind}", json=body, headers=headers) for kind in ("search", "ask")),
        client.post("/v1/chat/completions", json=chat, headers=headers),
        client.post("/v1/chat/completions", json={**chat, "model": "papers/blend", "stream": True}, headers=headers),
    ]
    for reply in replies:
        assert reply.status_code == (200 if where in (None, "year = 2020") else 400), reply.text
        assert not find_leaks(reply.text.replace("zqxfield", "").replace(HIDDEN, ""))
    assert not find_leaks(served.model.said())
    other = client.post("/api/indexes/zqxother/search", json=body, headers=headers)
    assert error_of(other, 404)[1] == "there is no index 'zqxother': there are papers."


def test_counts_and_facets_are_of_what_is_visible(client: TestClient, served: Served) -> None:
    (row,) = client.get("/api/indexes", headers=bearer(served.bound)).json()["indexes"]
    assert (row["documents"], row["passages"], row["triples"]) == (4, 4, 7)
    fields = client.get("/api/indexes/papers/facets", headers=bearer(served.bound)).json()
    assert fields["fields"] == ["document", "group", "kind", "path", "section", "title", "year"]
    kinds = [{"value": "person", "documents": 2}, {"value": "place", "documents": 2}]
    assert fields["facets"] == [{"field": "kind", "values": kinds}]
    everything = client.get("/api/indexes/papers/facets", headers=bearer(served.whole)).json()
    group = next(facet for facet in everything["facets"] if facet["field"] == "group")
    assert group["values"] == [{"value": "open", "documents": 4}, {"value": "zqxclosed", "documents": 3}]


def test_a_bound_key_cannot_write(client: TestClient, served: Served) -> None:
    """Whatever the schema has that is neither read nor a question."""
    schema = client.get("/api/schema", headers=bearer(served.bound)).json()
    for method, path in list_writes(schema, name="papers", document_id=VISIBLE, job_id="1"):
        assert client.request(method, path, headers=bearer(served.bound), json={}).status_code == 403, path
    for path in ("/api/jobs", "/api/reports", "/metrics"):
        assert error_of(client.get(path, headers=bearer(served.bound)), 403)[0] == "bound_key"


def test_what_is_wrong_with_the_filter_of_a_key_is_not_said(client: TestClient, served: Served) -> None:
    lost = served.keys.create("read", "lost", where="zqxfeild = 'a'")
    refused = client.post("/api/indexes/papers/search", json={"question": "a"}, headers=bearer(lost))
    code, message = error_of(refused, 403)
    assert (code, find_leaks(message)) == ("nothing_visible", [])
    rows = client.get("/api/indexes", headers=bearer(lost)).json()["indexes"]
    assert {row["status"] for row in rows} == {"empty"}
    served.keys.delete("lost")


@pytest.mark.anyio
async def test_no_tool_leaks(served: Served) -> None:
    with on_loopback(served.app) as address:
        await check_tools(address, served.bound, HIDDEN, VISIBLE)
        async with tools(address, served.whole) as client:
            found = await client.call_tool("search", {"question": QUESTION, "index": "papers"})
    assert find_leaks(found.model_dump_json())
    assert not find_leaks(served.model.said())


def test_a_name_that_was_merged_in_hidden_passages_is_unknown(tmp_path: Path) -> None:
    served = Served(tmp_path)
    builder = IndexBuilder(folder=tmp_path / "papers.index", embedder=HashedWords(), extractor=Written())
    builder.correct(Corrections.of([{"merge": ["Zqxvault", "a vault"], "into": "Bath"}]))
    url = "/api/indexes/papers/graph"
    with TestClient(served.app) as client:
        for name, key, status in (("Zqxvault", served.bound, 404), ("a vault", served.bound, 200)):
            assert client.get(url, params={"entity": name}, headers=bearer(key)).status_code == status
        query = {"entity": "Zqxvault"}
        assert client.get(url, params=query, headers=bearer(served.keys.create("read"))).status_code == 200


@pytest.mark.parametrize(("changes", "found"), [(3, True), (100, False)])
def test_an_index_that_is_published_again_and_again_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: int, found: bool
) -> None:
    build(tmp_path / "papers.index")
    library = library_over(tmp_path, home=tmp_path / "home", embedder=HashedWords())
    changing = chain(repeat(IndexChangedError("it has changed"), changes), repeat(DEFAULT))
    monkeypatch.setattr("triplebeam.assemble.context.view", Mock(wraps=view, side_effect=changing))
    with nullcontext() if found else pytest.raises(IndexChangedError):
        assert len(library.index("papers", WHERE).passages.document_ids) == 4


def test_a_filter_holds_for_what_is_published_meanwhile(tmp_path: Path) -> None:
    served = Served(tmp_path)
    with TestClient(served.app) as client:
        ask = {"question": QUESTION, "method": "bm25"}
        before = client.post("/api/indexes/papers/search", json=ask, headers=bearer(served.bound)).json()
        builder = IndexBuilder(folder=tmp_path / "papers.index", embedder=HashedWords(), extractor=Written())
        builder.remove(["guard.md"])
        builder.build([documents()[0]])
        after = client.post("/api/indexes/papers/search", json=ask, headers=bearer(served.bound)).json()
    ids = [[passage["id"] for passage in found["passages"]] for found in (before, after)]
    assert set(ids[0]) - set(ids[1]) == {"guard.md#0"}
    assert not find_leaks(after)
