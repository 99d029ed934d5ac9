"""HTTP middleware that limits body size and number of uploads, and refuses file URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gradio as gr
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from ..service import LeaderboardService
from .api import caller_at
from .rate_limits import RateLimit, TryLaterError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A file of the largest size may arrive as text within JSON, where a letter needs up to three times its bytes.
_JSON_FACTOR = 3
_OTHER_FIELDS = 1_000_000
_UPLOAD = "/upload"
_CALLS = ("/call/", "/queue/join")
_CALLS_PER_COSTLY_CALL = 5  # every call counts, also those that cost little
_CREDENTIALS = b"access-control-allow-credentials"
_URL = ("http://", "https://")


class Blocks(gr.Blocks):  # type: ignore[misc]
    """A gradio app that downloads nothing for a caller.

    Gradio downloads a file of any size if a field describes it by its URL.
    """

    async def preprocess_data(self, block_fn: Any, inputs: list[Any], *others: Any, **options: Any) -> Any:
        """Process the inputs of a call, unless one of them is the URL of a file."""
        if any(map(_has_url, inputs)):
            raise gr.Error("found the URL of a file, expected the file itself", print_exception=False)
        return await super().preprocess_data(block_fn, inputs, *others, **options)


class RequestLimits:
    """ASGI middleware in front of a gradio app, which itself limits uploaded files only.

    Args:
        app: The app.
        service: Its settings hold the limits.
    """

    def __init__(self, app: ASGIApp, service: LeaderboardService) -> None:
        self.app, self.service = app, service
        limits = service.settings.limits
        self.most = _JSON_FACTOR * limits.upload_bytes + _OTHER_FIELDS
        self._uploads = RateLimit(limits.calls, limits.window_s, "upload")
        self._calls = RateLimit(_CALLS_PER_COSTLY_CALL * limits.calls, limits.window_s, "call")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with status 413 or 429."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        try:
            self._check(request)
        except HTTPException as error:
            await JSONResponse({"detail": error.detail}, error.status_code, error.headers)(scope, receive, send)
            return
        left = self.most

        async def bounded() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:  # the request did not state its length
                raise self._too_large()
            return message

        async def without_credentials(message: Message) -> None:
            """Drop the header that lets pages of other sites read the answers of a signed-in user."""
            if message["type"] == "http.response.start":
                headers = [pair for pair in message.get("headers", []) if pair[0].lower() != _CREDENTIALS]
                message = {**message, "headers": headers}
            await send(message)

        await self.app(scope, bounded, without_credentials)

    def _check(self, request: Request) -> None:
        stated = request.headers.get("content-length", "")
        if stated.isdecimal() and int(stated[:20]) > self.most:
            raise self._too_large()
        path = request.url.path.rstrip("/")
        is_call = any(part in path for part in _CALLS)
        if request.method == "POST" and (is_call or path.endswith(_UPLOAD)):
            caller = caller_at(self.service, gr.Request(request))
            try:
                (self._calls if is_call else self._uploads).count(caller)
            except TryLaterError as error:
                self.service.events.add("limit", caller=caller, note=str(error))
                raise HTTPException(429, str(error), {"Retry-After": str(error.wait_s)}) from None

    def _too_large(self) -> HTTPException:
        return HTTPException(413, f"found more than {self.most:,} bytes, the largest size of a request")


def _has_url(value: Any) -> bool:
    if isinstance(value, dict):
        path = value.get("path")
        return (isinstance(path, str) and path.startswith(_URL)) or any(map(_has_url, value.values()))
    return isinstance(value, list) and any(map(_has_url, value))
