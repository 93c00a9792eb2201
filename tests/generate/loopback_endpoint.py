"""An endpoint on loopback that speaks chat completions, or embeddings, the way a test tells it to."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from loopback_server import run

#: In the place of a status: the connection is dropped before the reply, or in the middle of it.
DROPPED, BROKEN_OFF = 0, -1
#: No test asks more often than this; one that would is stopped.
MOST_REQUESTS = 200
#: A request's body to a status and a reply's body; a string is sent as it is.
Answer: TypeAlias = Callable[[dict[str, Any]], tuple[int, dict[str, Any] | str]]


@dataclass
class Endpoint:
    """Set ``answer`` before asking; read ``requests`` and ``keys`` afterwards."""

    base_url: str = ""
    answer: Answer | None = None
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    def says(self, content: str | None, **choice: Any) -> None:
        """Answer every request with this content."""
        self.answer = lambda request: (200, chat_completion(content, **choice))

    def refuses(self, status: int, message: str = "no") -> None:
        """Answer every request with this status."""
        self.answer = lambda request: (status, {"error": {"message": message}})

    def says_in_turn(self, *replies: str | int | dict[str, Any]) -> None:
        """Answer the requests one after the other with a content, a status or a whole body; the last is repeated."""
        left = list(replies)
        lock = threading.Lock()

        def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any] | str]:
            with lock:
                reply = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(reply, int):
                return reply, {"error": {"message": "not now"}}
            return 200, chat_completion(reply) if isinstance(reply, str) else reply

        self.answer = answer


def chat_completion(content: str | None, **choice: Any) -> dict[str, Any]:
    """The body of a successful reply."""
    message = {"role": "assistant", "content": content}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def _handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.requests.append(request)
            endpoint.keys.append(self.headers["Authorization"])
            assert self.path in ("/v1/chat/completions", "/v1/embeddings")
            assert endpoint.answer is not None
            assert len(endpoint.requests) <= MOST_REQUESTS
            status, reply = endpoint.answer(request)
            if status == DROPPED:
                self.close_connection = True
                return
            body = (reply if isinstance(reply, str) else json.dumps(reply)).encode()
            self.send_response(200 if status == BROKEN_OFF else status)
            for name, value in {"Content-Type": "application/json", **endpoint.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if status != BROKEN_OFF else body[: len(body) // 2])

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Keep the test's output clean."""

    return Handler


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of many tests."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serve() -> Iterator[Endpoint]:
    """A running endpoint."""
    endpoint = Endpoint()
    server = _Server(("127.0.0.1", 0), _handler(endpoint))
    endpoint.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    with run(server):
        yield endpoint
