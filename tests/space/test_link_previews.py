"""Every permalink has a preview of its own: title, one line with score and chance, and a picture of the chart."""

from __future__ import annotations

import io
import re
from html import unescape

import pytest
from PIL import Image
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from musicrs_metric.base import numbers
from space.board.board import Board
from space.board.data import load_data
from space.service import LeaderboardService
from space.settings import LeaderboardSettings
from space.store.local import LocalStore
from space.web.link_previews import LinkPreviews, picture_route

from .views_toy import mini_dataset, submission, submissions

ATTACK = '"><script>alert(1)</script>'
GRADIO = """<html><head><meta charset="utf-8" /><meta property="og:title" content="Gradio" />
<meta
    property="og:image"
    content="https://elsewhere.example/logo.jpg"
/><meta name="twitter:title" content="Gradio" /></head><body>page</body></html>"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> LeaderboardService:
    """Five systems, and one whose name means harm."""
    folder = tmp_path_factory.mktemp("board")
    data = load_data(str(mini_dataset(folder / "data")))
    store = LocalStore(folder / "submissions")
    for made in submissions(data.designs[0].references, 5):
        store.put(made)
    store.put(submission(data.designs[0].references, 5, name=ATTACK, strength=3))
    settings = LeaderboardSettings(dataset=str(folder / "data"), results=folder)
    return LeaderboardService(settings, Board(data, store, None))


@pytest.fixture(scope="module")
def client(service: LeaderboardService) -> TestClient:
    """A page like gradio's behind the middleware."""
    routes = [
        Route("/", lambda _: HTMLResponse(GRADIO)),
        Route("/other", lambda _: PlainTextResponse("og:title")),
        picture_route(service),
    ]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(LinkPreviews, service=service)]))


def meta(page: str) -> dict[str, str]:
    """Content of the preview by name. No name may be there twice."""
    found = re.findall(r'<meta (?:property|name)="([a-z:]+)" content="([^"]*)">', page)
    assert len({name for name, _ in found}) == len(found)
    return {name: unescape(value) for name, value in found}


def test_the_table_is_described(client: TestClient) -> None:
    page = client.get("/")
    assert "Gradio" not in page.text
    assert "elsewhere" not in page.text
    assert int(page.headers["content-length"]) == len(page.content)
    shown = meta(page.text)
    assert shown["og:title"] == shown["twitter:title"] == "MusiCRS leaderboard"
    assert "6 systems" in shown["og:description"]
    assert shown["og:image"].endswith("/preview.png")


def test_a_row_has_its_score_interval_and_chance(client: TestClient, service: LeaderboardService) -> None:
    row = next(row for row in service.board.snapshot().rows if row.label != ATTACK)
    shown = meta(client.get(f"/?row={row.key}").text)
    scores = row.scores
    assert shown["og:title"] == f"{row.label} – MusiCRS leaderboard"
    assert f"recall@20 {numbers.percent(scores.values['recall@20'])}" in shown["og:description"]
    assert scores.chance is not None
    assert f"({numbers.percent(scores.chance['recall@20'])})" in shown["og:description"]
    assert shown["og:image"].endswith(f"/preview.png?row={row.key}")


def test_a_name_that_means_harm_stays_text(client: TestClient, service: LeaderboardService) -> None:
    row = next(row for row in service.board.snapshot().rows if ATTACK in row.label)
    page = client.get(f"/?row={row.key}").text
    assert "<script>alert(1)" not in page
    assert ATTACK in meta(page)["og:title"]


@pytest.mark.parametrize(
    "query",
    ["tab=compare", "tab=threads&thread=t3_mini01", "tab=about", "genre=Jazz", "order=reversed", "find=nothing at all",
     "row=unknown", "data=9", "pools=nonsense", "genre=%ff", "tab=%22%3E%3Cb%3E", "modality=audio_only&reads=labels"],
)  # fmt: skip
def test_every_view_has_a_preview_and_a_picture(query: str, client: TestClient) -> None:
    page = client.get(f"/?{query}")
    assert page.status_code == 200
    shown = meta(page.text)
    assert {"og:title", "og:description", "og:image", "og:url", "twitter:card", "description"} <= set(shown)
    picture = client.get(f"/preview.png?{query}")
    assert picture.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(picture.content)).size == (1200, 630)


def test_other_answers_stay_as_they_are(client: TestClient) -> None:
    assert client.get("/other").text == "og:title"
