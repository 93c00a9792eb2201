"""Server-sent events: how one is written, and how a stream of them stays open while nothing happens."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable

from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.types import Receive, Scope, Send

KEEP_ALIVE = b": keep-alive\n\n"
SECONDS_BETWEEN_SIGNS_OF_LIFE = 15.0


def event(name: str | None, data: object) -> bytes:
    """One event with JSON in it; without a name it is a plain message.

    In ASCII: a model may say half a character, which UTF-8 has no bytes for.
    """
    return format_sse_event(event=name, data_str=json.dumps(data))


def nothing() -> None:
    """What there is to do when no work goes on behind a stream."""


class EventStream(EventSourceResponse):
    """Sends events as they come, and calls ``closing`` when the client has them all or has gone away: that is where
    work which nobody waits for any more is given up.
    """

    def __init__(self, events: AsyncGenerator[bytes, None], closing: Callable[[], None] = nothing) -> None:
        self._events = kept_alive(events)
        self._closing = closing
        # A proxy that collects the events before it sends them would defeat their purpose.
        super().__init__(self._events, headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send everything."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._closing()
            await self._events.aclose()


async def kept_alive(
    events: AsyncGenerator[bytes, None], seconds: float = SECONDS_BETWEEN_SIGNS_OF_LIFE
) -> AsyncGenerator[bytes, None]:
    """The events, with a comment whenever none came for so many seconds."""
    coming = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            await asyncio.wait({coming}, timeout=seconds)
            if not coming.done():
                yield KEEP_ALIVE
                continue
            happened = coming.result()
            if happened is None:
                return
            yield happened
            coming = asyncio.ensure_future(anext(events, None))
    finally:
        if coming.done():
            await events.aclose()
        else:  # the generator waits for its next event; cancelling that runs its `finally`, too
            coming.cancel()
