"""A local server with OpenAI's chat completions and audio, whose replies may be correct or faulty."""

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
    """A reply of the server: a completion, an error if `status` is not 200, or `raw` bytes."""

    text: str | None = ""
    finish: str = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    delay_s: float = 0.0
    cut: bool = False  # close the connection in the middle of the body
    usage: Mapping[str, int] = field(default_factory=lambda: {"completion_tokens": 5})
    model: str | None = None

    def body(self) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.status != 200:
            return json.dumps({"error": {"message": self.text}}).encode()
        choice = {"index": 0, "message": {"role": "assistant", "content": self.text}, "finish_reason": self.finish}
        model = {} if self.model is None else {"model": self.model}
        content = {"object": "chat.completion", **model, "choices": [choice], "usage": dict(self.usage)}
        return json.dumps(content).encode()


@dataclass
class Stub:
    """A running server: its URL, and all requests in order, with their headers in lower case."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0

    @property
    def asked(self) -> list[str]:
        """Prompts of the requests for threads, without the first request of a run."""
        return [prompt for prompt in map(prompt_of, self.bodies) if prompt != "Say yes."]


def prompt_of(body: Mapping[str, Any]) -> str:
    """Return the prompt of a request."""
    content = body["messages"][0]["content"]
    return str(content if isinstance(content, str) else content[-1]["text"])


@contextmanager
def chat_server(answer: Callable[[dict[str, Any], int], Reply]) -> Iterator[Stub]:
    """Run a server. `answer` maps a request and the number of earlier requests with its prompt to a reply."""
    stub, lock, seen, active = Stub(), threading.Lock(), dict[str, int](), [0]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                stub.bodies.append(body)
                stub.headers.append({name.lower(): value for name, value in self.headers.items()})
                before = seen.get(prompt_of(body), 0)
                seen[prompt_of(body)] = before + 1
                active[0] += 1
                stub.most_at_once = max(stub.most_at_once, active[0])
            reply = answer(body, before)
            time.sleep(reply.delay_s)
            with lock:
                active[0] -= 1
            data = reply.body()
            try:
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(data)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data[: len(data) // 2] if reply.cut else data)
                self.close_connection = self.close_connection or reply.cut
            except OSError:  # the client has given up
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
