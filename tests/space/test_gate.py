"""Bodies and uploads over a real connection: what is too large, or too often, is refused before it fills anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from space.app import launch
from space.board.board import Board
from space.board.data import load_data
from space.service import LeaderboardService
from space.settings import LeaderboardSettings, Limits
from space.store.local import LocalStore
from space.views.dataset_threads import DatasetThreads
from space.views.page import Page
from space.web.api import expose
from space.web.middleware import Blocks

from .views_toy import mini_dataset

LIMITS = Limits(upload_bytes=100_000, calls=3)
TOO_LARGE = 1_400_000  # more than three times an upload and a megabyte


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a board that is launched as the real one is."""
    folder = tmp_path_factory.mktemp("board")
    data = load_data(str(mini_dataset(folder / "data")))
    settings = LeaderboardSettings(dataset=data.dataset, results=folder, limits=LIMITS)
    service = LeaderboardService(settings, Board(data, LocalStore(folder / "submissions"), None))
    with Blocks(analytics_enabled=False) as blocks:
        expose(service)
    options: dict[str, Any] = {"prevent_thread_lock": True, "quiet": True, "server_name": "127.0.0.1"}
    page = Page(service.board, DatasetThreads(settings.dataset))
    _, url, _ = launch(blocks, service, page, **options)
    with httpx.Client(base_url=url, timeout=30, trust_env=False) as made:
        yield made
    blocks.close()


PATHS = ("call/v2/submit", "call/leaderboard", "queue/join", "run/submit", "component_server", "upload")
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("path", PATHS)
def test_a_body_has_a_limit(path: str, client: httpx.Client) -> None:
    """Wherever it is sent; the answer says how much is taken."""
    answer = client.post(f"/gradio_api/{path}", content=b"a" * TOO_LARGE, headers=JSON)
    assert answer.status_code == 413
    assert "1,300,000 bytes" in answer.json()["detail"]


@pytest.mark.parametrize("path", PATHS)
def test_a_body_of_unknown_length_is_not_read_to_its_end(path: str, client: httpx.Client) -> None:
    """Its sender cannot send all of it, or is refused."""
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        yield b'{"data": "'
        while sent < 60_000_000:
            sent += 100_000
            yield b"a" * 100_000

    try:
        answer = client.post(f"/gradio_api/{path}", content=pieces(), headers=JSON)
    except httpx.TransportError:  # the server has closed the connection before all was sent
        assert sent < 60_000_000
    else:
        assert answer.status_code in (400, 413)


def test_what_fits_is_taken(client: httpx.Client) -> None:
    """The largest file, written as text of which every letter takes three times its bytes."""
    body = json.dumps({"predictions": "\u00e9" * 50_000, "name": "x" * 900_000})
    answer = client.post("/gradio_api/call/v2/submit", content=body, headers=JSON)
    assert (len(body) > 1_190_000, answer.status_code) == (True, 200)


def test_uploads_are_counted(client: httpx.Client) -> None:
    """Whatever a caller says of where it calls from; the refusal says when to come again."""
    files = {"files": ("predictions.jsonl", b"{}\n")}
    states = []
    for number in range(5):
        headers = {"X-Real-IP": f"10.0.0.{number}", "X-Forwarded-For": f"203.0.113.{number}"}
        answer = client.post("/gradio_api/upload", files=files, headers=headers)
        states.append(answer.status_code)
    assert states[-1] == 429
    assert 200 in states
    assert 0 < int(answer.headers["retry-after"]) <= LIMITS.window_s
    assert "try again in" in answer.json()["detail"]


def test_nothing_is_fetched_for_a_caller(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is described by an address, in whichever field of whichever endpoint, is refused in words."""
    fetched: list[str] = []

    async def get(url: str, *_: Any) -> Any:
        fetched.append(url)
        raise OSError("no network")

    monkeypatch.setattr("gradio.processing_utils.async_ssrf_protected_download", get)
    file = {"path": "https://example.org/endless", "meta": {"_type": "gradio.FileData"}}
    for field in ({"predictions": file, "pools": ""}, {"predictions": "{}", "pools": [{"deep": file}]}):
        event = client.post("/gradio_api/call/v2/score", json=field).json()["event_id"]
        assert "expected the file itself" in client.get(f"/gradio_api/call/score/{event}").text
    assert not fetched


def test_how_busy_it_is_stays_inside(client: httpx.Client) -> None:
    """Gradio's pages about calls are closed, and do not print their address into the log."""
    assert [client.get(f"/monitoring{part}").status_code for part in ("", "/summary")] == [403, 403]
