"""The command line of the making: every stage has its help, at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from builder_scripts.cli import app

HEAVY = (
    "matplotlib",
    "datasets",
    "scipy",
    "pyarrow",
    "duckdb",
    "ibis",
    "pandas",
    "pyspark",
    "torch",
    "transformers",
    "gradio",
    "zstandard",
    "orjson",
)


def test_help_loads_nothing_heavy() -> None:
    """The front door imports no engine and no model."""
    code = f"import sys; import builder_scripts.cli; print([name for name in {HEAVY} if name in sys.modules])"
    root = Path(__file__).parents[2]
    told = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


STAGES = ("mine", "threads", "extract", "queries", "refine", "audio", "annotate", "pools", "release", "all")


@pytest.mark.parametrize("stage", STAGES)
def test_help(stage: str) -> None:
    """Every stage tells what it does."""
    told = CliRunner().invoke(app, [stage, "--help"])
    assert told.exit_code == 0
    assert "Usage" in told.output


def test_a_mistake_ends_in_one_line(tmp_path: Path) -> None:
    """A user's mistake ends in exit code 2 and one line, without a traceback."""
    command = [sys.executable, "-m", "builder_scripts", "threads", "--work", str(tmp_path)]
    told = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert (told.returncode, len(told.stderr.splitlines())) == (2, 1)
    assert told.stderr.startswith("error: ")
