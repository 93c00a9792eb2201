"""A key that is bound to a filter, over an index on a cluster: no trace of what it must not see."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from planted_secrets import QUESTION, WHERE, Curious, build, documents, find_leaks
from serve.asking.served_world import on_loopback
from serve.http.bound_tools import check_tools
from triplebeam.assemble.models import publisher_of
from triplebeam.index.location import Cluster
from triplebeam.passage import Document
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords
from written_facts import written_builder

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("opensearch")]


class Served(NamedTuple):
    app: FastAPI
    client: TestClient
    path: str
    bound: dict[str, str]
    whole: dict[str, str]
    model: Curious


@pytest.fixture(scope="module")
def served(address: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    base = tmp_path_factory.mktemp("bound")
    settings = Settings(home=base / "home", state=base / "state", offline=True, model=None)
    location = Cluster.parse(address("secrets"), settings.state)
    build(location.state, publisher=publisher_of(location))
    model, keys = Curious(), Keys(base / "keys.json")
    library = Library([location], settings, embedder=HashedWords(), model=model)
    [name] = library.names()
    bound, whole = keys.create("read", "bound", index=name, where=WHERE), keys.create("read", "whole")
    app = make_app(library, keys=keys)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield Served(app, client, f"/api/indexes/{name}", _bearer(bound), _bearer(whole), model)


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", "accept": "application/json"}


def test_counts_are_of_what_is_visible(served: Served) -> None:
    row, everything = (served.client.get(served.path, headers=key).json() for key in (served.bound, served.whole))
    assert (row["documents"], row["passages"], row["triples"]) == (4, 4, 7)
    assert (everything["documents"], everything["passages"]) == (7, 7)


def test_no_page_leaks(served: Served) -> None:
    seen = 0
    for path, query in (
        ("", {}),
        ("/documents", {}),
        ("/facets", {}),
        ("/documents/zqx-first.md", {}),
        ("/passages/zqx-first.md%230", {}),
        ("/graph", {"entity": "Mill Harbour"}),
        ("/graph", {"entity": "Zqxvault"}),
        ("/graph", {"passage": "mill.md#0"}),
    ):
        reply, whole = (
            served.client.get(f"{served.path}{path}", params=query, headers=key) for key in (served.bound, served.whole)
        )
        text = reply.text
        for asked in ("zqx-first.md", "Zqxvault") if reply.status_code >= 400 else ():
            text = text.replace(asked, "")
        assert reply.status_code < 500, (path, text)
        assert not find_leaks(text), (path, query, text)
        seen += bool(find_leaks(whole.text))
    assert seen > 2, "the key that is not bound sees them"


@pytest.mark.parametrize("method", ["blend", "bm25", "dense@triples", "hybrid+naive_ge", "gnn_ret", "hipporag2"])
def test_no_search_leaks(served: Served, method: str) -> None:
    body = {"question": QUESTION, "method": method, "k": 20}
    reply = served.client.post(f"{served.path}/search", json=body, headers=served.bound)
    assert reply.status_code == 200, reply.text
    assert not find_leaks(reply.text)


@pytest.mark.anyio
async def test_no_tool_leaks(served: Served) -> None:
    key = served.bound["Authorization"].removeprefix("Bearer ")
    with on_loopback(served.app) as address:
        await check_tools(address, key, "zqx-first.md", "mill.md")
    assert not find_leaks(served.model.said())


def test_no_answer_leaks(served: Served) -> None:
    for method in ("agent", "ircot+hybrid"):
        body = {"question": QUESTION, "method": method}
        reply = served.client.post(f"{served.path}/ask", json=body, headers=served.bound)
        assert not find_leaks(reply.text)
    assert served.model.prompts
    assert not find_leaks(served.model.said())


def test_a_long_value_does_not_show_its_passage(address: Callable[[str], str], tmp_path: Path) -> None:
    """It cannot be compared there, and `not` must not hold for it."""
    location = Cluster.parse(address("long"), tmp_path)
    rows = [
        Document(id="open", text="Open to all.", metadata={"acl": "staff"}),
        Document(id="closed", text="For few.", metadata={"acl": "hr " * 4000}),
    ]
    written_builder(location.state, publisher=publisher_of(location)).build([*documents(), *rows])
    library = Library([location], Settings(), embedder=HashedWords())
    [name] = library.names()
    view = library.index(name).filter('acl exists and not acl contains "hr"')
    assert [passage.document_id for passage in view.passages] == ["open"]
    assert "closed" not in list(library.index(name).filter('not acl contains "hr"').passages.document_ids)
