"""A small board: its data, its store, and what somebody could send."""

from __future__ import annotations

from pathlib import Path

import pytest

from space.board.board import Board
from space.board.data import Data
from space.settings import Settings
from space.store.local import LocalStore

from .toy import toy_data


@pytest.fixture(scope="session")
def data() -> Data:
    """Six threads under two designs of pools."""
    return toy_data()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a board in a temporary folder."""
    return Settings(results=tmp_path / "results")


@pytest.fixture
def store(settings: Settings) -> LocalStore:
    """An empty store."""
    return LocalStore(settings.results / "submissions")


@pytest.fixture
def board(data: Data, store: LocalStore, settings: Settings) -> Board:
    """A board without rows."""
    return Board(data, store, settings.results / "cache")
