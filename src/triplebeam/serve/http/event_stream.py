"""Server-sent events: how one is written, and how a stream is kept alive while there are none."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable

from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.types import Receive, Scope, Send

KEEP_ALIVE = b": keep-alive\n\n"
KEEP_ALIVE_SECONDS = 15.0


def event(name: str | None, data: object) -> bytes:
    """One event with JSON data; without a name it is a plain message.

    In ASCII: a model may return half a character, which has no UTF-8 encoding.
    """
    return format_sse_event(event=name, data_str=json.dumps(data))


def do_nothing() -> None:
    """For a stream without work to cancel."""


class EventStream(EventSourceResponse):
    """Sends events as they come; calls ``closing``, which cancels the work, when the client has them all or is gone."""

    def __init__(self, events: AsyncGenerator[bytes, None], closing: Callable[[], None] = do_nothing) -> None:
        self._events = kept_alive(events)
        self._closing = closing
        # A proxy must not collect the events before it sends them.
        super().__init__(self._events, headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send everything."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._closing()
            await self._events.aclose()


async def kept_alive(
    events: AsyncGenerator[bytes, None], seconds: float = KEEP_ALIVE_SECONDS
) -> AsyncGenerator[bytes, None]:
    """Yield the events, and a comment whenever there was none for some seconds."""
    pending = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            await asyncio.wait({pending}, timeout=seconds)
            if not pending.done():
                yield KEEP_ALIVE
                continue
            received = pending.result()
            if received is None:
                return
            yield received
            pending = asyncio.ensure_future(anext(events, None))
    finally:
        if pending.done():
            await events.aclose()
        else:  # the generator waits for its next event; cancelling that runs its `finally`, too
            pending.cancel()
