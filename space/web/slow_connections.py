"""HTTP connections of the leaderboard: those that send or read too slowly are closed, and their number is bounded.

Uvicorn waits without limit for the rest of a request. A few hundred slow connections would take all file handles.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gradio import http_server
from uvicorn.protocols.http.auto import AutoHTTPProtocol


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    """Limits on connections.

    Attributes:
        header_s: Seconds for the header of a request. A body has as long before its speed counts, and a reader of a
            response may pause for half as long.
        body_bytes_per_s: Lowest average speed of a request body.
        per_address: Open connections of one IP address; 0 for no limit. An open page holds one or two.
        total: Open connections. Linux allows a process 1,024 open files unless it is configured otherwise.
    """

    header_s: float = 10.0
    body_bytes_per_s: float = 2_000.0
    per_address: int = 200
    total: int = 700


@contextmanager
def limited_connections(limits: ConnectionLimits, *, behind_proxy: bool) -> Iterator[None]:
    """Limit the connections of the gradio servers that are started within the block.

    Gradio has no option for this. It creates its server with a class of its module, which is replaced for the block.

    Args:
        limits: The limits.
        behind_proxy: True if all connections come from a proxy. Otherwise uvicorn must not read X-Forwarded-For, which
            it believes of every local caller.
    """

    class Protocol(_Connection):
        most_per_address = 0 if behind_proxy else limits.per_address

    Protocol.limits = limits

    class Server(http_server.Server):  # type: ignore[misc]
        def __init__(self, config: Any, *others: Any, **options: Any) -> None:
            config.http, config.ws, config.proxy_headers = Protocol, "none", behind_proxy
            super().__init__(config, *others, **options)

    standard, http_server.Server = http_server.Server, Server
    try:
        yield
    finally:
        http_server.Server = standard


class _Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that checks its own progress."""

    limits = ConnectionLimits()
    most_per_address = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.started = time.monotonic()  # the latest time at which the request can have begun
        self._received = self._unread = 0
        self._timer = self.loop.call_later(self.limits.header_s / 2, self._check)
        open_ones = [other for other in self.connections if not other.transport.is_closing()]
        if self.most_per_address and self.client:
            _make_room([other for other in open_ones if other.client[0] == self.client[0]], self.most_per_address)
        _make_room(open_ones, self.limits.total)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        self.started, self._received = time.monotonic(), 0
        super().on_response_complete()

    def resume_writing(self) -> None:
        self._unread = 0
        super().resume_writing()

    @property
    def has_whole_request(self) -> bool:
        """True while the server answers."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    def _check(self) -> None:
        """Close the connection if the other side is too slow. The time that the server itself takes does not count."""
        unread = self.transport.get_write_buffer_size()
        if unread:  # of this response; the next request need not begin before its end
            self.started = time.monotonic()
        if 0 < self._unread <= unread or (not self.has_whole_request and self._sends_too_slowly()):
            self.transport.abort()
            return
        self._unread = unread
        self._timer = self.loop.call_later(self.limits.header_s / 2, self._check)

    def _sends_too_slowly(self) -> bool:
        takes = time.monotonic() - self.started
        if takes < self.limits.header_s or self.flow.read_paused:
            return False
        has_header = self.cycle is not None and not self.cycle.response_complete
        return not has_header or self._received < self.limits.body_bytes_per_s * takes


def _make_room(connections: Collection[_Connection], most: int) -> None:
    """Close the oldest connection without a whole request if there are too many. A quick reader finds a place."""
    incomplete = [one for one in connections if not one.has_whole_request]
    if len(connections) > most and incomplete:
        min(incomplete, key=lambda one: one.started).transport.abort()
