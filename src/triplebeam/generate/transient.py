"""Faults that may pass by themselves, and how long an endpoint asks to wait for that."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from triplebeam.errors import EndpointError


class TransientError(EndpointError):
    """The same request may succeed later. ``retry_after`` is the pause in seconds that the endpoint asked for."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def asked_pause(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The pause that a reply's headers ask for: ``retry-after-ms``, or ``Retry-After`` in seconds or as a date."""
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
    # A date without a zone is taken for Greenwich's, as HTTP has it.
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None
