"""An HTTP client whose replies end: within a time and a size, however slowly or endlessly an endpoint sends them."""

import logging
import os
import ssl
import time
from concurrent.futures import Future, wait
from contextlib import closing
from threading import Thread
from typing import Any

import httpx2

from triplebeam.errors import BadInputError, EndpointError

_LOG = logging.getLogger("triplebeam")
_SECONDS_TO_ANNOUNCEMENT = 2.0
#: The vectors of a whole batch of texts need a quarter of it.
MAX_BYTES = 100_000_000
#: What the reply is read as says these no more.
_OF_THE_WIRE = ("content-encoding", "content-length", "transfer-encoding")


class BoundedClient(httpx2.Client):
    """Reads every reply whole, and gives up after ``seconds`` in all: the timeouts of HTTP are for single reads, and
    some gateways send a space now and then to keep a connection open.
    """

    def __init__(self, seconds: float, most_bytes: int | None = None, **options: Any) -> None:
        try:
            super().__init__(**options)
        except OSError as error:
            raise BadInputError(
                f"the certificates of authorities cannot be read ({error}): check SSL_CERT_FILE, got"
                f" {os.environ.get('SSL_CERT_FILE')!r}."
            ) from error
        self._seconds, self._most_bytes = seconds, most_bytes
        self._wait_is_announced = False

    def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """Send a request and read the reply. A thread reads it, since each byte renews the client's timeout; where it
        has read in vain it is left alone, and ends with the next byte of the body, with the connection or with the
        process.
        """
        reply: Future[httpx2.Response] = Future()
        deadline = time.monotonic() + self._seconds

        def read() -> None:
            try:
                with closing(super(BoundedClient, self).send(request, stream=True, **options)) as sent:
                    reply.set_result(self._read(sent, deadline))
            except BaseException as error:  # noqa: BLE001 - raised where the reply is waited for
                reply.set_exception(error)

        Thread(target=read, daemon=True).start()
        is_late = wait([reply], min(_SECONDS_TO_ANNOUNCEMENT, self._seconds)).not_done
        if is_late and not self._wait_is_announced and self._seconds > _SECONDS_TO_ANNOUNCEMENT:
            self._wait_is_announced = True
            _LOG.warning("Waiting for %s: it may take %g seconds to reply.", _host(request), self._seconds)
        if wait([reply], max(0.0, deadline - time.monotonic())).not_done:
            raise self._make_timeout(request)
        return reply.result()

    def _read(self, reply: httpx2.Response, deadline: float) -> httpx2.Response:
        """Read the reply with its body, decompressed."""
        body = bytearray()
        most = self._most_bytes or MAX_BYTES
        for piece in reply.iter_bytes():
            body += piece
            if len(body) > most:
                raise EndpointError(
                    f"{_host(reply.request)} sent more than {most // 1_000_000:,} MB in one reply: check the base URL,"
                    " or see the log of its server."
                )
            if time.monotonic() > deadline:
                raise self._make_timeout(reply.request)
        headers = [pair for pair in reply.headers.multi_items() if pair[0].lower() not in _OF_THE_WIRE]
        return httpx2.Response(reply.status_code, headers=headers, content=bytes(body), request=reply.request)

    def _make_timeout(self, request: httpx2.Request) -> httpx2.ReadTimeout:
        return httpx2.ReadTimeout(f"there was no whole reply within {self._seconds:g} seconds", request=request)

    def __del__(self) -> None:
        if "_seconds" in vars(self):
            self.close()


def advise_on_tls(error: BaseException | None) -> str | None:
    """Advise on a TLS error; None where it is another error."""
    while error and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    if isinstance(error, ssl.SSLCertVerificationError):
        return "set SSL_CERT_FILE to a file with the certificate of its authority, and check the host's name"
    return "check that the server there uses TLS" if error else None


def _host(request: httpx2.Request) -> str:
    """Return host and port, without a user's name or password."""
    return request.url.netloc.decode()
