"""Datasets that several tests read."""

from __future__ import annotations

from pathlib import Path

import pytest

from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source

from .support import ABOUT, TINY


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Directory of a built dataset of four threads."""
    build(TINY, tmp_path / "tiny", about=ABOUT)
    return tmp_path / "tiny"


@pytest.fixture(scope="session")
def published(upstream_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of the dataset built from the authors' file."""
    out = tmp_path_factory.mktemp("published")
    threads, about = resolve_source(upstream_file)
    build(threads, out, about=about)
    return out
