"""Bodies that are too large are refused: by what they say of themselves, and by what then comes."""

from fastapi import HTTPException, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triplebeam.serve.http.errors import HTTPProblem, response_to


class BodyLimit:
    """Lets requests through whose body has no more than some bytes."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, counting its bytes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        declared = request.headers.get("content-length", "0")
        if declared.isascii() and declared.isdigit() and int(declared[:20]) > self._most:
            await response_to(request, HTTPProblem(413, "too_large", self._message))(scope, receive, send)
            return
        seen = 0

        async def counting() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most:
                # FastAPI makes 400 of any other error that comes up while it reads a body.
                raise HTTPException(413, self._message)
            return message

        await self._app(scope, counting, send)

    @property
    def _message(self) -> str:
        return f"the request has more than the {self._most:,} bytes it may: send less, or see --max-upload-mb."
