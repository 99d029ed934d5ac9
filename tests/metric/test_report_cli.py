"""The command `report`: what it writes, and one line for every mistake."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .report_toy import Toy, write_toy
from .support import run_cli


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return write_toy(tmp_path)


def test_report_names_the_page(
    toy: Toy, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "deep" / "report"
    options = ["-d", toy.dataset, "--out", out, "--case", "t3_1", "--resamples", 50]
    code, said, errors = run_cli(capsys, monkeypatch, "report", *toy.runs, *options)
    assert (code, errors) == (0, "")
    assert said == f"{out / 'report.html'} (10 files in {out})\n"
    assert "Thread t3_1" in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["nowhere", "-d", "D"], "nowhere: no such folder; expected a run folder"),
        (["query/run.json", "-d", "D"], "query/run.json: is a file; expected a run folder"),
        (["D", "-d", "D"], "D/run.json: no such file; write the run card: python -m musicrs_metric card D --name ..."),
        (["lexical", "-d", "D"], "run it: python -m baselines run --model lexical --out runs/lexical"),
        (["query", "-d", "./none"], "none: no such directory"),
        (["query", "-d", "D", "--case", "t3_99"], "--case t3_99: not in dataset D (6 threads, such as t3_0)"),
        (["query", "-d", "D", "--out", "query/run.json"], "query/run.json: cannot be written"),
    ],
)
def test_mistake_is_told_in_one_line(
    toy: Toy,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    found: str,
) -> None:
    assert toy.query.is_dir()
    monkeypatch.chdir(tmp_path)
    code, said, errors = run_cli(capsys, monkeypatch, "report", "--resamples", 50, "--out", "out", *arguments)
    assert (code, said, errors.count("\n")) == (2, "", 1)
    assert found in errors


def test_command_is_defined_without_heavy_libraries() -> None:
    heavy = ["torch", "datasets", "pandas", "pyarrow", "matplotlib", "scipy"]
    code = f"import sys, musicrs_metric.report.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
