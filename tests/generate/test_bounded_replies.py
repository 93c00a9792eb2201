"""Replies that never end, in time or in bytes: they are given up, with a sentence."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import repeat
from pathlib import Path

import pytest
from httpx2 import ReadTimeout
from loopback_endpoint import Endpoint, chat_completion
from pydantic import SecretStr

from loopback_server import serve_pieces
from patience import SECONDS
from triplebeam.assemble.models import make_embedder
from triplebeam.embed.openai_compatible import OpenAICompatibleEmbedder
from triplebeam.errors import EndpointError
from triplebeam.generate.language_model import Prompt
from triplebeam.generate.openai_compatible import OpenAICompatible
from triplebeam.settings import Settings
from triplebeam.system import bounded_replies
from triplebeam.system.endpoint import TransientError

PROMPT = Prompt(system="Be brief.", user="Who?")
REPLY = json.dumps(chat_completion("Thor Heyerdahl")).encode()


@contextmanager
def sending(pieces: Callable[[], Iterable[bytes]], status: int = 200, **headers: str) -> Iterator[str]:
    """The address of an endpoint that sends its reply piece by piece, until nobody listens."""
    with serve_pieces(pieces, status, **headers) as port:
        yield f"http://127.0.0.1:{port}/v1"


def slowly() -> Iterator[bytes]:
    """Spaces that keep the connection open, and then a reply that is in order."""
    for _ in range(200):
        yield b" "
        time.sleep(0.05)
    yield REPLY


@contextmanager
def dripping_headers() -> Iterator[str]:
    """The address of an endpoint that begins a header and never ends it."""
    server = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def drip() -> None:
        connection, _ = server.accept()
        with connection, suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not over.wait(0.05):
                connection.sendall(b"a")

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    finally:
        over.set()
        thread.join()
        server.close()


@pytest.mark.parametrize(
    "drip", [lambda: sending(slowly), lambda: sending(slowly, 500), dripping_headers], ids=["reply", "error", "headers"]
)
def test_what_drips_is_given_up_when_its_time_is_over(drip: Callable[[], AbstractContextManager[str]]) -> None:
    with drip() as url, pytest.raises(TransientError, match=r"did not answer .* within 0\.5 seconds"):
        OpenAICompatible("m", url, timeout=0.5).complete([PROMPT])


@pytest.mark.parametrize("place", ["", "user:secret@"])
def test_a_reply_that_stops_is_given_up_when_its_time_is_over_and_its_wait_is_announced_once(
    place: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(bounded_replies, "_SECONDS_TO_ANNOUNCEMENT", 0.05)
    over = threading.Event()

    def stop() -> Iterator[bytes]:
        yield b" "
        over.wait(SECONDS)

    with sending(stop) as url, bounded_replies.BoundedClient(0.2, timeout=None) as client:
        for _ in range(2):
            with pytest.raises(ReadTimeout, match=r"no whole reply within 0\.2 seconds"):
                client.post(url.replace("//", f"//{place}"), content=b"{}")
        over.set()
    assert [record.message for record in caplog.records] == [
        f"Waiting for {url.split('/')[2]}: it may take 0.2 seconds to reply."
    ]


def test_embeddings_that_drip_are_given_up_in_one_sentence(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, timeout=0.5, api_key=SecretStr("k"))
    with sending(slowly) as url, pytest.raises(EndpointError, match=r"did not answer .*0\.5 seconds: raise"):
        make_embedder("openai:m", settings.model_copy(update={"base_url": url})).embed(["a"])


@pytest.mark.parametrize(
    ("pieces", "headers"),
    [
        ([REPLY[at : at + 7] for at in range(0, len(REPLY), 7)], {}),
        ([gzip.compress(REPLY)], {"Content_Encoding": "gzip"}),
    ],
    ids=["pieces", "compressed"],
)
def test_a_reply_in_pieces_or_compressed_is_a_reply(pieces: list[bytes], headers: dict[str, str]) -> None:
    with sending(lambda: pieces, **headers) as url:
        assert OpenAICompatible("m", url).complete([PROMPT])[0].text == "Thor Heyerdahl"


@pytest.mark.parametrize(
    ("pieces", "status", "headers"),
    [
        (lambda: repeat(b"x" * 10_000), 200, {}),
        (lambda: repeat(b"x" * 10_000), 429, {}),
        (lambda: [gzip.compress(b"[" * 50_000_000)], 200, {"Content_Encoding": "gzip"}),
    ],
    ids=["endless", "endless refusal", "grows when it is unpacked"],
)
def test_a_reply_that_is_too_long_is_given_up_and_not_retried(
    monkeypatch: pytest.MonkeyPatch, pieces: Callable[[], Iterable[bytes]], status: int, headers: dict[str, str]
) -> None:
    monkeypatch.setattr(bounded_replies, "MAX_BYTES", 2_000_000)
    with sending(pieces, status, **headers) as url:
        with pytest.raises(EndpointError, match="sent more than 2 MB in one reply") as caught:
            OpenAICompatible("m", url).complete([PROMPT])
        assert not isinstance(caught.value, TransientError)
        with pytest.raises(EndpointError, match="sent more than 2 MB"):
            OpenAICompatibleEmbedder("m", url).embed(["a"])


@pytest.mark.parametrize("status", [400, 500])
def test_a_refusal_that_is_nested_deeply_is_a_fault_of_the_endpoint(endpoint: Endpoint, status: int) -> None:
    endpoint.answer = lambda request: (status, "[" * 200_000)
    with pytest.raises(EndpointError, match="answered HTTP"):
        OpenAICompatible("m", endpoint.base_url).complete([PROMPT])
