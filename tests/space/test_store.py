"""Submissions in a folder: what was acknowledged is there, whoever writes at once, whatever dies, whatever rots."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import stat
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from musicrs_metric.runs.predictions import Prediction
from space.store.files import StoredFileError, file_name, key_of, read_submission, to_bytes
from space.store.local import LocalStore

from .toy import card, ranked, submission

KILLS = int(os.environ.get("MUSICRS_KILLS", "6"))
_FORK = multiprocessing.get_context("fork")  # a process that has imported everything already


def test_round_trip(store: LocalStore) -> None:
    """A stored submission is read back with every field."""
    sent = replace(
        submission(outcomes={"ok": 6}, extra={"protocol_note": "x"}, settings={"k": [1, None]}),
        link="https://example.org", description="Beyonc\u00e9 \u2028 \U0001f3b7", partial=True,
    )  # fmt: skip
    receipt = store.put(sent)
    assert receipt == (sent.key, "stored")
    assert store.get(sent.key) == sent
    (entry,) = store.entries()
    assert (entry.card, entry.link, entry.description) == (sent.card, sent.link, sent.description)
    assert {path.name for path in store.folder.iterdir()} == {f"{sent.key}.jsonl", ".lock"}


def test_outcomes_are_kept(store: LocalStore) -> None:
    """Also how many places a system filled; the scores of titles are not."""
    rows = [replace(row, outcome="repaired", n_answered=2, scores=(1.0,) * len(row.ranking)) for row in ranked()]
    sent = submission(rows)
    store.put(sent)
    found = store.get(sent.key)
    assert found is not None
    assert {(row.outcome, row.n_answered, row.scores) for row in found.predictions} == {("repaired", 2, None)}


def test_the_name_of_a_file_is_on_disk_too(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a submission is acknowledged, the disk has its content under a passing name, then the folder's names."""
    synced: list[tuple[bool, int]] = []
    sync = os.fsync

    def fsync(descriptor: int) -> None:
        names = [path.name for path in store.folder.glob("*.jsonl")]
        synced.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), len(names)))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    store.put(submission())
    assert synced == [(False, 0), (True, 1)]


def test_the_same_twice_is_one(store: LocalStore) -> None:
    """The first to come stays."""
    assert store.put(submission(at=1)).state == "stored"
    assert store.put(submission(at=2)).state == "already"
    assert [entry.received_at for entry in store.entries()] == [submission(at=1).received_at]


def test_two_teams_may_send_equal_files(store: LocalStore) -> None:
    """They are two submissions, in the order in which they came."""
    store.put(submission(at=2, name="Late"))
    store.put(submission(at=1, name="Early"))
    assert [entry.card.name for entry in store.entries()] == ["Early", "Late"]


def test_one_thread_without_the_others(store: LocalStore) -> None:
    """It is found by its id, and nothing that somebody writes into a title is taken for it."""
    trap = Prediction("t3_a", ('\n{"thread_id": "t3_b", "ranking": ["No"]}', "Ash"))
    rows = [trap, *ranked()[1:]]
    sent = submission(rows)
    store.put(sent)
    assert [store.prediction(sent.key, row.thread_id) for row in rows] == rows
    assert store.prediction(sent.key, "t3_z") is None
    assert store.prediction("0" * 64, "t3_a") is None


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "0" * 63, "0" * 64 + "\n", "\u0660" * 64, "A" * 64])
def test_nothing_but_a_key_becomes_a_path(key: str, store: LocalStore) -> None:
    """Reading finds nothing, and writing refuses."""
    assert store.get(key) is None
    assert store.prediction(key, "t3_a") is None
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        store.put(replace(submission(), key=key))


def test_what_cannot_be_read_is_set_aside(store: LocalStore) -> None:
    """The others are there, and the owner is told of each file what is wrong with it."""
    good, spoilt = submission(at=1), submission(ranked(2), at=2)
    store.put(good)
    content = to_bytes(spoilt)
    damaged = bytearray(content)
    damaged[-10] ^= 1
    wrong_type = json.loads(content.splitlines()[0]) | {"description": 3}
    rest = content.partition(b"\n")[2]
    files = {
        file_name(spoilt.key): (bytes(damaged), "damaged"),
        file_name("1" * 64): (content, "name of another"),
        file_name("2" * 64): (b"", "cannot be read"),
        file_name("3" * 64): (content[:100], "cannot be read"),
        file_name("4" * 64): (b"\xff\xfe" * 50, "cannot be read"),
        file_name("5" * 64): (b"[]\n", "first line"),
        file_name("6" * 64): (json.dumps(wrong_type).encode() + b"\n" + rest, "'description'"),
        file_name("7" * 64): (b"[" * 100_000, "cannot be read"),
        "notes.txt": (b"hello", "no submission"),
    }
    for name, (file, _) in files.items():
        (store.folder / name).write_bytes(file)
    (store.folder / file_name("8" * 64)).mkdir()
    assert [entry.key for entry in store.entries()] == [good.key]
    told = {one.file: one.reason for one in store.set_aside()}
    assert told.keys() == {*files, file_name("8" * 64)}
    for name, (_, words) in files.items():
        assert words in told[name]
    assert store.get(spoilt.key) is None
    # Sent once more, the damaged one is whole again.
    assert store.put(spoilt).state == "stored"
    assert store.get(spoilt.key) == spoilt


def test_a_changed_file_is_seen(store: LocalStore) -> None:
    """A cached entry is valid only while its file is unchanged."""
    sent = submission()
    store.put(sent)
    assert len(store.entries()) == 1
    path = store.folder / file_name(sent.key)
    path.write_bytes(path.read_bytes()[:-1])
    assert not store.entries()
    path.unlink()
    assert not store.set_aside()


def test_a_folder_may_hold_what_nobody_should_read(store: LocalStore) -> None:
    """A pipe, a device, a file without end, a name that is no Unicode: set aside in words, at once."""
    os.mkfifo(store.folder / file_name("0" * 64))
    (store.folder / file_name("1" * 64)).symlink_to("/dev/zero")
    with (store.folder / file_name("2" * 64)).open("wb") as large:
        large.truncate(10**12)
    (store.folder / os.fsdecode(b"\xff.jsonl")).touch()
    aside = {one.file: one.reason for one in store.set_aside()}
    assert [aside[file_name(digit * 64)] for digit in "01"] == ["is not a regular file"] * 2
    assert "1,000,000,000,000 bytes" in aside[file_name("2" * 64)]
    assert "".join(aside).isprintable()


@pytest.mark.parametrize(("field", "value"), [("received_at", "soon"), ("description", "\ud800")])
def test_what_no_page_could_show_is_set_aside(field: str, value: str, store: LocalStore) -> None:
    """A first line that was changed by hand, where the key does not tell."""
    sent = submission()
    store.put(sent)
    file = store.folder / file_name(sent.key)
    head, _, rest = file.read_bytes().partition(b"\n")
    file.write_bytes(json.dumps(json.loads(head) | {field: value}).encode() + b"\n" + rest)
    assert [one.file for one in LocalStore(store.folder).set_aside()] == [file.name]


def test_predictions_that_the_validator_refuses(store: LocalStore) -> None:
    """A file whose hash is right and whose lines are not is no submission."""
    sent = submission()
    head, _, _ = to_bytes(sent).partition(b"\n")
    with pytest.raises(StoredFileError):
        read_submission(head + b"\nnonsense\n", file_name(sent.key))


def test_nothing_is_acknowledged_that_cannot_be_read_back(store: LocalStore) -> None:
    """A submission whose key is not that of its content is not written."""
    with pytest.raises(StoredFileError):
        store.put(replace(submission(), key=key_of(card(name="Another"), ranked())))
    assert not store.entries()


def _put_many(folder: Path, team: str, n: int, start: Barrier) -> None:
    store = LocalStore(folder)
    start.wait()
    for i in range(n):
        assert store.put(submission(ranked(i), at=i, name=team)).state == "stored"


def test_forty_submissions_from_two_processes(store: LocalStore) -> None:
    """All are there, whole and different; no temporary file is left."""
    start = _FORK.Barrier(2)
    teams = [_FORK.Process(target=_put_many, args=(store.folder, f"team {i}", 20, start)) for i in range(2)]
    for team in teams:
        team.start()
    for team in teams:
        team.join()
    assert [team.exitcode for team in teams] == [0, 0]
    entries = store.entries()
    assert len({entry.key for entry in entries}) == 40
    assert all(store.get(entry.key) is not None for entry in entries)
    assert not store.set_aside()
    assert not list(store.folder.glob(".*.part"))


def test_many_threads_of_one_process(store: LocalStore) -> None:
    """Half of what they send is the same: it is stored by exactly one of them."""
    sent = [submission(ranked(i % 10), at=i) for i in range(20)]
    with ThreadPoolExecutor(8) as pool:
        states = Counter(receipt.state for receipt in pool.map(store.put, sent))
    assert states == {"stored": 10, "already": 10}
    assert len(store.entries()) == 10


def _put_forever(folder: Path, first: int, acknowledged: int) -> None:
    store = LocalStore(folder)
    i = first
    while True:
        # About 0.5 MB, so that the blow often falls in the middle of a write.
        rows = [replace(row, ranking=(*row.ranking, *(f"title {i} {n}" for n in range(5_000)))) for row in ranked(i)]
        os.write(acknowledged, store.put(submission(rows, at=i % 3600)).key.encode())
        i += 1


def test_killed_while_writing(store: LocalStore) -> None:
    """After `kill -9` at random moments, all that was acknowledged is whole, and nothing else is there."""
    rng = random.Random(0)
    promised: set[str] = set()
    for turn in range(KILLS):
        read, write = os.pipe()
        writer = _FORK.Process(target=_put_forever, args=(store.folder, 1000 * turn, write))
        writer.start()
        os.close(write)
        first = os.read(read, 64)
        time.sleep(rng.uniform(0, 0.1))
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        keys = first
        while more := os.read(read, 65536):
            keys += more
        os.close(read)
        promised |= {keys[i : i + 64].decode() for i in range(0, len(keys), 64)}
    assert len(promised) >= KILLS
    fresh = LocalStore(store.folder)
    assert not fresh.set_aside()
    entries = {entry.key for entry in fresh.entries()}
    # One that was written and not yet acknowledged may be there, whole; one per blow at most.
    assert promised <= entries
    assert len(entries - promised) <= KILLS
    assert all(fresh.get(key) is not None for key in entries)
    # The lock of a dead process is free, and what it left half done is cleared away.
    assert fresh.put(submission()).state == "stored"
    assert not list(store.folder.glob(".*.part"))
