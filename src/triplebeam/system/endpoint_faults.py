"""An endpoint's faults in words: what it said, what a person can do about it, and whether a retry may help."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from triplebeam.errors import EndpointError
from triplebeam.system.endpoint import Endpoint

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError

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
