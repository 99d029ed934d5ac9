"""Standard output that is not UTF-8: every room prints its tables, and JSON loses nothing."""

from __future__ import annotations

import importlib
import io
import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from musicrs_metric.base.output import print_json
from musicrs_metric.errors import front_door

from .support import TINY, columns_of, references_of, write_lines, write_repo

ROOMS = ("musicrs_metric", "musicrs_dataset", "baselines", "space", "builder_scripts")
NARROW = ("ascii", "latin-1", "cp1252", "koi8-r")


class Printed(NamedTuple):
    """What a program wrote, as bytes, and its exit code."""

    code: int
    out: bytes
    err: str


def printed(monkeypatch: pytest.MonkeyPatch, room: str, encoding: str, *arguments: object) -> Printed:
    """Run a room's command line with standard output in an encoding."""
    out, err = io.BytesIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding, errors="strict"))
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(sys, "argv", [room, *map(str, arguments)])
    code = 0
    try:
        importlib.import_module(f"{room}.cli").main()
    except SystemExit as stop:
        code = int(stop.code or 0)
    sys.stdout.flush()
    return Printed(code, out.getvalue(), err.getvalue())


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_prints(room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sign that the encoding lacks is no reason to stop: here those of the frames and dashes of a help page."""
    done = printed(monkeypatch, room, "ascii", "--help")
    assert done.code == 0
    assert b"Usage" in done.out


@pytest.mark.parametrize("encoding", NARROW)
def test_a_table(encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of scores, with other signs where some are missing, and one line that says so."""
    folder = write_repo(tmp_path / "data", columns_of(references_of(TINY)))
    ranked = [{"thread_id": row["name"], "ranking": row["final_candidates"]} for row in TINY]
    file = write_lines(tmp_path / "p.jsonl", ranked)
    whole = printed(monkeypatch, "musicrs_metric", "utf-8", "score", "-p", file, "-d", folder)
    done = printed(monkeypatch, "musicrs_metric", encoding, "score", "-p", file, "-d", folder)
    assert (whole.code, done.code) == (0, 0)
    assert "printed as ?" not in whole.err
    assert ("printed as ?" in done.err) == (b"?" in done.out)
    text = whole.out.decode()
    shown = [line for line in done.out.decode(encoding).splitlines() if "recall@20" in line]
    numbers = [word for word in next(line for line in text.splitlines() if "recall@20" in line).split() if "." in word]
    assert shown
    assert all(part in shown[0] for word in numbers for part in word.split("–"))


@pytest.mark.parametrize("encoding", ["utf-8", *NARROW])
def test_json_loses_nothing(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Titles come back whole, whatever the encoding of the output."""
    titles = ["Hoppípolla", "Пачка сигарет", "夜に駆ける", "🎵", "a – b", "\\u00e9"]
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding, errors="strict"))
    front_door(lambda: print_json(titles))
    sys.stdout.flush()
    assert json.loads(out.getvalue().decode(encoding)) == titles


def test_the_streams_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller's stream is as strict afterwards as it was before."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")
    monkeypatch.setattr(sys, "stdout", stream)
    front_door(lambda: print("–"))
    assert stream.errors == "strict"
