"""The graph around an entity or a passage."""

import pytest
from starlette.testclient import TestClient

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


def test_a_passage_with_its_triples(client: TestClient) -> None:
    drawn = client.get(GRAPH, params={"passage": "city"}).json()
    assert drawn["nodes"][0] == {"id": "p:city", "kind": "passage", "label": "Milwaukee"}
    assert [edge["predicate"] for edge in drawn["edges"] if "predicate" in edge] == ["lies in", "lies on"]


def test_a_passage_without_triples_is_alone(client: TestClient) -> None:
    drawn = client.get(GRAPH, params={"passage": "other"}).json()
    assert [node["id"] for node in drawn["nodes"]] == ["p:other"]
    assert drawn["edges"] == []


def test_a_limit_is_kept_and_reported(client: TestClient) -> None:
    drawn = client.get(GRAPH, params={"entity": "Milwaukee", "limit": 1}).json()
    assert drawn["truncated"] is True
    assert len([edge for edge in drawn["edges"] if "predicate" in edge]) == 1
    assert drawn == client.get(GRAPH, params={"entity": "Milwaukee", "limit": 1}).json()


@pytest.mark.parametrize(
    ("entity", "said"),
    [("Edvard Cahn", "did you mean 'Edward Cahn' or"), ("Michigan", "did you mean 'Lake Michigan' or"), ("zz", "'zz'")],
)
def test_an_unknown_entity_has_near_ones_named(client: TestClient, entity: str, said: str) -> None:
    response = client.get(GRAPH, params={"entity": entity})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "unknown_entity")
    assert said in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({}, 400),
        ({"entity": "Milwaukee", "passage": "city"}, 400),
        ({"entity": "Milwaukee", "limit": 0}, 400),
        ({"entity": "Milwaukee", "limit": 501}, 400),
        ({"entity": "x" * 2000}, 400),
        ({"passage": "nowhere"}, 404),
    ],
)
def test_what_cannot_be_drawn(client: TestClient, given: dict[str, str], status: int) -> None:
    assert client.get(GRAPH, params=given).status_code == status
    assert client.get("/api/indexes/none/graph", params={"entity": "a"}).status_code == 404
