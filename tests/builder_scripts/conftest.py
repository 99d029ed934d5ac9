"""Dumps with their truth, mined once and filtered once for all tests that look at the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from builder_scripts.layout import Work
from builder_scripts.mine.dumps import find_dumps
from builder_scripts.mine.run import Mined, Mining
from builder_scripts.threads.options import ThreadsOptions
from builder_scripts.threads.run import run

from .dumps import WANTED, Corpus, Truth


@dataclass(frozen=True)
class Made:
    """Dumps and what must come out of them."""

    folder: Path
    files: Sequence[Path]
    truth: Truth


@dataclass(frozen=True)
class Done:
    """A work folder after `mine`."""

    work: Work
    mined: Mined


def mine(places: Sequence[Path], work: Work, subreddits: Sequence[str] = WANTED, workers: int = 1) -> Mined:
    """Run the stage."""
    return Mining(find_dumps(places), work, subreddits).run(workers)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Monthly dumps of everything, and the two dumps of one subreddit."""
    folder = tmp_path_factory.mktemp("dumps")
    corpus = Corpus(seed=7)
    files = corpus.monthly(folder / "monthly", threads=150, fillers=2)
    files += corpus.per_subreddit(folder / "jazz", threads=150)
    return Made(folder, files, corpus.truth)


@pytest.fixture(scope="session")
def done(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """All of them mined."""
    work = Work(tmp_path_factory.mktemp("work"))
    return Done(work, mine([made.folder], work, workers=2))


@pytest.fixture(scope="session")
def filtered(done: Done) -> Work:
    """All of them mined and filtered."""
    run(done.work, ThreadsOptions())
    return done.work
