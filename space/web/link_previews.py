"""Link previews of every permalink, in place of gradio's own, which show its logo for all pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from musicrs_metric.errors import UserError

from ..board.board import Board
from ..service import LeaderboardService
from ..views.address import Address
from ..views.link_preview import LinkPreview, link_preview, preview_picture

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PICTURE_PATH = "/preview.png"
_OWN = re.compile(rb'<meta\s+(?:property="og:|name="(?:twitter:|description))[^>]*>\s*')


class LinkPreviews:
    """ASGI middleware that puts title, description and picture of the requested view into the page.

    Args:
        app: The gradio app.
        service: The leaderboard.
    """

    def __init__(self, app: ASGIApp, service: LeaderboardService) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; the HTML of the page gets the preview of its query string."""
        if scope["type"] != "http" or scope["path"] != "/" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        # Without this header the page is not compressed, so that it can be changed.
        headers = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        start: Message = {}
        body = bytearray()

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
                return
            body.extend(message.get("body", b""))
            if not message.get("more_body"):
                page = await self._with_preview(bytes(body), scope) if _is_page(start) else bytes(body)
                kept = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
                length = (b"content-length", str(len(page)).encode())
                await send({**start, "headers": [*kept, length]})
                await send({"type": "http.response.body", "body": page})

        await self.app({**scope, "headers": headers}, receive, collect)

    async def _with_preview(self, page: bytes, scope: Scope) -> bytes:
        from starlette.concurrency import run_in_threadpool
        from starlette.requests import Request

        url = Request(scope).url
        preview = await run_in_threadpool(_preview_of, self.service, dict(parse_qsl(url.query)))
        picture = str(url.replace(path=PICTURE_PATH, query=url.query))
        values = {"title": preview.title, "description": preview.description, "image": picture}
        lines = [f'<meta property="og:{name}" content="{escape(value)}">' for name, value in values.items()]
        lines += [f'<meta name="twitter:{name}" content="{escape(value)}">' for name, value in values.items()]
        lines += [
            '<meta property="og:type" content="website">',
            f'<meta property="og:url" content="{escape(str(url))}">',
            '<meta name="twitter:card" content="summary_large_image">',
            f'<meta name="description" content="{escape(preview.description)}">',
        ]
        head = b"<head>" + "".join(lines).encode()
        return _OWN.sub(b"", page).replace(b"<head>", head, 1)


def picture_route(service: LeaderboardService) -> BaseRoute:
    """Return the route of the picture of a view: `GET /preview.png` with the query string of the page."""
    from starlette.responses import Response
    from starlette.routing import Route

    def picture(request: Request) -> Response:
        board, address = _view(service, dict(request.query_params))
        drawn = address.query, address.drawn
        png = board.cached(("preview picture", drawn), lambda: preview_picture(board, address))
        return Response(png, media_type="image/png", headers={"Cache-Control": "max-age=300"})

    return Route(PICTURE_PATH, picture, methods=["GET"])


def _preview_of(service: LeaderboardService, sent: Mapping[str, str]) -> LinkPreview:
    board, address = _view(service, sent)
    return board.cached(("preview", address), lambda: link_preview(board, address))


def _view(service: LeaderboardService, sent: Mapping[str, str]) -> tuple[Board, Address]:
    """Return the leaderboard and the state of the page of a URL; the current data if it names none that exist."""
    address = Address.read(sent)
    try:
        return service.board_of(address.data), address
    except UserError:
        return service.board, address


def _is_page(start: Message) -> bool:
    headers: dict[bytes, bytes] = {name.lower(): value for name, value in start["headers"]}
    return start["status"] == 200 and headers.get(b"content-type", b"").startswith(b"text/html")
