"""What is no OpenSearch, or does not stop: replies of other forms, endless ones, slow ones, redirects. No cluster."""

import shutil
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from loopback_server import serve_pieces
from patience import SECONDS
from triplebeam.errors import TriplebeamError
from triplebeam.index.location import Cluster, parse_location
from triplebeam.index.opensearch import client as client_module
from triplebeam.index.opensearch.client import Client, Write
from triplebeam.index.opensearch.generation import Published, find_published
from triplebeam.index.source import Manifest

#: Replies that are JSON and not OpenSearch's.
STRANGE = [
    *(b"", b"null", b"[]", b"{}", b"<html>log in</html>", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000),
    *(b'{"responses": null}', b'{"responses": []}', b'{"responses": [null]}', b'{"responses": [{}]}'),
    *(b'{"responses": [{"hits": []}]}', b'{"responses": [{"hits": {"hits": {}}}]}', b'{"responses": [{"error": 7}]}'),
    b'{"responses": [{"error": {"type": []}}]}',
    b'{"responses": [{"error": {"type": "x", "root_cause": {}}}]}',
    *(b'{"errors": true}', b'{"errors": true, "items": [{}]}', b'{"errors": true, "items": [{"index": 1}]}'),
    b'{"errors": true, "items": [{"index": {"status": "no"}}]}',
    b'{"films-passages-000001": {"mappings": {"_meta": {"manifest": {"format": "x"}}}}}',
]


@contextmanager
def cluster(
    pieces: Callable[[], Any], status: int = 200, tls: ssl.SSLContext | None = None, **headers: str
) -> Iterator[Cluster]:
    """The address of something that replies to every request in this way."""
    with serve_pieces(pieces, status, tls, **headers) as port:
        yield Cluster.parse(f"{'opensearchs' if tls else 'opensearch'}://me:s3cret@127.0.0.1:{port}/films", Path())


def ask(address: Cluster, seconds: float = 20) -> object:
    return Client(address, tries=1, seconds=seconds).request("GET", "/")


def requests_of(client: Client) -> list[Callable[[], object]]:
    """One of each kind that is sent."""
    published = Published(client, 1, "owner", [], Manifest.model_construct(counts={}))
    return [
        lambda: client.request("GET", "/"),
        lambda: client.write([Write("films", "one", {})]),
        lambda: published.search("passages", {"query": {"match_all": {}}}),
        lambda: find_published(client),
    ]


@pytest.mark.parametrize("status", [200, 400, 401, 404, 500])
def test_a_strange_reply_is_one_sentence(status: int) -> None:
    reply = STRANGE[0]
    with cluster(lambda: [reply], status) as address:
        requests = requests_of(Client(address, tries=1, seconds=20))
        for reply in STRANGE:
            for request in requests:
                try:
                    request()
                except TriplebeamError as error:
                    said = str(error)
                    assert "s3cret" not in said
                    assert "\n" not in said
                    assert len(said) < 700, reply[:40]


def drip() -> Iterator[bytes]:
    for _ in range(400):
        yield b" "
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("pieces", "reply", "scheme", "said"),
    [
        (lambda: repeat(b"x" * 10_000), {"status": 200}, "http", "more than 2 MB in one reply"),
        (lambda: repeat(b"x" * 10_000), {"status": 503}, "http", "more than 2 MB in one reply"),
        (drip, {}, "http", r"no whole reply within 0\.5 seconds"),
        (lambda: [b'{"ok":'], {"Content_Length": "100000"}, "http", "cannot be reached"),
        (lambda: [b'{"ok":'], {"Content_Encoding": "gzip"}, "http", "cannot be reached"),
        (lambda: [b"{}"], {}, "https", r"cannot be reached .*: check that the server there uses TLS"),
    ],
    ids=["endless", "endless error", "dripping", "shorter than it says", "no gzip", "no TLS"],
)
def test_a_reply_that_cannot_be_read_is_given_up(
    pieces: Callable[[], Any], reply: dict[str, Any], scheme: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_MAX_REPLY_BYTES", 2_000_000)
    with cluster(pieces, **reply) as address, pytest.raises(TriplebeamError, match=said):
        ask(replace(address, scheme=scheme), seconds=0.5 if pieces is drip else 20)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    """A self-signed certificate of this machine, and a server's side of TLS with it."""
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    made, key = folder / "certificate.pem", folder / "key.pem"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", *curve, *name, "-keyout", str(key), "-out", str(made)]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)
    return made, context


def test_an_untrusted_certificate_gets_no_password(
    certificate: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trusted, context = certificate
    asked = []

    def heard() -> list[bytes]:
        asked.append("heard")
        return [b"{}"]

    with cluster(heard, tls=context) as address:
        with pytest.raises(TriplebeamError, match=r"self-signed .*: set SSL_CERT_FILE .* or add \?verify=no"):
            ask(address)
        assert asked == []
        assert ask(replace(address, verify=False)) == {}
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        assert ask(address) == {}
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
        with pytest.raises(TriplebeamError, match=r"check SSL_CERT_FILE, got '.*none\.pem'"):
            ask(address)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("credentials", [("me", "s3cret"), ("me", ""), ("", "")])
def test_wrong_and_missing_credentials_are_one_sentence(status: int, credentials: tuple[str, str]) -> None:
    with cluster(lambda: [b"Unauthorized"], status) as address:
        for request in requests_of(Client(replace(address, credentials=credentials), tries=4, seconds=20)):
            with pytest.raises(TriplebeamError, match=rf"refuses the request \({status}\): check the user") as raised:
                request()
            assert "s3cret" not in str(raised.value)


def test_a_redirect_to_another_host_is_not_followed() -> None:
    asked = []

    def heard() -> list[bytes]:
        asked.append("elsewhere")
        return [b"{}"]

    with cluster(heard) as other:
        target = f"{other.urls[0]}/stolen"
        for status in (301, 302, 307, 308):
            with (
                cluster(lambda: [b"{}"], status, Location=target) as address,
                pytest.raises(TriplebeamError, match=f"replied {status}"),
            ):
                Client(address, tries=1, seconds=20).request("POST", "/_bulk", {"a": "secret text"})
    assert asked == []


@pytest.mark.parametrize(
    "prefix", ["*", "_all", "a,b", "a*", "..", "../x", '"', "a%2Fb", "a/b", "-a", "_x", "a b", "ä", "A", ""]
)
def test_a_prefix_that_means_something_to_a_cluster_is_refused(prefix: str, tmp_path: Path) -> None:
    with pytest.raises(TriplebeamError):
        parse_location(f"opensearch://127.0.0.1:1/{prefix}", tmp_path)
    assert not list(tmp_path.rglob("*.json"))
