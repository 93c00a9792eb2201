"""What endpoints for chat and for embeddings have in common: an address, a key that is never shown, a client, faults in
words (what was said, what a person can do about it, whether a retry may help), and retries.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from triplebeam.errors import BadInputError, EndpointError
from triplebeam.system.work import sleep

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError, OpenAI

T = TypeVar("T")
#: Called with one sentence, to explain why a run is waiting.
Notify = Callable[[str], None]
OPENAI = "https://api.openai.com/v1"
_SECONDS_TO_CONNECT = 15.0
#: The request itself is at fault.
REFUSED_STATUS = (400, 413, 422)
_TRANSIENT_STATUS = (408, 409, 425, 429)
_ADVICE = {
    401: "check the API key",
    402: "check the account's balance",
    403: "check what the API key may use",
    404: "check the model's name and the base URL, which usually ends in '/v1'",
    429: "wait, lower the concurrency or the requests and tokens per minute, or check the account's quota",
}


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint: OpenAI itself, which needs a key, or another one, which may not."""

    url: str = OPENAI
    key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise BadInputError(f"The base URL {self.url!r} is not one: it begins with 'http://' or 'https://'.")

    @property
    def place(self) -> str:
        """The address without a user's name, password or query, for messages."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def client(self, timeout: float) -> "OpenAI":
        """Return a client for requests, each tried once."""
        from openai import DEFAULT_CONNECTION_LIMITS, OpenAI, Timeout

        from triplebeam.system.bounded_replies import BoundedClient

        if not self.key and self.url == OPENAI:
            raise EndpointError(
                f"There is no API key for {OPENAI}: set OPENAI_API_KEY, or name another endpoint by its base URL."
            )
        seconds = Timeout(timeout, connect=min(timeout, _SECONDS_TO_CONNECT))
        # The client insists on a key; a local server does not look at it.
        return OpenAI(
            api_key=self.key or "no-key",
            base_url=self.url,
            timeout=seconds,
            max_retries=0,
            http_client=BoundedClient(timeout, follow_redirects=True, limits=DEFAULT_CONNECTION_LIMITS),
        )

    def quote_reply(self, words: str) -> str:
        """Quote the beginning of the endpoint's reply, on one line and without the key."""
        redacted = words.replace(self.key, "[key]") if self.key else words
        return repr(" ".join(redacted.split())[:200])


class TransientError(EndpointError):
    """The same request may succeed later. ``retry_after`` is the pause in seconds that the endpoint asked for."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def status_fault(error: "APIStatusError", endpoint: Endpoint, model: str) -> EndpointError:
    """Return the error for a status other than success."""
    status, said = error.status_code, error.response.text
    advice = _ADVICE.get(status, "see the endpoint's log or try again later")
    if status in REFUSED_STATUS:
        advice = "shorten the passage or check the model's parameters"
    message = (
        f"{endpoint.place} answered HTTP {status} for model {model!r}, saying {endpoint.quote_reply(said)}: {advice}."
    )
    # OpenAI has one status for "too fast" and for "no money left"; only the first is transient.
    if (status in _TRANSIENT_STATUS or status >= 500) and "insufficient_quota" not in said:
        return TransientError(message, parse_retry_after(error.response.headers))
    return EndpointError(message)


def connection_fault(
    error: "APIConnectionError", endpoint: Endpoint, model: str, timeout: float, *, known: bool
) -> EndpointError:
    """Return the error for a failed connection. An endpoint that is ``known`` to have answered before may come back."""
    from httpx2 import ConnectError
    from openai import APITimeoutError

    from triplebeam.system.bounded_replies import advise_on_tls

    if isinstance(error, APITimeoutError):
        return TransientError(
            f"{endpoint.place} did not answer for model {model!r} within {timeout:g} seconds: "
            "raise the timeout or lower the concurrency."
        )
    if isinstance(error.__cause__, EndpointError):
        return error.__cause__
    if not isinstance(error.__cause__, ConnectError):
        return TransientError(
            f"{endpoint.place} broke off its reply ({error.__cause__}): see whether its server still runs."
        )
    advice = advise_on_tls(error) or "check the base URL and that the server runs"
    message = f"{endpoint.place} cannot be reached ({error.__cause__}): {advice}."
    return TransientError(message) if known else EndpointError(message)


def body_fault(body: str, endpoint: Endpoint) -> EndpointError:
    """Return the error for a success without a chat completion: half of one may pass, a web page will not."""
    message = (
        f"The reply of {endpoint.place} is no chat completion; it begins with {endpoint.quote_reply(body)}: "
        "check the base URL, which usually ends in '/v1', or see the endpoint's log."
    )
    return TransientError(message) if body.lstrip().startswith("{") else EndpointError(message)


def parse_retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Parse the pause that the headers of a reply ask for: ``retry-after-ms``, or ``Retry-After`` (seconds, date)."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    header = headers.get("retry-after")
    seconds = _number(header)
    if seconds is not None or header is None:
        return seconds
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    # A date without a time zone is in UTC, as HTTP has it.
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def ignore_retries(message: str) -> None:
    """Report nothing."""


@dataclass(frozen=True, kw_only=True)
class Retries:
    """Up to ``attempts`` tries of at most ``timeout`` seconds each, within ``longest_time`` seconds in all.

    Pauses double from ``first_pause`` to ``longest_pause``, each shortened at random to between a half and the whole,
    so that many clients do not come back at the same moment. A pause the endpoint asks for is kept, plus a little.
    """

    attempts: int = 6
    timeout: float = 0.0
    first_pause: float = 1.0
    longest_pause: float = 60.0
    longest_time: float = 900.0
    random: Random = field(default_factory=Random, repr=False)
    sleep: Callable[[float], None] = field(default=sleep, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    notify: Notify = field(default=ignore_retries, repr=False)

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise BadInputError(f"attempts must be at least 1, got {self.attempts}.")

    def retry(self, work: Callable[[], T]) -> T:
        """Run ``work`` and retry after each TransientError; EndpointError where no attempt is left.

        A try that might end after the longest time does not begin.
        """
        start = self.clock()
        for attempt in range(1, self.attempts + 1):
            try:
                return work()
            except TransientError as error:
                seconds = self._pause_after(attempt, error)
                passed = self.clock() - start
                if attempt == self.attempts or passed + seconds + self.timeout > self.longest_time:
                    asked = f"; it asks to wait {error.retry_after:g} seconds more" if error.retry_after else ""
                    tried = f"(Tried {attempt} time{'s' * (attempt > 1)} in {passed:.0f} seconds{asked}.)"
                    raise EndpointError(f"{error} {tried}") from None
                self.notify(f"{error} Retrying in {seconds:.0f} s; {attempt} of {self.attempts} tries are used.")
            self.sleep(seconds)
        raise AssertionError("the last attempt returns or raises")

    def _pause_after(self, attempt: int, error: TransientError) -> float:
        if error.retry_after is not None:
            return error.retry_after + self.random.uniform(0, self.first_pause / 2)
        longest = min(self.longest_pause, self.first_pause * 2.0 ** (attempt - 1))
        return longest * self.random.uniform(0.5, 1.0)
