"""Servers on a loopback address."""

import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def serve_pieces(
    pieces: Callable[[], Iterable[bytes]], status: int = 200, tls: ssl.SSLContext | None = None, **headers: str
) -> Iterator[int]:
    """Send the pieces until nobody listens; the port."""

    class Handler(BaseHTTPRequestHandler):
        def reply(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            with suppress(ConnectionError):
                for piece in pieces():
                    self.wfile.write(piece)
            self.close_connection = True

        do_GET = do_POST = do_PUT = do_DELETE = reply  # noqa: N815 - the names that the server calls

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Keep the test's output clean."""

    class Server(ThreadingHTTPServer):
        def get_request(self) -> tuple[Any, Any]:
            connection, client = super().get_request()
            return tls.wrap_socket(connection, server_side=True) if tls else connection, client

    with run(Server(("127.0.0.1", 0), Handler)) as port:
        yield port


@contextmanager
def run(server: ThreadingHTTPServer) -> Iterator[int]:
    """Run a server in a thread; its port."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
