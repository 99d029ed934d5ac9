"""The wheel. A field that `pyproject.toml` forgets disappears from it without a message."""

from __future__ import annotations

import configparser
import importlib.util
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = "import sys, setuptools.build_meta as backend; print(backend.build_wheel(sys.argv[1]))"


def test_entry_points_and_metadata(tmp_path: Path) -> None:
    """The wheel has both commands, the tasks of Inspect, their prompts, the extras, and the licence."""
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("setuptools is not installed, so no wheel can be built")
    source = tmp_path / "source"
    for name in ("musicrs_dataset", "musicrs_metric"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-c", BUILD, str(tmp_path)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / done.stdout.split()[-1]) as wheel:
        names = {name.partition("/")[2]: name for name in wheel.namelist() if ".dist-info/" in name}
        points = configparser.ConfigParser()
        points.read_string(wheel.read(names["entry_points.txt"]).decode())
        metadata = wheel.read(names["METADATA"]).decode()
        files = set(wheel.namelist())
    assert dict(points["inspect_ai"]) == {"musicrs_metric": "musicrs_metric.inspect._registry"}
    assert set(points["console_scripts"]) == {"musicrs-dataset", "musicrs-metric"}
    assert {"musicrs_metric/inspect/_registry.py", "musicrs_metric/answers/prompts/listwise.toml"} <= files
    for line in ("Name: musicrs\n", "License-Expression: Apache-2.0\n", "Requires-Python: >=3.11\n"):
        assert line in metadata
    for extra in ("inspect", "lexical", "audio", "baselines", "dev"):
        assert f"Provides-Extra: {extra}\n" in metadata
    assert "inspect_ai" in metadata
