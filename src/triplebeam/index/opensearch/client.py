"""Requests to a cluster: to another host where one does not answer, and again, later, where the cluster is too busy.

Everything that is sent here may be sent twice: documents have ids of their own, so that a second copy replaces the
first. That is how no acknowledged document is lost, and none is there twice, when a node dies in the middle of a
request.
"""

import json
import logging
import random
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from triplebeam.errors import ClusterError, EndpointError
from triplebeam.index.location import Cluster
from triplebeam.system.work import cancel_on, check_cancelled, sleep

if TYPE_CHECKING:
    import httpx2

Json: TypeAlias = dict[str, Any]
_LOG = logging.getLogger("triplebeam")
#: The cluster is too busy, is electing a leader, or has lost the node that has the shard: it may answer soon.
_RETRY_STATUS = frozenset((429, 502, 503, 504))
_MAX_ATTEMPTS = 12
_MIN_BACKOFF, _MAX_BACKOFF = 0.2, 10.0
_SECONDS, _SECONDS_TO_CONNECT = 120.0, 5.0
#: A request is announced as failing before the fifth try, after about 2 seconds of pauses.
_ATTEMPTS_BEFORE_NOTICE = 5
#: Bulk requests that are under way.
_MAX_IN_FLIGHT = 3
#: For bulk requests under way, after an error or Ctrl-C.
_SECONDS_TO_END = 1.0
#: Of one bulk request: few enough documents for a small heap, in a body that any cluster takes.
_MAX_DOCUMENTS, _MAX_BYTES = 1000, 4_000_000
#: Of one reply: the vectors of a page of passages, or of a hundred searches, are far fewer.
_MAX_REPLY_BYTES = 500_000_000


class Write(NamedTuple):
    """A document to index, or to delete where there is none."""

    target: str
    """The index."""
    id: str
    document: Json | None


@dataclass(frozen=True)
class Client:
    """Sends requests to the hosts of a cluster, in turns. Safe to use from many threads."""

    cluster: Cluster
    tries: int = _MAX_ATTEMPTS
    seconds: float = _SECONDS
    """How long a reply may take."""
    _next: list[int] = field(default_factory=lambda: [0], init=False, repr=False, compare=False)
    _reached: list[bool] = field(default_factory=lambda: [False], init=False, repr=False, compare=False)
    """Whether any host has replied yet: where none has, the address may be wrong, and nobody should wait for long."""

    @cached_property
    def _http(self) -> "httpx2.Client":
        import httpx2  # who searches a folder need not load it

        from triplebeam.system.bounded_replies import BoundedClient

        auth = self.cluster.credentials if self.cluster.credentials[0] else None
        timeout = httpx2.Timeout(self.seconds, connect=min(self.seconds, _SECONDS_TO_CONNECT))
        plain = {"Accept-Encoding": "identity"}  # replies are mostly vectors: packing them costs more than it saves
        made = BoundedClient(
            self.seconds, _MAX_REPLY_BYTES, auth=auth, verify=self.cluster.verify, timeout=timeout, headers=plain
        )
        weakref.finalize(self, made.close)
        return made

    def request(self, method: str, path: str, body: Json | None = None, **parameters: str) -> Json:
        """Send a request and return the reply as JSON. An error in the reply is raised, unless a retry succeeds."""
        content = None if body is None else json.dumps(body).encode()
        return self._send(method, path, content, "application/json", parameters)

    def searches(self, lines: Sequence[Json]) -> list[Json]:
        """Send several searches and return the replies. One that no copy of a shard could answer is sent again."""
        replies: list[Json] = []
        for pause in _pauses(self.tries):
            reply = self._send("POST", "/_msearch", _encode_lines(lines), "application/x-ndjson", {})
            replies = self._objects(reply.get("responses"), len(lines) // 2)
            if pause is None or not any(reply.get("status") in _RETRY_STATUS for reply in replies):
                break
            _wait(pause)
        return replies

    def make(self, path: str, body: Json) -> None:
        """Make an index. Where the first try was heard and its reply was not, it is there already."""
        try:
            self.request("PUT", path, body)
        except ClusterError as error:
            if error.kind != "resource_already_exists_exception":
                raise

    def find(self, path: str) -> Json | None:
        """Return what is there; None where there is no such index or alias."""
        try:
            return self.request("GET", path)
        except ClusterError as error:
            if error.status == 404:
                return None
            raise

    def write(self, writes: Iterable[Write]) -> None:
        """Write documents, each once, in bulk: while some requests are under way, the next is made.

        After an error, and on Ctrl-C, nothing more is sent. Requests under way are abandoned if they do not end soon;
        the threads are daemons, since Python waits for those of an executor when it exits.
        """
        sent: deque[Future[None]] = deque()
        stop = threading.Event()
        try:
            for batch in _batches(writes):
                if len(sent) == _MAX_IN_FLIGHT:
                    sent[0].result()
                    sent.popleft()
                done: Future[None] = Future()
                threading.Thread(target=self._write, args=(batch, done, stop), daemon=True).start()
                sent.append(done)
            for each in sent:
                each.result()
        finally:
            stop.set()
            wait(sent, timeout=_SECONDS_TO_END)

    def _write(self, batch: Sequence[bytes], done: Future[None], stop: threading.Event) -> None:
        """Write a batch. What a full queue rejects is sent again after a pause."""
        cancel_on(stop)
        try:
            for pause in _pauses(self.tries):
                batch = self._send_batch(batch, last=pause is None)
                if not batch:
                    break
                _wait(pause or 0)
            done.set_result(None)
        except BaseException as error:  # noqa: BLE001 - carried to the caller's thread, where `result` raises it
            done.set_exception(error)

    def _send_batch(self, batch: Sequence[bytes], *, last: bool) -> Sequence[bytes]:
        """Send a batch; returns what is to be sent again."""
        wanted = {"filter_path": "errors,items.*.status,items.*.error"}
        reply = self._send("POST", "/_bulk", b"".join(batch), "application/x-ndjson", wanted)
        if reply.get("errors") is False:
            return ()
        again = []
        for each, item in zip(batch, self._objects(reply.get("items"), len(batch)), strict=True):
            [result] = self._objects(list(item.values()), 1)
            status = result["status"] if isinstance(result.get("status"), int) else 0
            if status in _RETRY_STATUS and not last:
                again.append(each)
            elif not 200 <= status < 300 and not (status == 404 and "delete" in item):
                raise self.error(status, result)
        if again:
            _LOG.info("OpenSearch is busy: %s documents are sent again", f"{len(again):,}")
        return again

    def _send(self, method: str, path: str, content: bytes | None, kind: str, parameters: Mapping[str, str]) -> Json:
        from httpx2 import DecodingError, TransportError

        problem: Exception | None = None
        start = time.monotonic()
        for number, pause in enumerate(_pauses(self.tries)):
            check_cancelled()
            url = self.cluster.urls[self._next[0] % len(self.cluster.hosts)] + path
            try:
                headers = {"Content-Type": kind}
                reply = self._http.request(method, url, content=content, params=parameters, headers=headers)
            except EndpointError as error:
                raise ClusterError(
                    f"OpenSearch at {self.cluster} sent more than {_MAX_REPLY_BYTES // 1_000_000:,} MB in one"
                    " reply: check the address."
                ) from error
            except (TransportError, DecodingError) as error:
                self._next[0] += 1
                problem = self._make_connection_error(error)
                if not self._reached[0] and number > len(self.cluster.hosts):
                    break
            else:
                self._reached[0] = True
                if reply.status_code < 300:
                    if (found := _read(reply)) is None:
                        raise self.make_protocol_error()
                    return found
                problem = self.error(reply.status_code, _read(reply) or {"error": reply.text[:200]})
                if reply.status_code not in _RETRY_STATUS:
                    raise problem
                self._next[0] += 1
            # Two requests that time out are enough: no third begins.
            if pause is None or time.monotonic() - start > 2 * self.seconds:
                break
            if number + 1 == _ATTEMPTS_BEFORE_NOTICE:
                _LOG.warning("%s Retrying, at most %d times.", problem, self.tries - number - 1)
            _wait(pause)
        assert problem is not None
        raise problem

    def _make_connection_error(self, error: Exception) -> ClusterError:
        from triplebeam.system.bounded_replies import advise_on_tls

        tls = advise_on_tls(error)
        advice = f"{tls}, or add ?verify=no to the address." if tls else "is it running?"
        reason = " ".join(str(error).split()) or type(error).__name__
        return ClusterError(f"OpenSearch at {self.cluster} cannot be reached ({reason}): {advice}")

    def make_protocol_error(self) -> ClusterError:
        """Return the error for a reply that is not in OpenSearch's form."""
        return ClusterError(
            f"what replies at {self.cluster} is not OpenSearch, or is a login page in front of it: check the address."
        )

    def _objects(self, found: object, count: int) -> list[Json]:
        """Return the parts of a reply to several requests at once: an object for each."""
        if not isinstance(found, list) or len(found) != count or not all(isinstance(each, dict) for each in found):
            raise self.make_protocol_error()
        return found

    def error(self, status: int, reply: Json) -> ClusterError:
        """Return the cluster's error on one line; the password is in no message, since none quotes the request."""
        match reply.get("error", reply):
            case {"type": str(kind), "root_cause": [{"reason": str(reason)}, *_]}:
                pass
            case {"type": str(kind), **rest}:
                reason = str(rest.get("reason") or "")
            case said_otherwise:
                kind, reason = "", str(said_otherwise)
        if status in (401, 403):
            return ClusterError(
                f"OpenSearch at {self.cluster} refuses the request ({status}): check the user, the password and"
                " the user's role.",
                status,
            )
        said = " ".join(": ".join(filter(None, (kind, reason))).split())[:300]
        return ClusterError(f"OpenSearch at {self.cluster} replied {status} ({said}).", status, kind)


def _encode_lines(lines: Iterable[Json]) -> bytes:
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def _batches(writes: Iterable[Write]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for index, id_, document in writes:
        action: Json = {"delete" if document is None else "index": {"_index": index, "_id": id_}}
        lines = _encode_lines([action] if document is None else [action, document])
        if batch and (len(batch) == _MAX_DOCUMENTS or size + len(lines) > _MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(lines)
        size += len(lines)
    if batch:
        yield batch


def _pauses(tries: int) -> Iterator[float | None]:
    """Yield the pause after each attempt, twice as long each time; None after the last."""
    for number in range(tries - 1):
        yield min(_MAX_BACKOFF, _MIN_BACKOFF * 2**number)
    yield None


def _wait(seconds: float) -> None:
    """Wait about so long: clients that were rejected together must not come back together."""
    sleep(seconds * random.uniform(0.5, 1))


def _read(reply: "httpx2.Response") -> Json | None:
    """Read the JSON object in a reply; None where something between us and the cluster replied instead."""
    try:
        found = reply.json()
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
