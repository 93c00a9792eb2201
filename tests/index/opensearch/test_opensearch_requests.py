"""Addresses, and how requests are sent: without a cluster."""

import json
import logging
import threading
from collections.abc import Iterator
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from tables import read_table
from triplebeam.errors import BadInputError, ClusterError, IndexChangedError, IndexDamagedError, IndexFormatError
from triplebeam.index.location import Cluster, Folder, find_location, parse_location
from triplebeam.index.opensearch import client as client_module
from triplebeam.index.opensearch import generation, publish, source
from triplebeam.index.opensearch.client import Client, Write
from triplebeam.index.opensearch.fetched import ClusterPassages
from triplebeam.index.source import FORMAT, Manifest
from triplebeam.system.work import WorkCancelledError, cancel_on

PLACE = "opensearch://one:9200,two:9201/films"


def test_an_address_names_hosts_and_a_prefix() -> None:
    found = Cluster.parse("opensearchs://one,two:9201/films?shards=3&replicas=2", Path("state"))
    assert found.urls == ["https://one:9200", "https://two:9201"]
    assert (found.prefix, found.shards, found.replicas) == ("films", 3, 2)
    assert found.state == Path("state/opensearch/one_9200_two_9201/films.index")
    assert str(found) == "opensearchs://one:9200,two:9201/films"
    assert parse_location(found, Path("other")) is found
    assert isinstance(parse_location("OpenSearch://localhost/films", Path()), Cluster)
    assert parse_location("films.index", Path()) == Folder(Path("films.index"))


@pytest.mark.parametrize(
    ("text", "said"), read_table(__file__, "test_what_is_wrong_with_an_address_is_said_without_the_password")
)
def test_what_is_wrong_with_an_address_is_said_without_the_password(text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said) as raised:
        parse_location(text, Path())
    assert "secret" not in str(raised.value)


def test_a_password_is_in_no_file_and_no_repr(tmp_path: Path) -> None:
    location = Cluster.parse("opensearch://me:s%40cret@localhost:9200/films", tmp_path)
    location.write_address()
    assert location.credentials == ("me", "s@cret")
    assert not any(b"cret" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert "cret" not in f"{location!r} {location} {Client(location)!r}"
    with pytest.raises(BadInputError, match="without encryption"):
        replace(Cluster.parse("opensearchs://me:secret@elsewhere/films", Path()), scheme="http")


def test_somebody_elses_folder_gets_no_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPLEBEAM_OPENSEARCH_USER", "me")
    monkeypatch.setenv("TRIPLEBEAM_OPENSEARCH_PASSWORD", "secret")
    own = Cluster.parse("opensearchs://foreign/x?shards=3", tmp_path)
    own.write_address()
    with pytest.raises(BadInputError, match="not in your state folder") as raised:
        find_location(own.state)
    assert "secret" not in str(raised.value)
    monkeypatch.setenv("TRIPLEBEAM_STATE", str(tmp_path))
    assert find_location(own.state) == own
    moved = own.state.rename(tmp_path / "moved.index")
    with pytest.raises(BadInputError, match="not in your state folder"):
        find_location(moved)


@pytest.mark.parametrize("content", ["{", "[]", '{"address": 1}', '{"address": "films"}', "{}"])
def test_a_damaged_local_file_is_reported(content: str, tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_text(content)
    with pytest.raises(IndexDamagedError, match="cannot be read"):
        find_location(tmp_path)


@pytest.mark.parametrize(
    ("address", "user"), [("opensearchs://admin@elsewhere/half", "admin"), ("opensearchs://elsewhere/films", "me")]
)
def test_credentials_come_from_the_environment(address: str, user: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPLEBEAM_OPENSEARCH_USER", "me")
    monkeypatch.setenv("TRIPLEBEAM_OPENSEARCH_PASSWORD", "hidden")
    assert Cluster.parse(address, Path()).credentials == (user, "hidden")


class FakeCluster:
    """Makes clients whose requests are answered here, without waiting; keeps the requests.

    An answer is a function of the request, or one for all: a status, the JSON of a reply, or an error to raise.
    """

    def __init__(self) -> None:
        self.requests: list[httpx2.Request] = []

    def __call__(self, answer: Any, tries: int = 4) -> Client:
        def reply(request: httpx2.Request) -> httpx2.Response:
            self.requests.append(request)
            found = answer(request) if callable(answer) else answer
            if isinstance(found, Exception):
                raise found
            if isinstance(found, int):
                return httpx2.Response(found, json={})
            return found if isinstance(found, httpx2.Response) else httpx2.Response(200, json=found)

        client = Client(Cluster.parse(PLACE, Path()), tries)
        client.__dict__["_http"] = httpx2.Client(transport=httpx2.MockTransport(reply))
        return client

    @property
    def hosts(self) -> list[str]:
        return [request.url.host for request in self.requests]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    monkeypatch.setattr(client_module, "_wait", lambda seconds: None)
    return FakeCluster()


def test_another_host_is_asked_where_one_does_not_answer(cluster: FakeCluster) -> None:
    client = cluster(lambda request: httpx2.ConnectError("refused") if request.url.host == "one" else {"ok": True})
    assert client.request("GET", "/") == client.request("GET", "/") == {"ok": True}
    assert cluster.hosts == ["one", "two", "two"]


def test_a_busy_cluster_is_asked_again_and_an_error_is_not(cluster: FakeCluster) -> None:
    replies = [429, 503, 200, 400]
    client = cluster(lambda request: replies.pop(0))
    assert client.request("GET", "/") == {}
    with pytest.raises(ClusterError, match="replied 400"):
        client.request("GET", "/")


def test_documents_are_counted_once_all_shards_started(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    half, whole = ({"count": count, "_shards": {"total": 2, "successful": n}} for count, n in ((4, 1), (10, 2)))
    replies = [half, whole]
    assert publish._count_documents(cluster(lambda request: replies.pop(0)), "films-entities-000002") == 10
    with pytest.raises(ClusterError, match="a shard of films-entities-000002 does not start"):
        publish._count_documents(cluster(half), "films-entities-000002")


def test_an_error_says_what_went_wrong_in_the_shards(cluster: FakeCluster) -> None:
    cause = {"type": "illegal_argument_exception", "reason": "Result window is too large"}
    error = {"type": "search_phase_execution_exception", "reason": "all shards failed", "root_cause": [cause]}
    client = cluster(httpx2.Response(400, json={"error": error, "status": 400}))
    with pytest.raises(ClusterError, match="Result window is too large") as caught:
        client.request("POST", "/films/_search")
    assert caught.value.kind == "search_phase_execution_exception"


def test_a_cluster_that_was_never_reached_is_given_up_soon(cluster: FakeCluster) -> None:
    with pytest.raises(ClusterError, match=rf"{PLACE} cannot be reached \(refused\)"):
        cluster(httpx2.ConnectError("refused"), tries=12).request("GET", "/")
    assert cluster.hosts == ["one", "two", "one", "two"]


def test_a_cluster_that_is_lost_is_announced_and_given_up(
    cluster: FakeCluster, caplog: pytest.LogCaptureFixture
) -> None:
    client = cluster(lambda _: 200 if len(cluster.requests) == 1 else httpx2.ConnectError("refused"), tries=12)
    client.request("GET", "/")
    with pytest.raises(ClusterError, match=rf"{PLACE} cannot be reached \(refused\)"):
        client.request("GET", "/")
    assert len(cluster.requests) == 13
    assert [record.message for record in caplog.records] == [
        f"OpenSearch at {PLACE} cannot be reached (refused): is it running? Retrying, at most 7 times."
    ]


def test_a_cluster_that_replies_too_late_is_asked_twice(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(range(0, 10_000, 121))
    monkeypatch.setattr(client_module, "time", SimpleNamespace(monotonic=lambda: next(times)))
    client = cluster(httpx2.ReadTimeout("late"), tries=12)
    client._reached[0] = True
    with pytest.raises(ClusterError, match=r"cannot be reached \(late\)"):
        client.request("GET", "/")
    assert cluster.hosts == ["one", "two"]


def test_what_a_full_queue_rejects_is_sent_again_alone(cluster: FakeCluster, caplog: pytest.LogCaptureFixture) -> None:
    sent: list[list[str]] = []

    def answer(request: httpx2.Request) -> object:
        ids = [line["index"]["_id"] for line in map(json.loads, request.content.splitlines()) if "index" in line]
        sent.append(ids)
        busy = {"two", "three"} if len(sent) == 1 else {"three"} if len(sent) == 2 else set()
        items = [{"index": {"status": 429 if id_ in busy else 201}} for id_ in ids]
        return {"errors": bool(busy), "items": items}

    with caplog.at_level(logging.INFO):
        cluster(answer).write(Write("films", id_, {}) for id_ in ("one", "two", "three"))
    assert sent == [["one", "two", "three"], ["two", "three"], ["three"]]
    assert "2 documents are sent again" in caplog.text


def test_after_an_error_nothing_more_is_sent(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_MAX_DOCUMENTS", 1)
    error = {"error": {"type": "illegal_argument_exception", "reason": "closed"}}
    with pytest.raises(ClusterError, match="closed"):
        cluster(lambda _: httpx2.Response(400, json=error)).write(
            Write("films", str(number), {}) for number in range(100)
        )
    assert len(cluster.requests) < 10


def test_on_ctrl_c_requests_under_way_are_abandoned(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_MAX_DOCUMENTS", 1)
    monkeypatch.setattr(client_module, "_SECONDS_TO_END", 0.1)
    sent, release, replied = threading.Semaphore(0), threading.Event(), []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.release()
        release.wait(20)
        replied.append(threading.current_thread())
        return httpx2.Response(429, json={})

    def interrupted() -> Iterator[Write]:
        yield from (Write("films", str(number), {}) for number in range(4))
        for _ in range(3):
            sent.acquire()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cluster(answer).write(interrupted())
    assert replied == []
    release.set()
    for _ in range(3):
        assert not sent.acquire(timeout=0.1)
    for thread in replied:
        thread.join()
    assert len(replied) == 3


def test_a_request_of_cancelled_work_is_not_sent(cluster: FakeCluster) -> None:
    def cancelled() -> None:
        stop = threading.Event()
        stop.set()
        cancel_on(stop)
        cluster(pytest.fail).request("GET", "/")

    with pytest.raises(WorkCancelledError, match="The work was cancelled: start it again"):
        copy_context().run(cancelled)


def test_ctrl_c_while_a_thread_starts_ends_those_that_have(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_MAX_DOCUMENTS", 1)
    started, start = [], threading.Thread.start

    def start_two(thread: threading.Thread) -> None:
        if len(started) == 2:
            raise KeyboardInterrupt
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_two)
    with pytest.raises(KeyboardInterrupt):
        cluster({"errors": False}).write(Write("films", str(number), {}) for number in range(9))
    for thread in started:
        thread.join(20)
    assert [thread.is_alive() for thread in started] == [False, False]


def test_on_ctrl_c_the_request_waited_for_may_end(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_SECONDS_TO_END", 20)
    sent, interrupted, replied = threading.Event(), threading.Event(), []

    class Interrupted(client_module.Future[None]):
        def result(self, timeout: float | None = None) -> None:
            sent.wait(20)
            threading.Timer(0.1, interrupted.set).start()
            raise KeyboardInterrupt

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.set()
        interrupted.wait(20)
        replied.append(request)
        return httpx2.Response(200, json={"errors": False})

    monkeypatch.setattr(client_module, "Future", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        cluster(answer).write([Write("films", "one", {})])
    assert len(replied) == 1


@pytest.mark.parametrize(
    ("segments", "behind"),
    [
        ({"segments": {"segment_replication": {"total_bytes_behind": 7}}}, 7),
        ({"segments": {"segment_replication": {"total_bytes_behind": 0}}}, 0),
        ({"segments": {}}, 0),
        ({}, None),
    ],
)
def test_what_copies_lack_is_known_if_a_shard_says_it(segments: dict[str, object], behind: int | None) -> None:
    assert publish._bytes_behind({"_all": {"total": segments}}) == behind


def test_a_generation_that_was_given_up_is_removed_and_its_number_not_used_again(cluster: FakeCluster) -> None:
    """What another program has under a name of ours is not deleted."""
    ours = {"mappings": {"properties": {"digest": {}, "code": {}}}}
    names = ["films-passages-000003", "films-passages-000004", "films-triples-000004", "films-other-000012"]
    others = {"films-triples-000009": {"properties": {"title": {}}}, "films-entities-000008": {}}
    client = cluster(dict.fromkeys(names, ours) | {name: {"mappings": each} for name, each in others.items()})
    for published in (generation.Published(client, 3, "x", (), Manifest.model_construct()), None):
        cluster.requests.clear()
        assert publish._remove_generations(client, published) == 9
        deleted = [request.url.path for request in cluster.requests if request.method == "DELETE"]
        assert deleted == [f"/{name}" for name in names[1 if published else 0 : 3]]


def test_a_document_that_is_refused_is_an_error_and_one_that_is_gone_need_not_be_deleted(
    cluster: FakeCluster,
) -> None:
    refused = {"status": 400, "error": {"type": "mapper_parsing_exception", "reason": "no such field"}}
    with pytest.raises(ClusterError, match="no such field"):
        cluster({"errors": True, "items": [{"index": refused}]}).write([Write("films", "one", {"colour": "red"})])
    gone = {"errors": True, "items": [{"delete": {"status": 404}}]}
    cluster(gone).write([Write("films", "one", None)])


def test_a_page_whose_reply_was_lost_is_read_again(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "_PAGE_DOCUMENTS", 2)
    digests, opened = ["a", "b", "c", "d", "e"], [0]

    def answer(request: httpx2.Request) -> object:
        """A cluster: a scroll goes on with each request that it hears, also where its reply is lost."""
        body = json.loads(request.content)
        scrolls = "scroll" in str(request.url)
        start = opened[0] if scrolls else sum(each <= body.get("search_after", [""])[0] for each in digests)
        opened[0] = start + 2
        if len(cluster.requests) == 2:
            return httpx2.ReadTimeout("lost")
        hits = [{"_id": each, "sort": [each]} for each in digests[start : start + 2]]
        return {"hits": {"hits": hits}, "_scroll_id": "x"}

    assert [hit["_id"] for hit in generation.scan(cluster(answer), "films")] == digests


OTHER_FORMAT = {"owner": "x", "stemmers": [], "manifest": {"format": FORMAT + 1}}
BAD_MANIFEST = {"owner": "x", "stemmers": [], "manifest": {}}


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        *(
            (httpx2.Response(200, text=text), ClusterError, "not OpenSearch")
            for text in ("<html>Log in</html>", "[]", "")
        ),
        ({"films-passages": {"mappings": {}}}, IndexDamagedError, "films-passages"),
        ({"films-passages": {"mappings": None}}, IndexDamagedError, "films-passages"),
        ({"films-passages-000001": {}, "films-passages-000002": {}}, IndexDamagedError, "films-passages"),
        ({"films-passages-000001": {"mappings": {"_meta": BAD_MANIFEST}}}, IndexDamagedError, "films-passages"),
        (
            {"films-passages-000001": {"mappings": {"_meta": OTHER_FORMAT}}},
            IndexFormatError,
            "index the documents again",
        ),
    ],
)
def test_what_is_not_ours_is_reported(answer: object, error: type[Exception], said: str, cluster: FakeCluster) -> None:
    with pytest.raises(error, match=said):
        generation.find_published(cluster(answer))


def test_a_passage_that_is_gone_means_that_the_index_has_changed(cluster: FakeCluster) -> None:
    client = cluster({"responses": [{"hits": {"hits": []}}]})
    published = generation.Published(client, 1, "x", (), Manifest.model_construct())
    with pytest.raises(IndexChangedError):
        ClusterPassages(published).ids([1])


def test_a_new_generation_is_looked_for_once_a_second(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, now, answers = [], [100.0], [True]

    def there(client: Client) -> SimpleNamespace:
        asked.append(now[0])
        if not answers[0]:
            raise ClusterError("no reply")
        return SimpleNamespace(number=7, manifest=SimpleNamespace(created="today"))

    monkeypatch.setattr(source, "find_published", there)
    monkeypatch.setattr(source, "time", SimpleNamespace(monotonic=lambda: now[0]))
    watch = source.ClusterWatch(Cluster.parse(PLACE, Path()))
    answers[0] = False
    with pytest.raises(ClusterError):
        watch.version()
    answers[0] = True
    known = watch.version()
    answers[0] = False
    for now[0] in (100.5, 101.5, 101.9, 103):
        assert watch.version() == known
    assert sorted(set(asked)) == [100, 101.5, 103]
