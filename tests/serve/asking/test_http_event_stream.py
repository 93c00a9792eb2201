"""Events: how they are written, and what keeps a stream open."""

import asyncio
from collections.abc import AsyncGenerator

from triplebeam.serve.http.event_stream import KEEP_ALIVE, event, kept_alive


def test_an_event_is_one_line_of_json() -> None:
    assert event("step", {"text": "ä\n\ud800"}) == b'event: step\ndata: {"text": "\\u00e4\\n\\ud800"}\n\n'
    assert event(None, 1) == b"data: 1\n\n"


def test_silence_is_filled_with_comments() -> None:
    async def slow() -> AsyncGenerator[bytes, None]:
        yield b"one"
        await waited_for.wait()
        yield b"two"

    async def heard() -> list[bytes]:
        parts = []
        async for part in kept_alive(slow(), seconds=0.05):
            parts.append(part)
            if parts.count(KEEP_ALIVE) == 2:
                waited_for.set()
        return parts

    waited_for = asyncio.Event()
    first, *silence, last = asyncio.run(heard())
    assert (first, last) == (b"one", b"two")
    assert len(silence) >= 2
    assert set(silence) == {KEEP_ALIVE}


def test_closing_the_stream_closes_what_it_waits_for() -> None:
    closed = []

    async def endless() -> AsyncGenerator[bytes, None]:
        try:
            yield b"one"
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    async def heard(parts: int) -> None:
        stream = kept_alive(endless(), seconds=0.01)
        for _ in range(parts):
            await anext(stream)
        await stream.aclose()
        await asyncio.sleep(0)

    asyncio.run(heard(1))
    asyncio.run(heard(2))
    assert closed == [True, True]
