"""The name `musicrs` after random sequences of ordinary use: the installed rows, never those of another folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from musicrs_dataset.records import Thread
from musicrs_dataset.repo.build import build

from .support import ABOUT, TINY, evaluate, run

INSTALLED = TINY  # without clips: `.map` would decode them, and import torch for it
SCRIPT = str(Path(__file__).with_name("name_sequences.py"))
CONFIGS = ("audio_query", "query_only", "audio_only")


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with an installed dataset, and three other folders of the name: one with a card, two of other kinds."""
    folder = tmp_path_factory.mktemp("used")
    build(INSTALLED, folder / "out", about=ABOUT)
    code = f"from musicrs_dataset.repo.install import install; install({str(folder / 'out')!r}, metric=False); print(1)"
    evaluate(code, folder / "home")
    other: Sequence[Thread] = INSTALLED[:2]
    build(other, folder / "foreign" / "a", about=ABOUT)
    # The same configurations in a card of another make: without a version, and without a hash of the content.
    plain = build(other, folder / "foreign" / "b", about=ABOUT)
    lines = ["---", "configs:"]
    for config in CONFIGS:
        lines += [f"- config_name: {config}", f"  data_files: [{{split: test, path: '{config}/test-*.parquet'}}]"]
        lines += ["  default: true"] if config == CONFIGS[0] else []
    (plain / "README.md").write_text("\n".join([*lines, "---", ""]), encoding="utf-8")
    # And one with the very card of what is installed over other rows.
    forged = build(other, folder / "foreign" / "c", about=ABOUT)
    (forged / "README.md").write_bytes((folder / "out" / "musicrs" / "README.md").read_bytes())
    return folder


def check(used: Path, seeds: range) -> None:
    done = run(SCRIPT, str(used), *map(str, seeds), home=used / "used")
    assert done.returncode == 0, done.stderr[-2000:]
    sequences = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(sequences) == len(seeds)
    ids = [thread.thread_id for thread in INSTALLED]
    for sequence in sequences:
        for process in ("same", "new"):
            given = sequence[process]
            assert all(given[name][: len(ids)] == ids for name in given), sequence
            assert set(given) == {"", *CONFIGS}
            columns = {name: set(given[name][len(ids) :]) for name in given}
            assert columns[""] == columns["audio_query"]
            assert "clips" not in columns["query_only"]
            assert "query" not in columns["audio_only"]


@pytest.mark.figures
def test_five_sequences(used: Path) -> None:
    """The default and every configuration, in the process that used the cache last and in a new one."""
    check(used, range(5))


@pytest.mark.figures
def test_twenty_sequences(used: Path) -> None:
    """The same with other seeds."""
    check(used, range(100, 120))
