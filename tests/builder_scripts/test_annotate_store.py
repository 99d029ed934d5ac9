"""Answers survive whatever happens to the process, and annotators do not meet in each other's files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from builder_scripts.annotate.annotation_store import AnnotationStore
from builder_scripts.annotate.answers import no_answers
from musicrs_metric.errors import UserError

from .annotate_toy import answered, item


def test_the_last_answer_holds(tmp_path: Path) -> None:
    """A later answer to the same thread replaces the earlier one, also for who opens the folder afresh."""
    store = AnnotationStore(tmp_path)
    store.join("Ann")
    for query in ("one", "two", "three"):
        store.save("Ann", answered(item(), query=query))
    store.save("Ann", answered(item(1), query="other"))
    for reader in (store, AnnotationStore(tmp_path)):
        assert {name: answers.query for name, answers in reader.answers("Ann").items()} == {
            "t3_0000": "three",
            "t3_0001": "other",
        }


def test_unchanged_answers_are_written_once(tmp_path: Path) -> None:
    """Saving the same again does not make the file grow."""
    store = AnnotationStore(tmp_path)
    store.join("Ann")
    store.save("Ann", answered(item()))
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    store.save("Ann", answered(item()))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == size


def test_names(tmp_path: Path) -> None:
    """Case and blanks make no other person, and the first spelling stays."""
    store = AnnotationStore(tmp_path)
    assert store.join("Ann  Lee") == "Ann Lee"
    assert store.join(" ann lee ") == "Ann Lee"
    assert store.join("Zoë") == store.join("Zoe\u0308") == "Zoë"
    assert store.annotators() == ["Ann Lee", "Zoë"]


@pytest.mark.parametrize("name", ["", " ", "../../etc/passwd", "a/b", "a\\b", "=1+1", "-rf", "<b>", "a" * 41, "a\0b"])
def test_a_name_is_no_path_and_no_code(tmp_path: Path, name: str) -> None:
    """What is no name is refused, and nothing is written."""
    with pytest.raises(UserError, match="expected 1 to 40 letters"):
        AnnotationStore(tmp_path / "answers").join(name)
    assert list(tmp_path.iterdir()) == []


def test_file_names_hold_nothing_that_was_typed(tmp_path: Path) -> None:
    """A file is named by a hash."""
    AnnotationStore(tmp_path).join("Ann.jsonl")
    (path,) = tmp_path.iterdir()
    assert "Ann" not in path.name
    assert len(path.stem) == 16


def test_strangers_have_nothing(tmp_path: Path) -> None:
    """Only who has joined can save."""
    with pytest.raises(UserError, match="no annotator named 'Bob' has joined"):
        AnnotationStore(tmp_path).save("Bob", answered(item()))
    assert AnnotationStore(tmp_path).answers("Bob") == {}


@pytest.mark.parametrize("cut", [1, 5, 200])
def test_half_a_line_is_passed_over(tmp_path: Path, cut: int) -> None:
    """A kill in the middle of a line costs that line alone; the next one is not glued to it."""
    store = AnnotationStore(tmp_path)
    store.join("Ann")
    store.save("Ann", answered(item(0)))
    store.save("Ann", answered(item(1)))
    (path,) = tmp_path.iterdir()
    os.truncate(path, path.stat().st_size - cut)
    again = AnnotationStore(tmp_path)
    assert list(again.answers("Ann")) == ["t3_0000"]
    again.save("Ann", answered(item(2)))
    # Without its line feed alone, a line is whole as soon as the next one follows.
    kept = {"t3_0000", "t3_0002"} | ({"t3_0001"} if cut == 1 else set())
    last = AnnotationStore(tmp_path)
    assert set(again.answers("Ann")) == set(last.answers("Ann")) == kept
    assert last.damaged == (0 if cut == 1 else 1)


def test_many_at_once(tmp_path: Path) -> None:
    """Four annotators saving at the same time through two stores on one folder lose nothing."""
    stores = (AnnotationStore(tmp_path), AnnotationStore(tmp_path))
    names = ["Ann", "Bob", "Cid", "Dee"]
    for name in names:
        stores[0].join(name)

    def save(number: int) -> None:
        stores[number % 2].save(names[number % 4], answered(item(number), query=f"q{number}"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(save, range(200)))
    kept = {
        (name, thread_id, answers.query)
        for name in names
        for thread_id, answers in AnnotationStore(tmp_path).answers(name).items()
    }
    assert kept == {(names[number % 4], f"t3_{number:04x}", f"q{number}") for number in range(200)}


_WRITER = """
import sys
from pathlib import Path
from builder_scripts.annotate.annotation_store import AnnotationStore
from tests.builder_scripts.annotate_toy import answered, item
store = AnnotationStore(Path(sys.argv[1]))
store.join("Ann")
for number in range(100_000):
    store.save("Ann", answered(item(number), query="x" * 3_000))
    print(number, flush=True)
"""


def test_kill(tmp_path: Path) -> None:
    """Everything that was acknowledged before `kill -9` is there afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGKILL)
    acknowledged = [0, *map(int, process.stdout.read().split("\n")[:-1])]
    process.wait()
    assert len(acknowledged) > 1
    kept = AnnotationStore(tmp_path).answers("Ann")
    assert {f"t3_{number:04x}" for number in acknowledged} <= set(kept)
    assert len(kept) <= len(acknowledged) + 1


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be written raises, and the answers before it stay."""
    store = AnnotationStore(tmp_path)
    store.join("Ann")
    store.save("Ann", answered(item(0)))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.save("Ann", replace(no_answers(item(1)), query="new"))
    assert "t3_0000" in store.answers("Ann")
