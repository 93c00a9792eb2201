"""Addresses, and how requests are sent: without a cluster."""

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

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


def test_a_password_goes_over_tls_or_stays_on_this_machine() -> None:
    with pytest.raises(BadInputError, match="without encryption") as raised:
        Cluster.parse("opensearch://me:secret@elsewhere:9200/films", Path())
    assert "secret" not in str(raised.value)
    with pytest.raises(BadInputError, match="without encryption"):
        replace(Cluster.parse("opensearchs://me:secret@elsewhere/films", Path()), scheme="http")


@pytest.mark.parametrize("text", ["https://me:secret@localhost/films", "opensearch:secret://x"])
def test_an_unknown_kind_of_address_is_no_folder(text: str) -> None:
    with pytest.raises(BadInputError, match="not known") as raised:
        parse_location(text, Path())
    assert "secret" not in str(raised.value)
    assert isinstance(parse_location("OpenSearch://localhost/films", Path()), Cluster)
    assert parse_location("films.index", Path()) == Folder(Path("films.index"))


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
def test_what_is_not_in_the_address_is_in_the_environment(
    address: str, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIPLEBEAM_OPENSEARCH_USER", "me")
    monkeypatch.setenv("TRIPLEBEAM_OPENSEARCH_PASSWORD", "hidden")
    assert Cluster.parse(address, Path()).credentials == (user, "hidden")


@pytest.fixture
def replying(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Client]:
    """A client whose requests are answered here; it does not wait."""
    monkeypatch.setattr(client_module, "_wait", lambda seconds: None)

    def made(answer: Callable[[httpx2.Request], httpx2.Response], tries: int = 4) -> Client:
        client = Client(Cluster.parse(PLACE, Path()), tries)
        client.__dict__["_http"] = httpx2.Client(transport=httpx2.MockTransport(answer))
        return client

    return made


def test_another_host_is_asked_where_one_does_not_answer(replying: Callable[..., Client]) -> None:
    asked = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.host)
        if request.url.host == "one":
            raise httpx2.ConnectError("refused")
        return httpx2.Response(200, json={"ok": True})

    client = replying(answer)
    assert client.request("GET", "/") == client.request("GET", "/") == {"ok": True}
    assert asked == ["one", "two", "two"]


def test_a_busy_cluster_is_asked_again_and_an_error_is_not(replying: Callable[..., Client]) -> None:
    replies = [429, 503, 200, 400]
    client = replying(lambda request: httpx2.Response(replies.pop(0), json={}))
    assert client.request("GET", "/") == {}
    with pytest.raises(ClusterError, match="replied 400"):
        client.request("GET", "/")


def test_documents_are_counted_once_every_shard_has_started(
    replying: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    replies = [(4, 1), (10, 2)]

    def answer(_: httpx2.Request) -> httpx2.Response:
        count, shards = replies.pop(0) if len(replies) > 1 else replies[0]
        return httpx2.Response(200, json={"count": count, "_shards": {"total": 2, "successful": shards}})

    assert publish._count_documents(replying(answer), "films-entities-000002") == 10
    replies[:] = [(4, 1)]
    with pytest.raises(ClusterError, match="a shard of films-entities-000002 does not start"):
        publish._count_documents(replying(answer), "films-entities-000002")


def test_an_error_says_what_went_wrong_in_the_shards(replying: Callable[..., Client]) -> None:
    cause = {"type": "illegal_argument_exception", "reason": "Result window is too large"}
    error = {"type": "search_phase_execution_exception", "reason": "all shards failed", "root_cause": [cause]}
    client = replying(lambda request: httpx2.Response(400, json={"error": error, "status": 400}))
    with pytest.raises(ClusterError, match="Result window is too large") as caught:
        client.request("POST", "/films/_search")
    assert caught.value.kind == "search_phase_execution_exception"


def test_when_no_host_answers_the_error_says_so(replying: Callable[..., Client]) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    with pytest.raises(ClusterError, match=r"opensearch://one:9200,two:9201/films cannot be reached \(refused\)"):
        replying(answer).request("GET", "/")


def test_a_cluster_that_is_lost_is_announced_and_given_up(
    replying: Callable[..., Client], caplog: pytest.LogCaptureFixture
) -> None:
    asked = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.host)
        if len(asked) == 1:
            return httpx2.Response(200, json={})
        raise httpx2.ConnectError("refused")

    client = replying(answer, tries=12)
    client.request("GET", "/")
    with pytest.raises(ClusterError, match="cannot be reached"):
        client.request("GET", "/")
    assert len(asked) == 13
    assert [record.message for record in caplog.records] == [
        f"OpenSearch at {PLACE} cannot be reached (refused): is it running? Retrying, at most 7 times."
    ]


def test_a_cluster_that_replies_too_late_is_asked_twice(
    replying: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(range(0, 10_000, 121))
    monkeypatch.setattr(client_module, "time", SimpleNamespace(monotonic=lambda: next(times)))
    asked = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.host)
        raise httpx2.ReadTimeout("late")

    client = replying(answer, tries=12)
    client._reached[0] = True
    with pytest.raises(ClusterError, match=r"cannot be reached \(late\)"):
        client.request("GET", "/")
    assert asked == ["one", "two"]


def test_what_a_full_queue_rejects_is_sent_again_alone(
    replying: Callable[..., Client], caplog: pytest.LogCaptureFixture
) -> None:
    sent: list[list[str]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        ids = [line["index"]["_id"] for line in map(json.loads, request.content.splitlines()) if "index" in line]
        sent.append(ids)
        busy = {"two", "three"} if len(sent) == 1 else {"three"} if len(sent) == 2 else set()
        items = [{"index": {"status": 429 if id_ in busy else 201}} for id_ in ids]
        return httpx2.Response(200, json={"errors": bool(busy), "items": items})

    with caplog.at_level(logging.INFO):
        replying(answer).write(Write("films", id_, {}) for id_ in ("one", "two", "three"))
    assert sent == [["one", "two", "three"], ["two", "three"], ["three"]]
    assert "2 documents are sent again" in caplog.text


def test_a_document_that_is_refused_is_an_error(replying: Callable[..., Client]) -> None:
    refused = {"status": 400, "error": {"type": "mapper_parsing_exception", "reason": "no such field"}}
    client = replying(lambda request: httpx2.Response(200, json={"errors": True, "items": [{"index": refused}]}))
    with pytest.raises(ClusterError, match="no such field"):
        client.write([Write("films", "one", {"colour": "red"})])


def test_after_an_error_nothing_more_is_sent(replying: Callable[..., Client], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_MAX_DOCUMENTS", 1)
    sent = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(400, json={"error": {"type": "illegal_argument_exception", "reason": "closed"}})

    with pytest.raises(ClusterError, match="closed"):
        replying(answer).write(Write("films", str(number), {}) for number in range(100))
    assert len(sent) < 10


def test_on_ctrl_c_requests_under_way_are_abandoned_and_not_sent_again(
    replying: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
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
        replying(answer).write(interrupted())
    assert replied == []
    release.set()
    for _ in range(3):
        assert not sent.acquire(timeout=0.1)
    for thread in replied:
        thread.join()
    assert len(replied) == 3


def test_a_request_of_cancelled_work_is_not_sent(replying: Callable[..., Client]) -> None:
    def cancelled() -> None:
        stop = threading.Event()
        stop.set()
        cancel_on(stop)
        replying(pytest.fail).request("GET", "/")

    with pytest.raises(WorkCancelledError, match="The work was cancelled: start it again"):
        copy_context().run(cancelled)


def test_ctrl_c_while_threads_start_ends_those_that_have(
    replying: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    started, start = [], threading.Thread.start

    def start_two(thread: threading.Thread) -> None:
        if len(started) == 2:
            raise KeyboardInterrupt
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_two)
    with pytest.raises(KeyboardInterrupt):
        replying(pytest.fail).write([Write("films", "one", {})])
    for thread in started:
        thread.join(20)
    assert [thread.is_alive() for thread in started] == [False, False]


def test_on_ctrl_c_the_request_that_was_waited_for_may_end_too(
    replying: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
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
        replying(answer).write([Write("films", "one", {})])
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


def test_a_generation_that_was_given_up_is_removed_and_its_number_not_used_again(
    replying: Callable[..., Client],
) -> None:
    deleted = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.method == "DELETE":
            deleted.append(request.url.path)
        names = ["films-passages-000003", "films-passages-000004", "films-triples-000004", "films-other-000009"]
        ours = {"mappings": {"properties": {"digest": {}, "code": {}}}}
        return httpx2.Response(200, json=dict.fromkeys(names, ours))

    client = replying(answer)
    published = generation.Published(client, 3, "x", (), Manifest.model_construct())
    assert publish._remove_generations(client, published) == 4
    assert deleted == ["/films-passages-000004", "/films-triples-000004"]


def test_what_is_gone_already_need_not_be_deleted(replying: Callable[..., Client]) -> None:
    items = [{"delete": {"status": 404}}]
    replying(lambda request: httpx2.Response(200, json={"errors": True, "items": items})).write(
        [Write("films", "one", None)]
    )


def test_a_page_whose_reply_was_lost_is_read_again(
    replying: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "_PAGE_DOCUMENTS", 2)
    digests, opened, requests = ["a", "b", "c", "d", "e"], [0], [0]

    def answer(request: httpx2.Request) -> httpx2.Response:
        """A cluster: a scroll goes on with each request that it hears, also where its reply is lost."""
        requests[0] += 1
        body = json.loads(request.content)
        scrolls = "scroll" in str(request.url)
        start = opened[0] if scrolls else sum(each <= body.get("search_after", [""])[0] for each in digests)
        opened[0] = start + 2
        if requests[0] == 2:
            raise httpx2.ReadTimeout("lost")
        hits = [{"_id": each, "sort": [each]} for each in digests[start : start + 2]]
        return httpx2.Response(200, json={"hits": {"hits": hits}, "_scroll_id": "x"})

    assert [hit["_id"] for hit in generation.scan(replying(answer), "films")] == digests


@pytest.mark.parametrize("content", ["<html>Log in</html>", "[]", ""])
def test_what_is_not_json_is_not_opensearch(content: str, replying: Callable[..., Client]) -> None:
    with pytest.raises(ClusterError, match="not OpenSearch"):
        generation.find_published(replying(lambda request: httpx2.Response(200, text=content)))


@pytest.mark.parametrize(
    "indices",
    [
        {"films-passages": {"mappings": {}}},
        {"films-passages-000001": {"mappings": {"_meta": {"owner": "x", "stemmers": [], "manifest": {}}}}},
        {"films-passages-000001": {}, "films-passages-000002": {}},
        {"films-passages": {"mappings": None}},
    ],
)
def test_an_index_that_was_not_published_here_is_reported(
    indices: dict[str, object], replying: Callable[..., Client]
) -> None:
    with pytest.raises(IndexDamagedError, match="films-passages"):
        generation.find_published(replying(lambda request: httpx2.Response(200, json=indices)))


def test_an_index_of_another_format_is_not_read(replying: Callable[..., Client]) -> None:
    meta = {"owner": "x", "stemmers": [], "manifest": {"format": FORMAT + 1}}
    indices = {"films-passages-000001": {"mappings": {"_meta": meta}}}
    with pytest.raises(IndexFormatError, match="index the documents again"):
        generation.find_published(replying(lambda request: httpx2.Response(200, json=indices)))


def test_a_passage_that_is_gone_means_that_the_index_has_changed(replying: Callable[..., Client]) -> None:
    client = replying(lambda request: httpx2.Response(200, json={"responses": [{"hits": {"hits": []}}]}))
    published = generation.Published(client, 1, "x", (), Manifest.model_construct())
    with pytest.raises(IndexChangedError):
        ClusterPassages(published).ids([1])


def test_a_server_looks_for_a_new_generation_once_a_second_and_goes_on_where_nobody_replies(
    replying: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
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
