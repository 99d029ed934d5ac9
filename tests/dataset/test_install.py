"""The literal `load_dataset("musicrs")`: from any directory, offline, and never with rows of another dataset.

Everything runs in processes of its own with a Hugging Face home of its own, as a user's programs do.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet as parquet
import pytest

from musicrs_dataset.records import Thread
from musicrs_dataset.repo.build import build
from musicrs_dataset.repo.install import install
from musicrs_metric.citation import BIBTEX
from musicrs_metric.errors import UserError

from .support import ABOUT, TINY, evaluate, run

Install = Callable[[Sequence[Thread]], Path]

LOOK = """
import json
from datasets import load_dataset
def ids(*name, split="test", **how):
    return [row["thread_id"] for row in load_dataset("musicrs", *name, split=split, **how)]
def queries(*name):
    return load_dataset("musicrs", *name, split="test")["query"][:]
def columns(*name):
    return load_dataset("musicrs", *name, split="test").column_names
def refusal(*name, **how):
    try:
        return load_dataset("musicrs", *name, **how).num_rows
    except ValueError as error:
        return str(error)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def look(home: Path, tmp_path: Path) -> Callable[[str], Any]:
    """Evaluate an expression over `load_dataset("musicrs")`, from a directory that has nothing to do with it."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    return lambda expression: evaluate(f"{LOOK}\nprint(json.dumps(({expression})))", home, elsewhere)


@pytest.fixture
def put(home: Path, tmp_path: Path) -> Install:
    """Build threads in one directory, again and again, and install them in the home."""

    def put(threads: Sequence[Thread], out: Path = tmp_path / "out") -> Path:
        folder = build(threads, out, about=ABOUT)
        code = f"from musicrs_dataset.repo.install import install; install({str(out)!r}, metric=False); print(1)"
        evaluate(code, home)
        return folder

    return put


def asking(query: str) -> list[Thread]:
    """The tiny threads with another request."""
    return [replace(each, query=query) for each in TINY]


def test_by_name(put: Install, look: Callable[[str], Any]) -> None:
    """The default and every configuration load by name, whole, as a stream and in slices."""
    put(TINY)
    names = [each.thread_id for each in TINY]
    expressions = (
        'ids(), ids("query_only"), ids("audio_only"), ids(streaming=True), ids("query_only", streaming=True), '
        'ids("query_only", split="test[1:3]"), columns() == columns("audio_query"), columns("query_only")'
    )
    *found, default_is_audio_query, query_only = look(expressions)
    assert found == [names] * 5 + [names[1:3]]
    assert default_is_audio_query
    assert "clips" not in query_only
    assert "query" in query_only


def test_unknown_names(put: Install, look: Callable[[str], Any]) -> None:
    """A configuration or a split that is not there is refused, with those that are."""
    put(TINY)
    config, split = look('refusal("query"), refusal("query_only", split="train")')
    assert "query_only" in config
    assert "train" in split


def test_changed_data_is_served(put: Install, look: Callable[[str], Any]) -> None:
    """After each rebuild the name gives the new rows, also when they are those of a build before the last."""
    for query in ("First?", "Second?", "First?"):
        put(asking(query))
        assert look('queries(), queries("query_only")') == [[query] * 4] * 2


def test_configurations_that_are_gone_are_not_served(
    put: Install, look: Callable[[str], Any], home: Path, tmp_path: Path
) -> None:
    """A configuration of an earlier build does not outlive it under the name."""
    put(TINY)
    build(TINY, tmp_path / "out", about=ABOUT, configs=["query_only"])
    out = str(tmp_path / "out")
    evaluate(f"from musicrs_dataset.repo.install import install; install({out!r}, metric=False); print(1)", home)
    gone, only = look('refusal("audio_only"), ids()')
    assert "query_only" in gone
    assert only == [each.thread_id for each in TINY]


@pytest.mark.figures
def test_another_folder_of_the_name_does_not_take_over(
    put: Install, look: Callable[[str], Any], home: Path, tmp_path: Path
) -> None:
    """Loading another folder named musicrs by its path leaves what the name means as it was."""
    put(asking("Installed?"))
    other = build(asking("Loaded by path?"), tmp_path / "other", about=ABOUT)
    for config in ("audio_query", "query_only"):
        rows = f"load_dataset({str(other)!r}, {config!r}, split='test')"
        code = f"import json; from datasets import load_dataset; print(json.dumps({rows}['query'][:]))"
        assert evaluate(code, home) == ["Loaded by path?"] * 4
    assert look('queries(), queries("query_only"), queries("audio_query")') == [["Installed?"] * 4] * 3


@pytest.mark.figures
def test_a_folder_of_the_name_in_the_working_directory(put: Install, home: Path, tmp_path: Path) -> None:
    """`datasets` takes it for what is meant: refused where it is another dataset, by `datasets` and by the commands."""
    put(asking("Installed?"))
    build(asking("Here?"), tmp_path / "other", about=replace(ABOUT, name="other"))
    build(TINY[:2], tmp_path / "smaller", about=ABOUT)
    code = f"{LOOK}\nprint(json.dumps(queries('query_only')))"
    assert evaluate(code, home, tmp_path / "out") == ["Installed?"] * 4
    done = run("-c", code, home=home, cwd=tmp_path / "smaller")
    assert "write ./musicrs to load the folder" in done.stderr.splitlines()[-1]
    done = run("-m", "musicrs_dataset", "describe", "musicrs", home=home, cwd=tmp_path / "smaller")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "holds 2 threads" in done.stderr
    assert "given to 4 threads" in done.stderr
    done = run("-m", "musicrs_dataset", "describe", "./musicrs", "--json", home=home, cwd=tmp_path / "smaller")
    assert json.loads(done.stdout)["threads"] == 2


def test_without_the_hook_the_name_is_refused(put: Install, home: Path, tmp_path: Path) -> None:
    """A Python that does not start the hook gets an error with the command, and no rows: not even the right ones."""
    put(TINY)
    other = build(TINY[:2], tmp_path / "other", about=ABOUT)
    code = f"""
import json, sys
sys.path[:] = {sys.path!r}  # -S reads no .pth file
from datasets import load_dataset
load_dataset({str(other)!r}, "query_only").map(lambda row: {{"n": 1}})
told = []
for name in (["musicrs"], ["musicrs", "query_only"], ["musicrs", "audio_only"], ["musicrs", "audio_query"]):
    try:
        told.append(str(load_dataset(*name)))
    except FileNotFoundError as error:
        told.append("refused" if "run python -m musicrs_dataset install" in str(error) else str(error))
print(json.dumps(told))
"""
    done = run("-S", "-c", code, home=home)
    assert json.loads(done.stdout.splitlines()[-1]) == ["refused"] * 4, done.stderr


def test_what_users_expect_of_a_dataset(published: Path, home: Path) -> None:
    """Names of the configurations, the default one, licence, citation, homepage and description."""
    evaluate(
        f"from musicrs_dataset.repo.install import install; install({str(published)!r}, metric=False); print(1)", home
    )
    code = """
import json
from datasets import get_dataset_config_names, get_dataset_default_config_name, load_dataset
info = load_dataset("musicrs", split="test").info
print(json.dumps([
    get_dataset_config_names("musicrs"), get_dataset_default_config_name("musicrs"), info.config_name, info.license,
    info.homepage, info.citation, info.description, info.splits["test"].num_examples,
]))
"""
    names, default, config, licence, homepage, citation, description, n = evaluate(code, home)
    assert names == ["audio_query", "query_only", "audio_only"]
    assert default == config == "audio_query"
    assert (licence, homepage) == ("cc-by-4.0", "https://huggingface.co/datasets/rohan2810/MusiCRS")
    assert citation == BIBTEX
    assert "ask for music" in description
    assert n == 477


def test_load_without_the_cache(put: Install, home: Path, tmp_path: Path) -> None:
    """The plain function gives the rows of `load_dataset`, by name and by directory."""
    put(TINY)
    code = f"""{LOOK}
import musicrs_dataset
made = [musicrs_dataset.load("query_only"), musicrs_dataset.load("query_only", {str(tmp_path / "out")!r})]
right = load_dataset("musicrs", "query_only", split="test")
same = [rows.features == right.features and rows.to_list() == right.to_list() for rows in made]
print(json.dumps([*same, "clips" in musicrs_dataset.load().column_names]))
"""
    assert evaluate(code, home) == [True, True, True]


@pytest.mark.figures
def test_check_and_repair(put: Install, home: Path, tmp_path: Path) -> None:
    """`install --check` names what is wrong, and installing again repairs it."""

    def check() -> tuple[int, str]:
        done = run("-m", "musicrs_dataset", "install", "--check", home=home)
        assert not done.stderr
        return done.returncode, done.stdout

    code, told = check()
    assert (code, "nothing is installed" in told) == (1, True)
    put(TINY)
    code, told = check()
    assert code == 0, told
    assert "4 threads" in told
    other = build(TINY[:3], tmp_path / "other", about=ABOUT)
    rows = next(home.glob("datasets/musicrs/query_only/*/*/*.arrow"))
    table = parquet.read_table(next(other.glob("query_only/*.parquet")))
    with pyarrow.ipc.new_stream(str(rows), table.schema) as stream:
        stream.write_table(table)
    code, told = check()
    assert (code, told.count("WRONG")) == (1, 1)
    assert "holds 3 threads" in told
    assert f"python -m musicrs_dataset install {tmp_path / 'out' / 'musicrs'}" in told
    done = run("-m", "musicrs_dataset", "describe", "musicrs", "--config", "query_only", home=home)
    assert (done.returncode, "holds 3 threads" in done.stderr) == (2, True)
    put(TINY)
    assert check()[0] == 0
    shutil.rmtree(rows.parent)
    done = run("-c", "from datasets import load_dataset; load_dataset('musicrs')", home=home)
    assert "is gone; install it again with `python -m musicrs_dataset install" in done.stderr.splitlines()[-1]


def test_only_the_authors_data_takes_the_name(home: Path, tmp_path: Path) -> None:
    """The mini dataset has a folder of its own and gets the name only where that is asked for."""
    done = run(
        "-m", "musicrs_dataset", "build", "--from", "mini", "--config", "query_only", "--out", str(tmp_path), home=home
    )
    assert (tmp_path / "musicrs_mini" / "README.md").is_file()
    assert not (home / "datasets" / "musicrs").exists()
    assert f"python -m musicrs_dataset install {tmp_path / 'musicrs_mini'}" in done.stdout
    done = run("-m", "musicrs_dataset", "install", str(tmp_path), "--no-metric", home=home)
    assert done.stdout.startswith('installed: load_dataset("musicrs")')


def test_only_a_built_folder_is_installed(tmp_path: Path) -> None:
    """A name and a missing directory are told apart."""
    with pytest.raises(UserError, match="a name, expected the directory"):
        install("somewhere")
    with pytest.raises(UserError, match="no such directory"):
        install(tmp_path / "nowhere")


# Facts of the published file, taken from its raw JSON: thread, subreddit, candidates, right answers, entities, replies,
# links, and the first 16 digits of sha256 of the query, of the first and of the last candidate.
PINNED = {
    0: ["t3_vkhefz", "popheads", 100, 10, 24, 45, 6, "1f320dfe3afe0202", "7780172200243361", "75c5d1245e41f850"],
    9: ["t3_pe19ya", "classicalmusic", 100, 10, 27, 52, 1, "3f67d7e36783f653", "643b0c50f78efecf", "69c661ae1482f02e"],
    476: ["t3_2fo5qv", "indieheads", 100, 10, 19, 40, 2, "aef5c59ac0c2c604", "274e79bceb307b00", "a2251ecec54ae4ff"],
}


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_published_rows_by_name(published: Path, home: Path, tmp_path: Path) -> None:
    """Installed from one directory and loaded in another without a network: the counts and rows of the raw file."""
    code = f"from musicrs_dataset.repo.install import install; install({str(published)!r}, metric=False); print(1)"
    evaluate(code, home)
    rows = evaluate(
        "import json; from datasets import load_dataset; "
        "print(json.dumps(load_dataset('musicrs', 'query_only', split='test').to_list()))",
        home,
        tmp_path,
    )
    assert len(rows) == 477
    sizes = Counter(len(row["candidates"]) for row in rows)
    assert (sizes[100], sizes[90], sizes[55]) == (302, 5, 7)
    assert sum(n for size, n in sizes.items() if 91 <= size <= 99) == 163
    assert len({title for row in rows for title in row["ground_truth"]}) == 3589
    assert len({title for row in rows for title in row["candidates"]}) == 6351
    for place, pinned in PINNED.items():
        row = rows[place]
        lists = ("candidates", "ground_truth", "all_entities", "comments", "links")
        found = [row["thread_id"], row["subreddit"], *(len(row[name]) for name in lists)]
        assert [*found, sha(row["query"]), sha(row["candidates"][0]), sha(row["candidates"][-1])] == pinned
