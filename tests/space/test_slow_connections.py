"""Slow connections over real sockets: each is closed in time, and a reader is served while hundreds are open."""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress

import gradio as gr
import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from space.web.slow_connections import ConnectionLimits, limited_connections

LIMITS = ConnectionLimits(header_s=1.0, body_bytes_per_s=1_000, per_address=40, total=60)
HEADER = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n"


async def echo(request: Request) -> PlainTextResponse:
    """The caller that uvicorn names, and the length of the body."""
    assert request.client is not None
    return PlainTextResponse(f"{request.client.host} {len(await request.body())}")


async def large(_: Request) -> PlainTextResponse:
    """More than the buffers of a connection hold."""
    return PlainTextResponse("x" * 60_000_000)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Port of a gradio server with low limits."""
    with gr.Blocks(analytics_enabled=False) as blocks:
        gr.HTML("empty")
    routes = [Route("/echo", echo, methods=["POST"]), Route("/large", large)]
    with limited_connections(LIMITS, behind_proxy=False):
        options = {"prevent_thread_lock": True, "quiet": True, "server_name": "127.0.0.1", "ssr_mode": False}
        _, url, _ = blocks.launch(**options, app_kwargs={"routes": routes})
    yield httpx.URL(url).port or 0
    blocks.close()


def connect(port: int, start: bytes = b"") -> socket.socket:
    """A connection that has sent its first bytes."""
    made = socket.create_connection(("127.0.0.1", port), timeout=10)
    made.sendall(start)
    return made


def seconds_until_closed(connection: socket.socket, piece: bytes = b"", every: float = 0.1) -> float:
    """Time until the server closes a connection to which a piece is sent again and again."""
    start = time.monotonic()
    connection.settimeout(every)
    while time.monotonic() - start < 8:
        try:
            if piece:
                connection.sendall(piece)
            if not connection.recv(100):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - start


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"", b""),
        (b"GET / HTTP/1.1\r\n", b""),
        (b"GET / HTTP/1.1\r\n", b"X-Slow: 1\r\n"),
        (HEADER + b"\r\n", b""),
        (HEADER + b"\r\n", b"a"),
        (HEADER.replace(b"Content-Length: 50000", b"Transfer-Encoding: chunked") + b"\r\n", b"1\r\na\r\n"),
    ],
)
def test_slow_requests_are_cut(start: bytes, piece: bytes, port: int) -> None:
    """Nothing, half a header, a header without end, a body that stops, and one that trickles."""
    with closing(connect(port, start)) as slow:
        assert LIMITS.header_s * 0.5 < seconds_until_closed(slow, piece) < 3.5 * LIMITS.header_s


def test_a_slow_second_request_is_cut(port: int) -> None:
    """The limit holds for each request of a connection."""
    with closing(connect(port, b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na")) as slow:
        assert b"127.0.0.1 1" in slow.recv(1_000) + slow.recv(1_000)
        assert seconds_until_closed(slow, b"G") < 3.5 * LIMITS.header_s


def test_a_steady_body_has_its_time(port: int) -> None:
    """50,000 bytes in two seconds are above the limit."""
    with closing(connect(port, HEADER + b"\r\n")) as steady:
        for _ in range(40):
            time.sleep(0.05)
            steady.sendall(b"a" * 1_250)
        assert b"127.0.0.1 50000" in steady.recv(1_000) + steady.recv(1_000)


@pytest.mark.figures
def test_a_response_that_nobody_reads_is_dropped(port: int) -> None:
    """A slow reader who does read gets all of it."""
    with closing(connect(port, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")) as lazy:
        time.sleep(6 * LIMITS.header_s)
        received = 0
        with suppress(ConnectionError):
            while piece := lazy.recv(1_000_000):
                received += len(piece)
        assert received < 60_000_000
    with closing(connect(port, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")) as slow:
        received = 0
        for _ in range(30):
            time.sleep(0.1)
            received += len(slow.recv(1_000_000))
        while received < 60_000_000:
            piece = slow.recv(1_000_000)
            assert piece
            received += len(piece)


@pytest.mark.parametrize(
    ("start", "n"),
    [
        (HEADER + b"\r\n", 120),
        *(pytest.param(start, 600, marks=pytest.mark.figures) for start in (b"", b"GET /", HEADER + b"\r\n")),
    ],
)
def test_slow_connections_refuse_no_reader(start: bytes, n: int, port: int) -> None:
    """The oldest slow ones make room. Each reader of the same address is served at once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 4_000), hard), hard))
    slow, waits = [], []
    try:
        for number in range(n):
            try:
                slow.append(connect(port, start))
            except OSError:  # closed before its first bytes
                continue
            if number % (n // 10) == 0:
                before = time.monotonic()
                assert httpx.post(f"http://127.0.0.1:{port}/echo", content=b"abc").text == "127.0.0.1 3"
                waits.append(time.monotonic() - before)
    finally:
        for connection in slow:
            connection.close()
    assert max(waits) < 10  # the limit of the real server


def test_x_forwarded_for_is_not_believed(port: int) -> None:
    """Without a proxy the caller is the other end of the connection, also on loopback."""
    answer = httpx.post(f"http://127.0.0.1:{port}/echo", headers={"X-Forwarded-For": "203.0.113.9"})
    assert answer.text == "127.0.0.1 0"
