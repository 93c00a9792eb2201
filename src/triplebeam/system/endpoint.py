"""What endpoints for chat and for embeddings have in common: an address, a key that is never shown, a client."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from triplebeam.errors import BadInputError, EndpointError

if TYPE_CHECKING:
    from openai import OpenAI

OPENAI = "https://api.openai.com/v1"
_SECONDS_TO_CONNECT = 15.0


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
