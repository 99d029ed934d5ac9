"""The mini dataset and the authors' file as runs read them, and a cache of embeddings that the tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from baselines.data import Data, as_references
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from tests.baselines.toys import ROOT, Command


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment of started programs: a Hugging Face home of their own, no network."""
    home = tmp_path_factory.mktemp("hf")
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}
    return os.environ | offline | {"HF_HOME": str(home), "TRACKIO_DIR": str(home / "trackio")}


@pytest.fixture(scope="session")
def command(environment: dict[str, str]) -> Command:
    """Runs `python -m baselines ...` in a process of its own."""

    def start(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "baselines", *map(str, arguments)]
        return subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)

    return start


@pytest.fixture(scope="session")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of the mini dataset, without audio."""
    out = tmp_path_factory.mktemp("mini")
    threads, about = resolve_source("mini", clips=False)
    build(threads, out, about=about, configs=("query_only",))
    return out


@pytest.fixture(scope="session")
def published(upstream_file: Path) -> Data:
    """The authors' file."""
    threads = resolve_source(upstream_file).threads
    return Data(threads, as_references(threads, "published", "query_only"))


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of embeddings, so that the texts of the authors' file are embedded once for all tests."""
    return tmp_path_factory.mktemp("vectors")
