"""The command line: what it prints and leaves, how it ends, and that its help is light."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from musicrs_dataset.loading import load_threads
from musicrs_metric.runs.references import load_references

from .support import evaluate, run
from .test_upstream import ROW, write

Cli = Callable[..., "subprocess.CompletedProcess[str]"]

HEAVY = [
    "torch", "transformers", "accelerate", "datasets", "evaluate", "pandas", "pyarrow", "librosa", "gradio",
    "matplotlib", "scipy", "networkx", "huggingface_hub", "soundfile", "soxr", "av", "yt_dlp",
]  # fmt: skip
COMMANDS = ["build", "install", "validate", "describe", "push", "pools", "audit"]
COMMANDS += ["audio", "audio fetch", "audio status", "audio cut"]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Run the command line in a process of its own, from a directory that has nothing to do with the data."""
    return lambda *arguments: run("-m", "musicrs_dataset", *map(str, arguments), home=tmp_path / "home")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "a.jsonl", ROW, {**ROW, "name": "t3_z"})


def test_help_is_light(tmp_path: Path) -> None:
    """Neither the front page nor that of any command loads a heavy library."""
    code = f"""
import contextlib, io, json, sys
from musicrs_dataset.cli import app
for arguments in ([], *(command.split() for command in {COMMANDS})):
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        app([*arguments, "--help"], standalone_mode=False)
    assert "Usage" in shown.getvalue()
print(json.dumps([name for name in {HEAVY} if name in sys.modules]))
"""
    assert evaluate(code, tmp_path) == []


def test_build_installs(cli: Cli, source: Path, tmp_path: Path) -> None:
    """`build` tells what it repaired and wrote, and leaves both names working."""
    done = cli("build", "--from", source, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "2 damaged links repaired (2 doubled" in done.stderr
    assert f"2 threads -> {tmp_path / 'out' / 'musicrs'}" in done.stdout
    code = "from datasets import load_dataset; print(load_dataset('musicrs', 'query_only', split='test').num_rows)"
    assert evaluate(code, tmp_path / "home") == 2
    assert evaluate("import evaluate, json; print(json.dumps(evaluate.load('musicrs').name))", tmp_path / "home")


def test_build_without_installing(cli: Cli, source: Path, tmp_path: Path) -> None:
    """`--no-install` writes the folder and touches no cache; `install` does it later."""
    assert cli("build", "--from", source, "--out", tmp_path / "out", "--no-install").returncode == 0
    assert not (tmp_path / "home" / "datasets").exists()
    assert cli("install", tmp_path / "out", "--no-metric").returncode == 0
    assert (tmp_path / "home" / "datasets" / "musicrs").is_dir()


def test_an_installation_says_what_it_takes_the_place_of(cli: Cli, source: Path, tmp_path: Path) -> None:
    """Other data under the name are told by their size and fingerprint; the same ones once more are not."""
    other = write(tmp_path / "b.jsonl", ROW)
    told = []
    for name, file in (("first", source), ("first", source), ("second", other)):
        done = cli("build", "--from", file, "--out", tmp_path / name, "--config", "query_only")
        told.append(next(line for line in done.stdout.splitlines() if line.startswith("installed: ")))
    assert all('load_dataset("musicrs") with query_only' in line for line in told)
    assert [line for line in told if "in place of" in line] == told[2:]
    fingerprint = load_references(tmp_path / "first", "query_only").fingerprint
    assert f"in place of 2 threads (fingerprint {fingerprint[:12]})" in told[2]


def test_build_with_audio_and_pools(cli: Cli, source: Path, tmp_path: Path) -> None:
    """Clips from a folder, with a summary of its faults, and further pools under their own name."""
    (tmp_path / "audio").mkdir()
    soundfile.write(tmp_path / "audio" / "jNQXAC9IVRw.wav", np.full(16_000, 0.1), 8_000)
    pools = write(
        tmp_path / "pools.jsonl",
        *({"thread_id": name, "candidates": ["Reed", "Moor"], "design": "mine"} for name in ("t3_x", "t3_z")),
    )
    done = cli(
        "build", "--from", source, "--out", tmp_path / "out", "--no-install",
        "--audio", tmp_path / "audio", "--pools", pools, "--config", "audio_query",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "audio: 2 clips, 0.00 h, for 2 of 2 threads; links: 2 ok" in done.stderr
    [first, _] = load_threads(tmp_path / "out", "audio_query_mine")
    assert first.candidates == ("Reed", "Moor")
    assert [clip.duration_s for clip in first.clips or ()] == [2.0]


@pytest.mark.figures
def test_a_build_says_what_it_took_away(cli: Cli, source: Path, tmp_path: Path) -> None:
    """Fewer configurations, no clips, other threads: nobody is to find that out from a score."""
    whole = cli("build", "--from", "mini", "--out", tmp_path / "data", "--no-install")
    again = cli("build", "--from", "mini", "--out", tmp_path / "data", "--no-install")
    (tmp_path / "data" / "musicrs_mini").rename(tmp_path / "data" / "musicrs")  # where the authors' data goes
    assert "replaced" not in whole.stderr + again.stderr
    less = cli("build", "--from", source, "--out", tmp_path / "data", "--no-install", "--config", "query_only")
    assert "also had the configurations audio_query, audio_only" in less.stderr
    assert "a dataset with audio by one without" in less.stderr
    assert "other threads, pools or labels in query_only" in less.stderr


def test_mini(cli: Cli, tmp_path: Path) -> None:
    """The embedded dataset is built with its clips and is valid down to their sound."""
    assert cli("build", "--from", "mini", "--out", tmp_path, "--no-install").returncode == 0
    done = cli("validate", tmp_path, "--clips", "--json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert (found["is_valid"], found["rows"]) == (True, {"audio_only": 28, "audio_query": 28, "query_only": 28})
    about = json.loads(cli("describe", tmp_path, "--json").stdout)
    assert (about["threads"], about["audio"]["clips"], about["audio"]["threads"]) == (28, 56, 28)


def test_validate_ends_by_what_it_found(cli: Cli, tiny: Path) -> None:
    """Exit code 0 where rows are merely odd, 1 where something is invalid; both are named in the table."""
    done = cli("validate", tiny)
    assert done.returncode == 0
    assert "empty_ground_truth" in done.stdout
    assert "valid; audio_only 4" in done.stdout
    (tiny / "musicrs" / "query_only" / "test-00000-of-00001.parquet").write_bytes(b"PAR1")
    done = cli("validate", tiny)
    assert done.returncode == 1
    assert "changed_file" in done.stdout
    assert "NOT valid" in done.stdout


def test_describe(cli: Cli, tiny: Path) -> None:
    """Tables for a person, JSON for a program."""
    shown = cli("describe", tiny).stdout
    for told in ("Genres", "Macro-genres", "Subreddits", "postrock", "25.0 %", "Chance"):
        assert told in shown
    assert json.loads(cli("describe", tiny, "--json", "--config", "query_only").stdout)["threads"] == 4


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["build", "--from", "nowhere.jsonl", "--out", "out"], "nowhere.jsonl: no such file"),
        (["build", "--from", "{source}", "--out", "{source}"], "a file, expected a directory to build in"),
        (["build", "--from", "{cut}", "--out", "{out}"], "line 1: not JSON"),
        (["build", "--from", "{source}", "--out", "{out}", "--audio", "{out}/no"], "no such directory"),
        (["build", "--from", "{source}", "--out", "{out}", "--pools", "{out}/no"], "cannot be read"),
        (["build", "--from", "{source}", "--out", "{out}", "--pools", "{pools}"], "give --pools-name"),
        (["build", "--from", "{source}", "--out", "{out}", "--pools-name", "a"], "1 --pools-name for 0 --pools"),
        (["build", "--from", "{source}", "--out", "{out}", "--config", "queries"], "found queries, expected some of"),
        (["install", "/nowhere/at/all"], "no such directory"),
        (["validate", "/nowhere/at/all"], "no such directory"),
        (["describe", "{tiny}", "--config", "queries"], "no configuration 'queries'"),
        (["validate", "musicrs"], "dataset 'musicrs', configuration 'audio_query': not found"),
        (["describe", "musicrs"], "dataset 'musicrs', configuration 'audio_query': not found"),
        (["push", "/nowhere/at/all", "--repo", "org/musicrs"], "no such directory"),
    ],
)
def test_mistakes(cli: Cli, source: Path, tiny: Path, tmp_path: Path, arguments: list[str], told: str) -> None:
    """Every wrong path, name and file ends in one line and exit code 2, never a traceback."""
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(source.read_bytes()[:100])
    pools = write(tmp_path / "p.jsonl", *({"thread_id": name, "candidates": ["Reed"]} for name in ("t3_x", "t3_z")))
    places: dict[str, Any] = {"source": source, "cut": cut, "pools": pools, "tiny": tiny, "out": tmp_path / "out"}
    done = cli(*(argument.format(**places) for argument in arguments))
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("error: ")]) == 1
