"""What comes in over HTTP, bounded before it is read: the size of bodies, the number of uploads, and no addresses."""

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

# A file of the largest size may stand as text within JSON, where a letter takes up to three times its bytes.
_TIMES = 3
_BESIDE = 1_000_000
_UPLOAD = "/upload"
_ADDRESS = ("http://", "https://")


class Blocks(gr.Blocks):  # type: ignore[misc]
    """A gradio app that fetches nothing for a caller.

    Where a file is described by an address, whichever field it is sent in, Gradio downloads it, however large it is.
    """

    async def preprocess_data(self, block_fn: Any, inputs: list[Any], *others: Any, **options: Any) -> Any:
        """Take in what was sent, unless it would have to be fetched."""
        if any(map(_is_elsewhere, inputs)):
            raise gr.Error("found the address of a file, expected the file itself", print_exception=False)
        return await super().preprocess_data(block_fn, inputs, *others, **options)


class RequestLimits:
    """ASGI middleware before a gradio app, which itself bounds uploaded files and no other body.

    Args:
        app: What answers.
        service: Its settings say what is taken at most, and from whom calls come.
    """

    def __init__(self, app: ASGIApp, service: LeaderboardService) -> None:
        self.app, self.service = app, service
        limits = service.settings.limits
        self.most = _TIMES * limits.upload_bytes + _BESIDE
        self._uploads = RateLimit(limits.calls, limits.window_s, "upload")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it with status 413 or 429."""
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
            if left < 0:  # its length was not stated
                raise self._too_large()
            return message

        await self.app(scope, bounded, send)

    def _check(self, request: Request) -> None:
        stated = request.headers.get("content-length", "")
        if stated.isdecimal() and int(stated[:20]) > self.most:
            raise self._too_large()
        if request.method == "POST" and request.url.path.rstrip("/").endswith(_UPLOAD):
            try:
                self._uploads.count(caller_at(self.service, gr.Request(request)))
            except TryLaterError as error:
                raise HTTPException(429, str(error), {"Retry-After": str(error.wait_s)}) from None

    def _too_large(self) -> HTTPException:
        return HTTPException(413, f"more than {self.most:,} bytes were sent, which is more than any call takes")


def _is_elsewhere(value: Any) -> bool:
    if isinstance(value, dict):
        path = value.get("path")
        return (isinstance(path, str) and path.startswith(_ADDRESS)) or any(map(_is_elsewhere, value.values()))
    return isinstance(value, list) and any(map(_is_elsewhere, value))
