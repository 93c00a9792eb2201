"""An HTTP client whose replies end: within a time and a size, however slowly or endlessly an endpoint sends them."""

import time
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from threading import Thread
from typing import Any

import httpx2

from triplebeam.errors import EndpointError

#: The vectors of a whole batch of texts need a quarter of it.
MOST_BYTES = 100_000_000
#: What the reply is read as says these no more.
_OF_THE_WIRE = ("content-encoding", "content-length", "transfer-encoding")


class BoundedClient(httpx2.Client):
    """Reads every reply whole, and gives up after ``seconds`` in all: the timeouts of HTTP are for single reads, and
    some gateways send a space now and then to keep a connection open.
    """

    def __init__(self, seconds: float, most_bytes: int | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._seconds, self._most_bytes = seconds, most_bytes

    def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """The reply, read."""
        deadline = time.monotonic() + self._seconds
        reply = self._answered(request, **options)
        try:
            body = self._read(reply, deadline)
        finally:
            reply.close()
        headers = [pair for pair in reply.headers.multi_items() if pair[0].lower() not in _OF_THE_WIRE]
        return httpx2.Response(reply.status_code, headers=headers, content=body, request=reply.request)

    def _answered(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """The reply with its headers. A thread waits for them, since each of their bytes renews the client's timeout;
        where it has waited in vain it is left alone, and ends with the connection or the process.
        """
        waiting: Future[httpx2.Response] = Future()

        def wait() -> None:
            try:
                waiting.set_result(super(BoundedClient, self).send(request, stream=True, **options))
            except BaseException as error:  # noqa: BLE001 - raised where the reply is waited for
                waiting.set_exception(error)

        Thread(target=wait, daemon=True).start()
        if wait_for([waiting], self._seconds).not_done:
            waiting.add_done_callback(_close)
            raise httpx2.ReadTimeout(f"there was no reply within {self._seconds:g} seconds", request=request)
        return waiting.result()

    def _read(self, reply: httpx2.Response, deadline: float) -> bytes:
        """The body, unpacked."""
        body = bytearray()
        most = self._most_bytes or MOST_BYTES
        for piece in reply.iter_bytes():
            body += piece
            if len(body) > most:
                raise EndpointError(
                    f"the endpoint sent more than {most // 1_000_000:,} MB in one reply: see its log, or lower"
                    " max_tokens."
                )
            if time.monotonic() > deadline:
                raise httpx2.ReadTimeout(f"the reply took longer than {self._seconds:g} seconds", request=reply.request)
        return bytes(body)

    def __del__(self) -> None:
        self.close()


def _close(late: Future[httpx2.Response]) -> None:
    if late.exception() is None:
        late.result().close()
