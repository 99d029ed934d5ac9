"""A dataset on the Hub, against a stand-in on the loopback address: upload, load by name, replace, and refusals."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from musicrs_dataset.repo.build import build
from musicrs_dataset.repo.push import RIGHTS, push
from musicrs_dataset.sources import HUB_FILE
from musicrs_metric.errors import UserError

from ..fakehub import ONLINE, READER, TOKEN, FakeHub, Fault
from .sounds import save, tone
from .support import ABOUT, TINY, evaluate, run, with_clips
from .test_upstream import ROW, write

Push = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with FakeHub() as hub:
        yield hub


@pytest.fixture
def send(hub: FakeHub, tmp_path: Path) -> Push:
    """`push DIR --repo NAME` in a process that takes the stand-in for the Hub."""

    def send(dataset: Path, repo: str = "org/musicrs", **changes: str) -> subprocess.CompletedProcess[str]:
        variables = {**ONLINE, "HF_ENDPOINT": hub.endpoint, "HF_TOKEN": TOKEN, **changes}
        return run("-m", "musicrs_dataset", "push", str(dataset), "--repo", repo, home=tmp_path / "home", **variables)

    return send


def test_push_and_load(hub: FakeHub, send: Push, tiny: Path, tmp_path: Path) -> None:
    """What was uploaded is the folder, byte for byte, and it loads by its name on the Hub in every way."""
    done = send(tiny)
    assert (done.returncode, done.stdout.strip()) == (0, f"{hub.endpoint}/datasets/org/musicrs"), done.stderr
    assert done.stderr == ""
    folder = tiny / "musicrs"
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert hub.repos["datasets/org/musicrs"] == files
    code = """
import json
from datasets import load_dataset
from musicrs_dataset.loading import load_threads
default = load_dataset("org/musicrs", split="test")
stream = load_dataset("org/musicrs", "query_only", split="test", streaming=True)
threads = load_threads("org/musicrs")
names = [default["thread_id"][:], [row["thread_id"] for row in stream], [each.thread_id for each in threads]]
print(json.dumps([names, "clips" in default.column_names]))
"""
    names, has_clips = evaluate(code, tmp_path / "reader", HF_ENDPOINT=hub.endpoint, **ONLINE)
    assert names == [[each.thread_id for each in TINY]] * 3
    assert has_clips


def test_push_again_leaves_no_old_shards(hub: FakeHub, send: Push, tiny: Path) -> None:
    """Shards of an earlier, larger build would be read beside the new ones, so they are removed."""
    assert send(tiny).returncode == 0
    hub.repos["datasets/org/musicrs"]["query_only/test-00001-of-00002.parquet"] = b"of an earlier build"
    assert send(tiny).returncode == 0
    shards = [path for path in hub.repos["datasets/org/musicrs"] if path.startswith("query_only/")]
    assert shards == ["query_only/test-00000-of-00001.parquet"]


@pytest.mark.parametrize(
    ("repo", "changes", "told"),
    [
        ("org/musicrs", {"HF_TOKEN": READER}, "the token has no right to write there"),
        ("other/musicrs", {}, "the token has no right to write there"),
        ("org/musicrs", {"HF_TOKEN": ""}, "log in with `hf auth login`"),
        ("org/musicrs", {"HF_TOKEN": "hf_wrong"}, "log in with `hf auth login`"),
        ("org/musicrs", {"HF_ENDPOINT": "http://127.0.0.1:9"}, "the Hub cannot be reached"),
        ("org/musicrs", {"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE is set"),
        ("musicrs", {}, "--repo is 'musicrs', expected owner/name"),
    ],
)
def test_refusals(hub: FakeHub, send: Push, tiny: Path, repo: str, changes: dict[str, str], told: str) -> None:
    """No token, no right, no network and no name each end in one line and exit code 2, with nothing uploaded."""
    done = send(tiny, repo, **changes)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not any(hub.repos.values())


def test_only_a_built_folder_is_pushed(tiny: Path) -> None:
    """A name is not a folder, and a script of the repository's name would make the dataset unloadable."""
    with pytest.raises(UserError, match="a name, expected the directory"):
        push("somewhere", "org/musicrs")
    (tiny / "musicrs" / "musicrs.py").touch()
    with pytest.raises(UserError, match="found a loading script in the dataset folder"):
        push(tiny, "org/musicrs")


@pytest.fixture
def heard(tmp_path: Path) -> Path:
    """Directory of a dataset whose first thread has a clip."""
    sound = save(tmp_path / "a.flac", tone(440, 2)).read_bytes()
    build([with_clips(TINY[0], sound), *TINY[1:]], tmp_path / "heard", about=ABOUT)
    return tmp_path / "heard"


def test_clips_are_uploaded_after_a_note_on_rights(send: Push, heard: Path) -> None:
    """The note is all that the command prints beside the URL."""
    assert send(heard).stderr.strip() == RIGHTS


@pytest.mark.figures
def test_push_of_the_tables_of_mteb(hub: FakeHub, heard: Path, tmp_path: Path) -> None:
    """Audio on request alone, after the note; a failed upload is one line and can be repeated; no old audio stays."""

    def mteb(*options: str) -> subprocess.CompletedProcess[str]:
        variables = {**ONLINE, "HF_ENDPOINT": hub.endpoint, "HF_TOKEN": TOKEN}
        arguments = ("mteb", str(heard), "--out", str(tmp_path / "mteb"), "--push", "org/musicrs-mteb", *options)
        done = run("-m", "musicrs_dataset", *arguments, home=tmp_path / "home", **variables)
        assert TOKEN not in done.stdout + done.stderr
        return done

    hub.faults.append(Fault("/commit/", 400))
    failed = mteb("--with-audio")
    note, *rest = failed.stderr.strip().splitlines()
    assert (failed.returncode, note, len(rest)) == (2, RIGHTS, 1), failed.stderr
    assert "org/musicrs-mteb: the Hub answered 400" in rest[0]
    assert hub.repos["datasets/org/musicrs-mteb"] == {}
    done = mteb("--with-audio")
    page, revision = done.stdout.splitlines()[-2:]
    assert page == f"{hub.endpoint}/datasets/org/musicrs-mteb"
    assert revision == f"revision {hub.commit_id('datasets/org/musicrs-mteb')}"
    assert any("audio_only-queries/" in path for path in hub.repos["datasets/org/musicrs-mteb"])
    silent = mteb()
    assert (silent.returncode, silent.stderr) == (0, "")
    folder = tmp_path / "mteb"
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert hub.repos["datasets/org/musicrs-mteb"] == files
    assert not any("audio" in path for path in files)


@pytest.mark.figures
def test_build_from_the_hub(hub: FakeHub, tmp_path: Path) -> None:
    """The authors' file is found on the Hub; a dataset without it and one that does not exist are told apart."""
    hub.repos["datasets/org/data"] = {HUB_FILE: write(tmp_path / "a.jsonl", ROW).read_bytes()}
    hub.repos["datasets/org/empty"] = {"README.md": b""}
    expected = {
        "org/data": (0, "1 thread -> "),
        f"org/data@{'a' * 40}": (0, "1 thread -> "),
        "org/empty": (2, f"error: org/empty: has no {HUB_FILE}"),
        "org/none": (2, "error: org/none: cannot be downloaded from the Hub"),
    }
    for source, (code, told) in expected.items():
        arguments = ("build", "--from", source, "--out", str(tmp_path / "out"), "--no-install")
        done = run("-m", "musicrs_dataset", *arguments, home=tmp_path / "home", HF_ENDPOINT=hub.endpoint, **ONLINE)
        assert done.returncode == code, done.stderr
        assert told in done.stdout + done.stderr
