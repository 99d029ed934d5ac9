"""A small board: its data, its store, and what somebody could send."""

from __future__ import annotations

from pathlib import Path

import pytest

from space.board.board import Board
from space.board.data import LeaderboardData
from space.settings import LeaderboardSettings
from space.store.local import LocalStore

from .toy import toy_data


@pytest.fixture(scope="session")
def data() -> LeaderboardData:
    """Six threads under two designs of pools."""
    return toy_data()


@pytest.fixture
def settings(tmp_path: Path) -> LeaderboardSettings:
    """Settings of a board in a temporary folder."""
    return LeaderboardSettings(results=tmp_path / "results")


@pytest.fixture
def store(settings: LeaderboardSettings) -> LocalStore:
    """An empty store."""
    return LocalStore(settings.results / "submissions")


@pytest.fixture
def board(data: LeaderboardData, store: LocalStore, settings: LeaderboardSettings) -> Board:
    """A board without rows."""
    return Board(data, store, settings.results / "cache")
