"""What programs see of the asking routes: a schema, and spans."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

from serve.asking.served_world import QUESTION, MakeApp, one_reading
from triplebeam.serve import running
from triplebeam.testing.scripted import Scripted

ROUTES = {
    "/api/indexes/{name}/search": "post",
    "/api/indexes/{name}/ask": "post",
    "/api/indexes/{name}/passages/{passage_id}": "get",
    "/api/indexes/{name}/graph": "get",
    "/api/methods": "get",
    "/api/reports": "get",
    "/api/reports/{report_id}": "get",
    "/v1/models": "get",
    "/v1/chat/completions": "post",
}


def test_every_route_is_described_with_its_errors(make: MakeApp) -> None:
    paths = make().openapi()["paths"]
    for path, verb in ROUTES.items():
        operation = paths[path][verb]
        assert operation["description"]
        assert {"4XX", "5XX"} <= set(operation["responses"])
        assert "422" not in operation["responses"]
    answered = paths["/api/indexes/{name}/ask"]["post"]["responses"]["200"]["content"]
    assert set(answered) == {"application/json", "text/event-stream"}


def test_a_search_an_answer_and_its_steps_are_spans(make: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[str, Mapping[str, object]]] = []

    @contextmanager
    def span(name: str, attributes: Mapping[str, object] | None = None) -> Iterator[None]:
        opened.append((name, attributes or {}))
        yield

    monkeypatch.setattr(running, "span", span)
    with Scripted(one_reading()) as model:
        client = TestClient(make(model=model))
        client.post("/api/indexes/world/search", json={"question": QUESTION, "method": "bm25"})
        client.post("/api/indexes/world/ask", json={"question": QUESTION})
    assert [name for name, _ in opened] == ["search", "ask", "step", "step"], "the last step is the answer"
    assert opened[1][1] == {"index": "world", "method": "auto"}
    assert QUESTION not in str(opened)
