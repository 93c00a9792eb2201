"""An endpoint's faults in words: what it said, and what a person can do about it."""

from datetime import datetime
from typing import TYPE_CHECKING

from triplebeam.errors import EndpointError
from triplebeam.generate.language_model import PromptRefusedError
from triplebeam.generate.transient import TransientError, asked_pause

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError

_REFUSED = (400, 413, 422)
_PASSING = (408, 409, 425, 429)
_ADVICE = {
    401: "check the API key",
    402: "check the account's balance",
    403: "check what the API key may use",
    404: "check the model's name and the base URL, which mostly ends in '/v1'",
    429: "wait, lower the concurrency or the requests and tokens a minute, or check the account's quota",
}


def status_fault(
    error: "APIStatusError", place: str, model: str, key: str, now: datetime | None = None
) -> EndpointError:
    """What a status other than success means."""
    status, said = error.status_code, error.response.text
    advice = _ADVICE.get(status, "see the endpoint's log or try again later")
    if status in _REFUSED:
        advice = "shorten the passage or check the model's parameters"
    message = f"{place} answered HTTP {status} for model {model!r}, saying {quoted(said, key)}: {advice}."
    if status in _REFUSED:
        return PromptRefusedError(message)
    # OpenAI has one status for "too fast" and for "no money left"; only the first passes.
    if (status in _PASSING or status >= 500) and "insufficient_quota" not in said:
        return TransientError(message, asked_pause(error.response.headers, now))
    return EndpointError(message)


def connection_fault(
    error: "APIConnectionError", place: str, model: str, timeout: float, *, known: bool
) -> EndpointError:
    """What silence means. An endpoint that is ``known`` to have answered before may come back."""
    from httpx2 import ConnectError
    from openai import APITimeoutError

    if isinstance(error, APITimeoutError):
        return TransientError(
            f"{place} did not answer for model {model!r} within {timeout:g} seconds: "
            "raise the timeout or lower the concurrency."
        )
    if not isinstance(error.__cause__, ConnectError):
        return TransientError(f"{place} broke off its reply ({error.__cause__}): see whether its server still runs.")
    message = f"{place} cannot be reached ({error.__cause__}): check the base URL and that the server runs."
    return TransientError(message) if known else EndpointError(message)


def body_fault(body: str, place: str, key: str) -> EndpointError:
    """What a success without a chat completion means: half of one may pass, a web page will not."""
    message = (
        f"The reply of {place} is no chat completion; it begins with {quoted(body, key)}: "
        "check the base URL, which mostly ends in '/v1', or see the endpoint's log."
    )
    return TransientError(message) if body.lstrip().startswith("{") else EndpointError(message)


def quoted(words: str, key: str) -> str:
    """The beginning of what an endpoint said, on one line and without the key."""
    return repr(" ".join(words.replace(key, "[key]").split())[:200])
