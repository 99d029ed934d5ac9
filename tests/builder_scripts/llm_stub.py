"""A server on the loopback address that speaks OpenAI's chat completions as well, or as badly, as a test wants."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What the server sends.

    Attributes:
        text: What the model is to have written.
        finish: `finish_reason`.
        status: HTTP status; others than 200 carry `text` as the error's message.
        headers: Further headers.
        raw: Sent in place of a completion.
        delay_s: Slept before the answer.
        cut: The connection is closed in the middle of the body.
    """

    text: str = ""
    finish: str = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    delay_s: float = 0.0
    cut: bool = False

    def body(self) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.status != 200:
            return json.dumps({"error": {"message": self.text, "type": "error"}}).encode()
        message = {"role": "assistant", "content": self.text}
        completion = {
            "id": "cmpl-1", "object": "chat.completion", "created": 0, "model": "stub",
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }  # fmt: skip
        return json.dumps(completion).encode()


@dataclass
class Stub:
    """A running server.

    Attributes:
        url: For the client.
        bodies: The requests that came in, parsed, in order.
        headers: Their headers, with names in lower case.
        active: The requests that are in flight.
        most_at_once: The most requests that were in flight together.
    """

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    active: int = 0
    most_at_once: int = 0

    @property
    def prompts(self) -> list[str]:
        return [body["messages"][0]["content"] for body in self.bodies]


@contextmanager
def stub_server(answer: Callable[[str, int], Reply]) -> Iterator[Stub]:
    """Serve.

    Args:
        answer: Makes the reply from a prompt and the number of times that this prompt came before.
    """
    stub, lock, seen = Stub(), threading.Lock(), dict[str, int]()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = body["messages"][0]["content"]
            with lock:
                stub.bodies.append(body)
                stub.headers.append({name.lower(): value for name, value in self.headers.items()})
                before = seen.get(prompt, 0)
                seen[prompt] = before + 1
                stub.active += 1
                stub.most_at_once = max(stub.most_at_once, stub.active)
            try:
                self._send(answer(prompt, before))
            finally:
                with lock:
                    stub.active -= 1

        def _send(self, reply: Reply) -> None:
            time.sleep(reply.delay_s)
            data = reply.body()
            try:
                self.send_response(reply.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data[: len(data) // 2] if reply.cut else data)
            except OSError:  # the client has given up
                self.close_connection = True
            if reply.cut:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
