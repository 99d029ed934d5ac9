"""The page as it is wired: what programs may call, what may be fetched, and whom the owner's notice is for."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from space.app import _is_owner, build, launch_options
from space.board.board import Board
from space.board.data import load_data
from space.service import LeaderboardService
from space.settings import LeaderboardSettings, Limits
from space.store.local import LocalStore
from space.views.dataset_threads import DatasetThreads
from space.views.page import Page

from .views_toy import mini_dataset


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> LeaderboardService:
    """An empty board on the mini dataset."""
    folder = tmp_path_factory.mktemp("board")
    data = load_data(str(mini_dataset(folder / "data")))
    settings = LeaderboardSettings(
        dataset=data.dataset, results=folder, owners=("ann",), limits=Limits(upload_bytes=12_345)
    )
    return LeaderboardService(settings, Board(data, LocalStore(folder / "submissions"), None))


def test_programs_see_the_endpoints_and_nothing_of_the_page(service: LeaderboardService) -> None:
    """Calls of the page are private; every endpoint for programs is public."""
    blocks = build(service, Page(service.board, DatasetThreads(service.settings.dataset)))
    named = set(blocks.get_api_info()["named_endpoints"])
    assert {"/submit", "/score", "/leaderboard", "/predictions"} <= named
    assert not [name for name in named if "navigate" in name or "arrive" in name or "lambda" in name]
    assert not blocks.get_api_info()["unnamed_endpoints"]


@pytest.mark.parametrize("sent", [None, "x", 5, [1], {"tab": ["about"]}, {"tab": "threads", "find": "\ud800"}])
def test_what_is_no_address_leads_to_the_page(sent: Any, service: LeaderboardService) -> None:
    """Whatever a program sends in its place, the page and its files are there, in text that can be sent back."""
    blocks = build(service, Page(service.board, DatasetThreads(service.settings.dataset)))
    navigate = next(function.fn for function in blocks.fns.values() if function.name == "navigate")
    raw: Any = SimpleNamespace(headers={}, scope={}, client=None)
    made = navigate(SimpleNamespace(_data=sent), SimpleNamespace(request=raw))
    assert "MusiCRS" in "".join(part for part in made.values() if isinstance(part, str)).encode().decode()
    header: Any = next(block for block in blocks.blocks.values() if getattr(block, "elem_id", None) == "frame")
    assert "error" in header.file(sent)
    assert header.file({"what": "table csv", "address": sent})["name"] == "musicrs-leaderboard.csv"


def test_only_clips_may_be_fetched_and_uploads_have_a_limit(service: LeaderboardService) -> None:
    """No other folder of the machine is served; the limit is that of the settings; no font comes from elsewhere."""
    page = Page(service.board, DatasetThreads(service.settings.dataset))
    options = launch_options(service, page)
    assert options["allowed_paths"] == [str(page.dataset.folder)]
    assert not list(Path(options["allowed_paths"][0]).iterdir())
    assert options["max_file_size"] == 12_345
    assert not re.search(r"(src|href|url\(|@import|fetch\()[^\n]*//[a-z]", options["head"])
    assert not [sheet for sheet in options["theme"]._stylesheets if "http" in sheet]


def test_the_notice_is_for_owners_who_are_signed_in(service: LeaderboardService) -> None:
    """An address, a stranger, or a name that nobody vouches for is no owner."""

    def asked(name: str | None, sign_in: bool) -> bool:
        session = {} if name is None else {"oauth_info": {"userinfo": {"preferred_username": name}}}
        raw: Any = SimpleNamespace(
            headers={"x-user": "ann"}, scope={"session": session}, client=SimpleNamespace(host="10.0.0.1")
        )
        changed = LeaderboardService(replace(service.settings, sign_in=sign_in), service.board)
        return _is_owner(changed, SimpleNamespace(request=raw))

    assert asked("ann", sign_in=True)
    assert not asked("ann", sign_in=False)
    assert not asked("bob", sign_in=True)
    assert not asked(None, sign_in=True)


def test_only_owners_see_the_events(service: LeaderboardService, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notice of the page has them, and it is empty for all others. A hash replaces the IP address."""
    service.events.add("limit", caller="address 10.0.0.9", note="20 submissions is the limit")
    blocks = build(service, Page(service.board, DatasetThreads(service.settings.dataset)))
    navigate = next(function.fn for function in blocks.fns.values() if function.name == "navigate")
    notice = next(block for block in blocks.blocks.values() if getattr(block, "elem_id", None) == "notice")
    raw: Any = SimpleNamespace(headers={}, scope={}, client=None)

    def shown(*, is_owner: bool) -> str:
        monkeypatch.setattr("space.app._is_owner", lambda _service, _request: is_owner)
        return str(navigate(SimpleNamespace(_data={}), SimpleNamespace(request=raw))[notice])

    assert "20 submissions is the limit" in shown(is_owner=True)
    assert "10.0.0.9" not in shown(is_owner=True)
    assert shown(is_owner=False) == ""
