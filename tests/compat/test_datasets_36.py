"""The dataset on `datasets` 3.6, without torch: the built folder, the installed name and the loading script.

It runs in an environment of its own (`make test-compat`) and needs nothing from the other tests.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import musicrs_dataset
from musicrs_dataset.loading import load_threads
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source

datasets = pytest.importorskip("datasets")
if not datasets.__version__.startswith("3."):
    pytest.skip("these tests are for datasets 3.6; run them with `make test-compat`", allow_module_level=True)

CONFIGS = ("audio_query", "query_only", "audio_only")
SCRIPT = str(Path(musicrs_dataset.__file__).with_name("musicrs.py"))


@pytest.fixture(scope="session")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the mini dataset, with clips."""
    threads, about = resolve_source("mini")
    return build(threads, tmp_path_factory.mktemp("mini"), about=about)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def evaluate(code: str, home: Path, **changes: str) -> Any:
    """Run a program elsewhere, offline, with a Hugging Face home of its own; returns what it prints last, as JSON."""
    offline = dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"), "1")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    variables = {**inherited, **offline, "HF_HOME": str(home), **changes}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


LOOK = """
import json
from datasets import get_dataset_config_names, load_dataset
def ids(*name, split="test", **how):
    return [row["thread_id"] for row in load_dataset(*name, split=split, **how)]
"""


def test_no_torch() -> None:
    """This environment has no torch, or the tests below would show less than they say."""
    assert find_spec("torch") is None


def test_built_folder(mini: Path, home: Path) -> None:
    """By path: the default, each configuration, streams and slices, and the names of the configurations."""
    threads = [thread.thread_id for thread in load_threads(mini)]
    code = f"""{LOOK}
path = {str(mini)!r}
undecoded = load_dataset(path, split="test").remove_columns("clips")
print(json.dumps([
    undecoded["thread_id"], ids(path, "query_only"), ids(path, "query_only", streaming=True),
    ids(path, "query_only", split="test[3:6]"), sorted(get_dataset_config_names(path)),
]))
"""
    default, whole, stream, part, names = evaluate(code, home)
    assert default == whole == stream == threads
    assert part == threads[3:6]
    assert names == sorted(CONFIGS)


def test_rows_are_the_threads(mini: Path, home: Path) -> None:
    """Nested columns come back as they were built: replies with entities, links, clip places."""
    code = f"""{LOOK}
row = load_dataset({str(mini)!r}, "audio_query", split="test[:1]").remove_columns("clips")[0]
print(json.dumps(row))
"""
    row = evaluate(code, home)
    [thread, *_] = load_threads(mini, "audio_query")
    assert row["candidates"] == list(thread.candidates)
    assert [comment["entities"]["songs"] for comment in row["comments"]] == [
        list(comment.entities.songs) for comment in thread.comments
    ]
    assert [link["video_id"] for link in row["links"]] == [link.video_id for link in thread.links]
    assert [info["duration_s"] for info in row["clip_info"]] == [clip.duration_s for clip in thread.clips or ()]


def test_clips_are_decoded(mini: Path, home: Path) -> None:
    """The audio column decodes to samples at its rate, or at the rate that a model asks for."""
    code = f"""{LOOK}
from datasets import Audio, Sequence
rows = load_dataset({str(mini)!r}, "audio_only", split="test[:2]")
resampled = rows.cast_column("clips", Sequence(Audio(sampling_rate=16000)))
sizes = lambda rows: [(clip["sampling_rate"], len(clip["array"])) for row in rows for clip in row["clips"]]
print(json.dumps([sizes(rows), sizes(resampled), [info["duration_s"] for row in rows for info in row["clip_info"]]]))
"""
    own, resampled, seconds = evaluate(code, home)
    assert own == [[48_000, round(48_000 * duration)] for duration in seconds]
    assert [rate for rate, _ in resampled] == [16_000] * 4
    assert all(abs(n - 16_000 * duration) <= 1 for (_, n), duration in zip(resampled, seconds, strict=True))


def test_installed_name(mini: Path, home: Path) -> None:
    """Installed on this version, the bare name works from anywhere: default, configuration, stream, slice."""
    evaluate(f"from musicrs_dataset.repo.install import install; install({str(mini)!r}, metric=False); print(1)", home)
    code = f"""{LOOK}
default = load_dataset("musicrs", split="test")
print(json.dumps([
    "clips" in default.column_names and "query" in default.column_names, default["thread_id"],
    ids("musicrs", "query_only", streaming=True), ids("musicrs", "query_only", split="test[:2]"),
]))
"""
    threads = [thread.thread_id for thread in load_threads(mini)]
    assert evaluate(code, home) == [True, threads, threads, threads[:2]]


def test_the_name_is_kept(mini: Path, home: Path, tmp_path: Path) -> None:
    """`.map`, another folder of the name, work on it and a copy without times change nothing of what the name gives."""
    evaluate(f"from musicrs_dataset.repo.install import install; install({str(mini)!r}, metric=False); print(1)", home)
    threads, about = resolve_source("mini", clips=False)
    other = build(threads[:3], tmp_path / "other", about=replace(about, loads_as="musicrs"))
    code = f"""{LOOK}
for path in ("musicrs", {str(other)!r}):
    load_dataset(path, "query_only", split="test").map(lambda row: {{"n": len(row["query"])}})
    load_dataset(path, split="test").remove_columns("clips").filter(lambda row: row["thread_id"] > "t3_a").sort("query")
print(len(ids({str(other)!r}, "query_only")))
"""
    assert evaluate(code, home) == 3
    copy = tmp_path / "copy"
    shutil.copytree(home, copy, copy_function=shutil.copyfile)
    code = f"""{LOOK}
default = load_dataset("musicrs", split="test")
given = [ids("musicrs", "query_only"), default["thread_id"], load_dataset("musicrs", "audio_only")["test"]["thread_id"]]
print(json.dumps([given, default.config_name, get_dataset_config_names("musicrs"), default.info.license]))
"""
    right = [thread.thread_id for thread in load_threads(mini)]
    for place in (home, copy):
        assert evaluate(code, place) == [[right] * 3, "audio_query", list(CONFIGS), "apache-2.0"]


@pytest.mark.parametrize("config", CONFIGS)
def test_script_gives_the_rows_of_the_folder(mini: Path, home: Path, config: str) -> None:
    """The classical loading script, trusted, makes the same columns and rows as `build`, whole and as a stream."""
    code = f"""{LOOK}
built = load_dataset({str(mini)!r}, {config!r}, split="test")
made = load_dataset({SCRIPT!r}, {config!r}, split="test", trust_remote_code=True)
assert made.features == built.features
assert made.with_format("arrow")[:].to_pylist() == built.with_format("arrow")[:].to_pylist()
stream = load_dataset({SCRIPT!r}, {config!r}, split="test", trust_remote_code=True, streaming=True)
print(json.dumps([row["thread_id"] for row in stream.remove_columns("clips" if "clips" in made.features else [])]))
"""
    assert evaluate(code, home, MUSICRS_DATA="mini") == [thread.thread_id for thread in load_threads(mini)]


def test_script_default_and_names(home: Path) -> None:
    """The script has the three configurations, audio_query the default, and takes its source as `data_dir` too."""
    code = f"""{LOOK}
names = get_dataset_config_names({SCRIPT!r}, trust_remote_code=True)
rows = load_dataset({SCRIPT!r}, split="test[:1]", data_dir="mini", trust_remote_code=True)
print(json.dumps([names, rows.config_name]))
"""
    assert evaluate(code, home, MUSICRS_DATA="") == [list(CONFIGS), "audio_query"]


def test_published_data(tmp_path: Path, home: Path) -> None:
    """The authors' file, built and by script: 477 threads and the pool sizes of the raw file."""
    source = Path(os.environ.get("MUSICRS_DATA", "")).absolute()
    if not source.is_file():
        pytest.skip("the authors' file is absent: MUSICRS_DATA names no file")
    threads, about = resolve_source(source)
    folder = build(threads, tmp_path / "out", about=about)
    code = f"""{LOOK}
built = load_dataset({str(folder)!r}, "query_only", split="test")
made = load_dataset({SCRIPT!r}, "query_only", split="test", data_dir={str(source)!r}, trust_remote_code=True)
assert made.with_format("arrow")[:].to_pylist() == built.with_format("arrow")[:].to_pylist()
print(json.dumps([len(pool) for pool in built["candidates"]]))
"""
    sizes = Counter(evaluate(code, home))
    assert sum(sizes.values()) == 477
    assert (sizes[100], sizes[90], sizes[55]) == (302, 5, 7)
