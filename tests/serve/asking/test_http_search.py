"""Searching over HTTP: passages with their chains, the graph around them, reports, and every way to ask wrongly."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from serve.asking.served_world import FACTS, QUESTION, MakeApp, UntilCancelled, stands_still
from serve.http.small_server import error_of
from triplebeam.assemble import Method
from triplebeam.assemble.table import list_agents, list_retrievers

SEARCH = "/api/indexes/world/search"


def test_passages_come_with_chains_and_the_time_it_took(client: TestClient) -> None:
    found = client.post(SEARCH, json={"question": QUESTION, "method": "hybrid+naive_ge", "k": 3}).json()
    assert (found["question"], found["method"]) == (QUESTION, "hybrid+naive_ge")
    assert found["seconds"] > 0
    assert len(found["passages"]) == 3
    assert any(FACTS[0] in chain for passage in found["passages"] for chain in passage["chains"])
    assert all("found_by" not in passage for passage in found["passages"])
    film = next(passage for passage in found["passages"] if passage["id"] == "film")
    assert (film["document_id"], film["path"], film["section"], film["position"]) == ("film", "film", "", 0)
    assert "Hell" in [film["snippet"]["text"][start:end] for start, end in film["snippet"]["highlights"]]


def test_where_no_passage_has_a_word_of_the_question_that_is_said(client: TestClient) -> None:
    found = client.post(SEARCH, json={"question": "asdf qwer"}).json()
    assert found["passages"]
    assert found["remark"].startswith("No word of the question occurs in these passages")
    assert "remark" not in client.post(SEARCH, json={"question": QUESTION}).json()
    assert "remark" not in client.post(SEARCH, json={"question": "asdf", "method": "bm25"}).json()  # nothing is found
    assert "remark" not in client.post(SEARCH, json={"question": "asdf", "method": "dense"}).json()  # needs no words
    for question in ("!!!", "🙂", "who is the"):
        found = client.post(SEARCH, json={"question": question}).json()
        assert found["passages"]
        assert found["remark"].startswith("The question has no words other than")


def test_the_default_tells_the_ranks_in_the_lists_it_fuses(client: TestClient) -> None:
    found = client.post(SEARCH, json={"question": QUESTION}).json()
    assert found["method"] == "blend"
    parts = [passage["found_by"] for passage in found["passages"]]
    assert set().union(*parts) == {"messages", "triples", "names", "titles", "owners", "plain"}
    assert all(rank >= 1 for ranks in parts for rank in ranks.values())


def test_past_the_time_limit_a_search_asks_no_model(make: MakeApp) -> None:
    model = UntilCancelled()
    body = {"question": QUESTION, "method": "hybrid+sync_ge+sync_ge+sync_ge"}
    response = TestClient(make(model=model, ask_seconds=0.1)).post(SEARCH, json=body)
    assert error_of(response, 504)[0] == "time_limit"
    assert stands_still(model)
    assert model.calls <= 1  # none, where the limit was over before the first reading


def test_what_is_wrong_is_said(client: TestClient) -> None:
    for body, status, code, said in (
        ({"question": 3}, 400, "bad_input", "question"),
        ({"question": "a", "k": 0}, 400, "bad_input", "k"),
        ({"question": "a", "k": 101}, 400, "bad_input", "k"),
        ({"question": "x" * 1_000_000}, 413, "question_too_long", "1,000,000 characters"),
        ({"question": "a", "method": "bm25" * 200}, 400, "bad_input", "characters"),
        ({"question": "a", "method": "gold"}, 400, "bad_input", "gold passages"),
        ({"question": "a", "method": "gnn_ret[weights=/dev/zero]"}, 400, "bad_input", "names a file"),
        ({"question": "a", "method": "hybrid" + "+naive_ge" * 4}, 400, "bad_input", "has 5 parts"),
        ({"question": "a", "method": "hybrid+naive_ge[length=11]"}, 400, "bad_input", "at most 10"),
        ({"question": "a", "method": "hybrid+naive_ge[width=١٠٠١]"}, 400, "bad_input", "at most 1,000"),
        ({"question": "a", "method": "hybrid+sync_ge"}, 503, "no_model", "TRIPLEBEAM_MODEL"),
    ):
        found, message = error_of(client.post(SEARCH, json=body), status)
        assert (found, said in message) == (code, True), message


def test_a_passage_with_its_triples_and_a_document_with_its_passages(client: TestClient) -> None:
    passage = client.get("/api/indexes/world/passages/film").json()
    assert passage == {
        "id": "film",
        "title": "Laughter in Hell",
        "text": "Laughter in Hell is a drama film directed by Edward Cahn.",
        "section": "",
        "document_id": "film",
        "path": "film",
        "position": 0,
        "triples": [FACTS[0], ["Laughter in Hell", "is", "drama film"]],
    }
    found = client.get("/api/indexes/world/documents/film").json()
    assert found == {"id": "film", "title": "Laughter in Hell", "total": 1, "passages": [passage]}
    beyond = client.get("/api/indexes/world/documents/film?offset=1&limit=5").json()
    assert beyond == {**found, "passages": []}


def test_an_unknown_passage_or_document(client: TestClient) -> None:
    for id_ in ("nowhere", "a/b.md", "..%2F..%2Fetc%2Fpasswd"):
        for kind in ("passage", "document"):
            assert error_of(client.get(f"/api/indexes/world/{kind}s/{id_}"), 404)[0] == f"unknown_{kind}"


def test_every_method_is_described_and_is_what_it_is_listed_as(client: TestClient) -> None:
    listed = client.get("/api/methods").json()
    searches = [Method.parse(method["name"]) for method in listed["search"]]
    assert {part.row.name for method in searches for part in method.parts} == set(list_retrievers()) - {"gold"}
    assert not any(method.is_agent for method in searches)
    assert [method["name"] for method in listed["ask"]] == list(list_agents())
    assert all(method["description"] for kind in listed.values() for method in kind)


GRAPH = "/api/indexes/world/graph"


def test_an_entity_with_its_triples_and_their_passages(client: TestClient) -> None:
    drawn = client.get(GRAPH, params={"entity": "EDWARD cahn"}).json()
    assert drawn["truncated"] is False
    assert drawn["nodes"][0] == {"id": "e:edward cahn", "kind": "entity", "label": "Edward Cahn"}
    assert {node["id"] for node in drawn["nodes"] if node["kind"] == "passage"} == {"p:film", "p:director"}
    assert {
        "source": "e:laughter in hell",
        "target": "e:edward cahn",
        "predicate": "directed by",
        "passage_id": "film",
    } in drawn["edges"]
    assert {"source": "p:director", "target": "e:25 august 1963"} in drawn["edges"]
    ids = [node["id"] for node in drawn["nodes"]]
    assert len(ids) == len(set(ids))
    assert all({edge["source"], edge["target"]} <= set(ids) for edge in drawn["edges"])


def test_a_passage_with_its_triples_and_one_without(client: TestClient) -> None:
    drawn = client.get(GRAPH, params={"passage": "city"}).json()
    assert drawn["nodes"][0] == {"id": "p:city", "kind": "passage", "label": "Milwaukee"}
    assert [edge["predicate"] for edge in drawn["edges"] if "predicate" in edge] == ["lies in", "lies on"]
    alone = client.get(GRAPH, params={"passage": "other"}).json()
    assert ([node["id"] for node in alone["nodes"]], alone["edges"]) == (["p:other"], [])


def test_a_limit_is_kept_and_reported(client: TestClient) -> None:
    drawn = client.get(GRAPH, params={"entity": "Milwaukee", "limit": 1}).json()
    assert drawn["truncated"] is True
    assert len([edge for edge in drawn["edges"] if "predicate" in edge]) == 1
    assert drawn == client.get(GRAPH, params={"entity": "Milwaukee", "limit": 1}).json()


def test_what_cannot_be_drawn_and_the_nearest_entities(client: TestClient) -> None:
    for given, code, said in (
        ({}, "bad_input", ""),
        ({"entity": "Milwaukee", "passage": "city"}, "bad_input", ""),
        ({"entity": "Milwaukee", "limit": "0"}, "bad_input", "limit"),
        ({"entity": "Milwaukee", "limit": "501"}, "bad_input", "limit"),
        ({"entity": "x" * 2000}, "bad_input", "entity"),
        ({"passage": "nowhere"}, "unknown_passage", "nowhere"),
        ({"entity": "Edvard Cahn"}, "unknown_entity", "did you mean 'Edward Cahn' or"),
        ({"entity": "Michigan"}, "unknown_entity", "did you mean 'Lake Michigan' or"),
        ({"entity": "zz"}, "unknown_entity", "'zz'"),
    ):
        found, message = error_of(client.get(GRAPH, params=given), 400 if code == "bad_input" else 404)
        assert (found, said in message) == (code, True), message
    assert client.get("/api/indexes/none/graph", params={"entity": "a"}).status_code == 404


def test_every_route_is_described_with_its_errors(make: MakeApp) -> None:
    paths = make().openapi()["paths"]
    operations = [operation for verbs in paths.values() for operation in verbs.values()]
    asking = {"search", "graph", "ask", "methods", "openai", "reports"}
    for operation in [operation for operation in operations if asking & set(operation["tags"])]:
        assert operation["description"]
        assert {"4XX", "5XX"} <= set(operation["responses"]), operation
        assert "422" not in operation["responses"]
    answered = paths["/api/indexes/{name}/ask"]["post"]["responses"]["200"]["content"]
    assert set(answered) == {"application/json", "text/event-stream"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "reports"
    for name in ("musique", "own questions"):
        (folder / name).mkdir(parents=True)
        (folder / name / "report.html").write_text(f"<title>On {name} &amp; more</title>", encoding="utf-8")
    (folder / "musique" / "results.json").write_text("{}", encoding="utf-8")
    (folder / "musique" / "secret.txt").write_text("no report", encoding="utf-8")
    (tmp_path / "report.html").write_text("outside", encoding="utf-8")
    (folder / "linked").mkdir()
    (folder / "linked" / "report.html").symlink_to(tmp_path / "report.html")
    return folder


def test_reports_are_listed_and_opened(make: MakeApp, folder: Path) -> None:
    client = TestClient(make(reports=folder))
    listed = client.get("/api/reports").json()["reports"]
    assert [(report["id"], report["title"]) for report in listed] == [
        ("musique/report.html", "On musique & more"),
        ("musique/results.json", "musique: results"),
        ("own questions/report.html", "On own questions & more"),
    ]
    opened = [client.get(report["url"]) for report in listed]
    assert [response.status_code for response in opened] == [200, 200, 200]
    assert opened[0].headers["content-type"].startswith("text/html")
    assert "sandbox" in opened[0].headers["content-security-policy"]
    assert opened[1].json() == {}


def test_what_is_not_listed_is_not_read(make: MakeApp, folder: Path) -> None:
    client = TestClient(make(reports=folder))
    for report_id in ("none", "musique/secret.txt", "..%2Freport.html", "linked/report.html", "musique"):
        assert error_of(client.get(f"/api/reports/{report_id}"), 404)[0] == "unknown_report"
    without = TestClient(make())
    assert without.get("/api/reports").json() == {"reports": []}
    assert without.get("/api/reports/musique/report.html").status_code == 404
