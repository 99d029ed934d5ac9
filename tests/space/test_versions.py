"""Older versions of the data: the page and the JSON show the rows that were made for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from musicrs_metric.errors import UserError
from musicrs_metric.runs.read import score_predictions
from space.board.board import Board
from space.board.data import LeaderboardData, PoolDesign
from space.board.table_rows import RowQuery
from space.factory import make_service
from space.service import LeaderboardService
from space.settings import LeaderboardSettings, from_environment
from space.store.local import LocalStore
from space.views.address import Address
from space.views.dataset_threads import DatasetThreads
from space.views.leaderboard import download
from space.views.page import Page

from .toy import POOLS, card, ranked, submission, toy_data
from .toy import references as references_with
from .views_toy import mini_dataset
from .views_toy import submission as mini_submission


def changed_data() -> LeaderboardData:
    """The toy data with one label less."""
    genre, pool, right = POOLS["t3_e"]
    references = references_with(POOLS | {"t3_e": (genre, pool, right.split()[0])})
    return LeaderboardData("toy", (PoolDesign("published", references, ("query_only",)),))


@pytest.fixture
def service(store: LocalStore, settings: LeaderboardSettings) -> LeaderboardService:
    """Two rows of the old data and one of the new data."""
    current, old = changed_data(), toy_data()
    for at in range(2):
        store.put(submission(ranked(at, skill=at / 2), at=at, name=f"Old {at}"))
    fingerprint = card(design=current.designs[0]).fingerprint
    store.put(submission(ranked(7), at=9, name="New", fingerprint=fingerprint))
    cache = settings.results / "cache"
    older = (Board(old, store, cache, older=True),)
    return LeaderboardService(settings, Board(current, store, cache), None, older)


def test_each_version_has_its_rows_and_scores(service: LeaderboardService) -> None:
    """All rows on the current data; on the older data the rows of that time, with the scores and ranks of that time."""
    version = toy_data().version
    current = {row["name"]: row for row in service.leaderboard(RowQuery(reported=False), details=True)}
    old = {row["name"]: row for row in service.leaderboard(RowQuery(reported=False, version=version), details=True)}
    assert set(current) == {"chance", "Old 0", "Old 1", "New"}
    assert set(old) == {"chance", "Old 0", "Old 1"}
    assert current["Old 1"]["other_data"] is not None
    assert "made on older data" in current["Old 1"]["marks"]
    assert old["Old 1"]["other_data"] is None
    exact = score_predictions(ranked(1, skill=0.5), references_with()).scores.values
    assert old["Old 1"]["values"]["mrr"] == exact["mrr"]
    assert old["Old 1"]["standings"]["mrr"]["rank"] == 1
    assert service.leaderboard(RowQuery(version=service.board.data.version)) == service.leaderboard(RowQuery())
    with pytest.raises(UserError, match=version):
        service.leaderboard(RowQuery(version="x"))


def test_a_row_of_an_older_version_only(service: LeaderboardService, store: LocalStore) -> None:
    """Its predictions can be downloaded although the current data have no row of it."""
    wider = toy_data().designs[1]
    made = submission(ranked(3, wider), at=20, name="Wider", fingerprint=wider.fingerprint, pools="wider")
    store.put(made)
    for board in (service.board, *service.older.values()):
        board.refresh()
    assert service.board.row(made.key) is None
    assert service.predictions(made.key).count("\n") == len(POOLS)


@pytest.mark.figures
def test_the_page_offers_the_versions(tmp_path: Path) -> None:
    """A menu, a notice, links that keep the version, and a table to download."""
    old = mini_dataset(tmp_path / "old")
    threads, about = resolve_source("mini")
    build(list(threads)[:-1], tmp_path / "new", about=about, configs=("audio_query",))
    settings = LeaderboardSettings(dataset=str(tmp_path / "new"), older=(str(old),), results=tmp_path / "results")
    service = make_service(settings)
    (version, older) = next(iter(service.older.items()))
    service.board.store.put(mini_submission(older.data.designs[0].references, 3))
    versions = {"": "Current", version: f"Older ({version})"}
    page = Page(older, DatasetThreads(str(old)), versions)
    address = page.normalise_address(Address(data=version))
    assert address.data == version
    html = page.leaderboard(address)
    assert f'value="{version}" selected' in html
    assert "older version of the data" in html
    assert f"data={version}" in page.header(address)
    assert "28 threads" in html
    current = Page(service.board, DatasetThreads(settings.dataset), versions)
    assert "27 threads" in current.leaderboard(current.normalise_address(Address()))
    assert current.gone(Address(data="x")) == ["data 'x'"]
    for data, n in ((version, ",28,"), ("", ",27,")):
        assert n in download(service, Address(data=data), "table csv")["text"]


def test_older_versions_come_from_the_environment() -> None:
    """Names separated by commas."""
    assert from_environment({"MUSICRS_OLDER": "a, b,"}).older == ("a", "b")
    assert replace(LeaderboardSettings()).older == ()
