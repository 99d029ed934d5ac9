"""Submissions in a repository on the Hub, against a stand-in that fails: nothing is lost, nothing committed twice."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction, format_line
from musicrs_metric.runs.references import load_references
from musicrs_metric.runs.run_card import RunCard
from space.store import Receipt
from space.store.files import file_name, key_of, to_bytes
from space.store.hub import HubStore, Pace
from space.store.remote import RemoteError, ResultsRepo
from space.submission import Submission

from ..fakehub import ONLINE, READER, TOKEN, FakeHub, Fault
from .views_toy import mini_dataset
from .views_toy import submission as views_submission

REPO = "org/results"
PAGE = f"datasets/{REPO}"
QUICK = Pace(
    commit_s=0.05, burst=1, look_s=0.05, retry_s=0.05, longest_s=0.2, lasting_s=0.1, patience_s=10.0, settled_s=0.0
)
Open = Callable[..., HubStore]


def submission(name: str = "CLAP", received_at: str = "2026-03-01T10:00:00Z") -> Submission:
    """A submission of one thread."""
    card = RunCard(
        name=name, paradigm="retrieval", modality="audio_only", dataset="musicrs", config="audio_only",
        fingerprint="f" * 64, reads="thread",
    )  # fmt: skip
    predictions = (Prediction("t3_a", ("So What", "Blue in Green")),)
    return Submission(key=key_of(card, predictions), card=card, received_at=received_at, predictions=predictions)


def path_of(one: Submission) -> str:
    return f"submissions/{file_name(one.key)}"


def times_committed(hub: FakeHub) -> Counter[str]:
    """Count the writes of each path to the repository."""
    return Counter(path for commit in hub.commits for path in commit.added)


def until(condition: Callable[[], object], seconds: float = 15.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def nothing_waits(store: HubStore) -> bool:
    return not store.waiting()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with FakeHub() as hub:
        hub.repos[PAGE] = {"README.md": b"results"}
        yield hub


@pytest.fixture
def open_store(hub: FakeHub, tmp_path: Path) -> Iterator[Open]:
    """Makes stores and closes them; the folder's name tells one board from another."""
    opened: list[HubStore] = []

    def open_store(
        folder: str = "board",
        token: str = TOKEN,
        pace: Pace = QUICK,
        accept: Callable[[bytes, bytes], Submission] | None = None,
        start: bool = True,
    ) -> HubStore:
        repo = ResultsRepo(REPO, token, hub.endpoint)
        opened.append(HubStore(tmp_path / folder, repo, pace=pace, accept=accept, largest=10_000))
        if start:
            opened[-1].start()
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


def test_stored_means_committed(hub: FakeHub, open_store: Open) -> None:
    """The file in the repository is the submission, and the same one again is neither committed nor new."""
    store, one = open_store(), submission()
    assert store.put(one) == Receipt(one.key, "stored")
    assert hub.repos[PAGE][path_of(one)] == to_bytes(one)
    assert store.put(one) == Receipt(one.key, "already")
    assert store.get(one.key) == one
    assert [entry.key for entry in store.entries()] == [one.key]
    assert store.waiting() == []
    assert times_committed(hub) == {path_of(one): 1}


@pytest.mark.parametrize("after", [False, True], ids=["refused", "done, and its answer lost"])
@pytest.mark.parametrize("status", [409, 412, 429, 500, 503, 0], ids=lambda status: str(status or "dropped"))
def test_failed_commits(hub: FakeHub, open_store: Open, status: int, after: bool) -> None:
    """A commit that fails twice is made once, also where it was made and only its answer was lost."""
    hub.faults.append(Fault("/commit/", status, times=2, after=after))
    store, one = open_store(), submission()
    assert store.put(one).state == "stored"
    assert times_committed(hub) == {path_of(one): 1}
    assert store.problem() is None


@pytest.mark.parametrize("where", ["/tree/", "/api/datasets/org/results", "/preupload/"])
def test_failed_questions(hub: FakeHub, open_store: Open, where: str) -> None:
    """The Hub may fail before the commit as well."""
    hub.repos[PAGE][path_of(submission("other"))] = to_bytes(submission("other"))
    hub.faults.append(Fault(where, 503, times=1))
    store, one = open_store(), submission()
    assert store.put(one).state == "stored"
    assert times_committed(hub) == {path_of(one): 1}
    assert len(store.entries()) == 2


def test_the_hub_says_when(hub: FakeHub, open_store: Open) -> None:
    """Until the time that the Hub names nothing is asked, and the sender is told at once that it waits."""
    hub.faults.append(Fault("/commit/", 429, times=1, retry_after=3))
    store, start = open_store(pace=replace(QUICK, patience_s=1.0)), time.monotonic()
    assert store.put(submission()).state == "queued"
    assert time.monotonic() - start < 2
    asked = len(hub.asked)
    assert store.put(submission("another")).state == "queued"
    assert len(hub.asked) == asked
    assert until(lambda: not store.waiting())
    assert time.monotonic() - start > 3
    assert [len(commit.added) for commit in hub.commits] == [2]


def test_commits_keep_their_distance(hub: FakeHub, open_store: Open) -> None:
    """One after the other: as many as may follow at once are stored, the rest wait and go together."""
    store = open_store(pace=Pace(commit_s=2.0, burst=3, look_s=0.05, patience_s=0.5))
    states = [store.put(submission(str(i))).state for i in range(10)]
    assert states == ["stored"] * 3 + ["queued"] * 7
    assert until(lambda: not store.waiting())
    assert [len(commit.added) for commit in hub.commits] == [1, 1, 1, 7]


def test_what_the_hub_says_goes_no_further(hub: FakeHub) -> None:
    """An error keeps neither the Hub's answer nor the request, in which the token stands."""
    with pytest.raises(RemoteError) as error:
        ResultsRepo(REPO, READER, hub.endpoint).commit({"a": b""}, [], parent="0" * 40, title="a")
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__


@pytest.mark.parametrize(
    ("token", "repo", "told"),
    [
        (READER, PAGE, "the token has no write access there"),
        ("hf_secret_gone", PAGE, "the Hub does not accept the token"),
        (TOKEN, "datasets/org/elsewhere", "the Hub has no such dataset repository"),
    ],
)
def test_what_the_owner_has_to_mend(
    hub: FakeHub, open_store: Open, caplog: pytest.LogCaptureFixture, token: str, repo: str, told: str
) -> None:
    """It stays queued, the owner reads why without the token, and a board with the right settings commits it."""
    hub.repos[repo] = hub.repos.pop(PAGE)
    store, one = open_store(token=token, pace=replace(QUICK, patience_s=0.5)), submission()
    assert store.put(one).state == "queued"
    assert store.waiting() == [one.key]
    assert told in (store.problem() or "")
    assert "1 submission waiting" in (store.problem() or "")
    store.close()
    assert told in caplog.text
    assert token not in caplog.text + (store.problem() or "")
    assert [entry.key for entry in store.entries()] == [one.key]
    hub.repos[PAGE] = hub.repos.pop(repo)
    assert until(partial(nothing_waits, open_store()))
    assert times_committed(hub) == {path_of(one): 1}


PUT = """
import signal, sys
from pathlib import Path
from space.store.hub import HubStore, Pace
from space.store.remote import ResultsRepo
from space.store.files import read_submission
folder, endpoint, file = sys.argv[1:]
store = HubStore(folder, ResultsRepo("org/results", "hf_writer", endpoint), pace=Pace(patience_s=0.5))
store.start()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print(store.put(read_submission(Path(file).read_bytes(), Path(file).name)).state, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def put_in_process(hub: FakeHub, tmp_path: Path) -> Callable[[Submission], subprocess.Popen[str]]:
    """Another process with a board of its own, which has acknowledged a submission as queued."""

    def put(one: Submission) -> subprocess.Popen[str]:
        file = tmp_path / file_name(one.key)
        file.write_bytes(to_bytes(one))
        process = subprocess.Popen(
            [sys.executable, "-c", PUT, str(tmp_path / "board"), hub.endpoint, str(file)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **ONLINE},
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "queued"
        return process

    return put


@pytest.mark.parametrize("made", [False, True], ids=["before the commit", "after the commit, before it is known"])
def test_killed_between_disk_and_commit(
    hub: FakeHub, open_store: Open, put_in_process: Callable[[Submission], subprocess.Popen[str]], made: bool
) -> None:
    """The next process commits once what a killed process has acknowledged as queued."""
    one = submission()
    hub.faults.append(Fault("/commit/", 503, times=1000, retry_after=60, after=made))
    process = put_in_process(one)
    process.kill()
    process.communicate()
    assert times_committed(hub) == ({path_of(one): 1} if made else {})
    hub.faults.clear()
    for _ in range(2):
        store = open_store()
        assert until(partial(nothing_waits, store))
        assert [entry.key for entry in store.entries()] == [one.key]
    assert times_committed(hub) == {path_of(one): 1}


def test_stopped_in_an_orderly_way(hub: FakeHub, put_in_process: Callable[[Submission], subprocess.Popen[str]]) -> None:
    """A process that is asked to stop commits what waits first, though its next attempt would be due much later."""
    hub.faults.append(Fault("/commit/", 503, retry_after=60))
    process = put_in_process(submission())
    process.terminate()
    process.communicate(timeout=20)
    assert times_committed(hub) == {path_of(submission()): 1}


STORM = """
import sys
from space.store.hub import HubStore, Pace
from space.store.remote import ResultsRepo
from tests.space.test_hub_store import QUICK, submission
folder, endpoint, start = sys.argv[1:]
store = HubStore(folder, ResultsRepo("org/results", "hf_writer", endpoint), pace=QUICK)
store.start()
for i in range(int(start), int(start) + 1000):
    receipt = store.put(submission(f"system {i}"))
    print(receipt.key, receipt.state, flush=True)
"""


def test_killed_in_a_storm(hub: FakeHub, open_store: Open, tmp_path: Path) -> None:
    """Killed again and again at any moment while the Hub fails in every way: what was acknowledged is there, once."""
    draw, told = random.Random(0), dict[str, str]()
    for life in range(int(os.environ.get("MUSICRS_STORM", "3"))):
        with hub.lock:
            for _ in range(6):
                status, after = draw.choice([0, 409, 412, 429, 500]), draw.random() < 0.5
                hub.faults.append(Fault("/commit/", status, times=draw.randint(1, 2), after=after))
        process = subprocess.Popen(
            [sys.executable, "-c", STORM, str(tmp_path / "board"), hub.endpoint, str(1000 * life)],
            stdout=subprocess.PIPE, text=True, env={**os.environ, **ONLINE},
        )  # fmt: skip
        assert process.stdout is not None
        lines = [process.stdout.readline()]  # it has begun
        time.sleep(draw.uniform(0.0, 1.5))
        process.kill()
        lines += process.communicate()[0].splitlines()
        told |= dict(line.split() for line in lines if len(line.split()) == 2)
        stored = {key for key, state in told.items() if state == "stored"}
        assert {f"submissions/{file_name(key)}" for key in stored} <= set(hub.repos[PAGE])
    hub.faults.clear()
    assert until(partial(nothing_waits, open_store()))
    assert told
    assert {f"submissions/{file_name(key)}" for key in told} <= set(times_committed(hub))
    assert set(times_committed(hub).values()) == {1}


def test_a_name_that_is_none() -> None:
    """An invalid repository name is refused at the start, and never becomes a path."""
    with pytest.raises(UserError, match=r"RESULTS_REPO is '\.\./\.\.', expected owner/name"):
        ResultsRepo("../..", TOKEN)


def test_many_at_once(hub: FakeHub, open_store: Open) -> None:
    """Forty from ten threads while the Hub fails: forty files, each written once, in few commits."""
    hub.faults += [Fault("/commit/", 500, times=2), Fault("/commit/", 412, times=1)]
    store = open_store()
    with ThreadPoolExecutor(10) as senders:
        states = list(senders.map(lambda i: store.put(submission(f"system {i}")).state, range(40)))
    assert set(states) == {"stored"}
    written = times_committed(hub)
    assert (len(written), set(written.values())) == (40, {1})
    assert len(hub.commits) < 20


def test_two_boards_with_one_repository(hub: FakeHub, open_store: Open) -> None:
    """Two boards that take submissions in at the same time lose none of each other's, and show the same rows."""
    boards = [open_store("one"), open_store("two")]
    both = threading.Barrier(2)

    def send(board: int) -> None:
        both.wait()
        for i in range(6):
            boards[board].put(submission(f"{board} {i}"))
        boards[board].put(submission("the same", received_at=f"2026-03-0{board + 1}T00:00:00Z"))

    with ThreadPoolExecutor(2) as senders:
        list(senders.map(send, range(2)))
    assert until(lambda: all(len(board.entries()) == 13 and not board.waiting() for board in boards))
    assert {path for path in hub.repos[PAGE] if path != "README.md"} == set(times_committed(hub))
    assert set(times_committed(hub).values()) == {1}


def test_another_was_quicker(hub: FakeHub, open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same submission that another board commits between the look and the commit is not written over."""
    store, one = open_store(start=False), submission()
    theirs, commit = to_bytes(replace(one, received_at="2026-02-28T10:00:00Z")), store.repo.commit

    def late(*arguments: Any, **options: Any) -> None:
        hub.repos[PAGE][path_of(one)] = theirs
        commit(*arguments, **options)

    monkeypatch.setattr(store.repo, "commit", late)
    store.start()
    assert store.put(one).state == "stored"
    assert hub.repos[PAGE][path_of(one)] == theirs
    assert hub.commits == []


def test_what_others_committed(hub: FakeHub, open_store: Open) -> None:
    """A submission of another board is shown; a file that is none is set aside with the reason."""
    one, damaged = submission(), submission("damaged")
    files = hub.repos[PAGE]
    files[path_of(one)] = to_bytes(one)
    files[path_of(damaged)] = to_bytes(damaged).replace(b"So What", b"So Whet")
    files["submissions/notes.txt"] = b"hello"
    files[f"submissions/deep/{file_name(one.key)}"] = to_bytes(one)
    files[path_of(submission("large"))] = b"x" * 10_001
    store = open_store()
    assert until(lambda: len(store.set_aside()) == 4 and len(store.entries()) == 1)
    assert store.get(one.key) == one
    told = {one.file: one.reason for one in store.set_aside()}
    assert "no submission" in told["submissions/notes.txt"]
    assert "damaged or was edited" in told[path_of(damaged)]
    assert "expected at most 10,000" in told[path_of(submission("large"))]
    files[path_of(damaged)] = to_bytes(damaged)  # mended by hand
    assert until(lambda: len(store.entries()) == 2)
    assert hub.commits == []


def test_the_owner_withdraws(hub: FakeHub, open_store: Open) -> None:
    """A file that the owner removes from the repository leaves the leaderboard and is not committed again."""
    store, one, other = open_store(), submission(), submission("other")
    assert [store.put(each).state for each in (one, other)] == ["stored", "stored"]
    del hub.repos[PAGE][path_of(one)]
    assert until(lambda: [entry.key for entry in store.entries()] == [other.key])
    assert store.waiting() == []
    assert times_committed(hub) == {path_of(one): 1, path_of(other): 1}


def test_a_listing_that_lags_withdraws_nothing(hub: FakeHub, open_store: Open) -> None:
    """A file that is not shown right after its commit stays, and is looked for again."""
    store, one = open_store(pace=Pace(commit_s=0.0, look_s=0.05)), submission()
    assert store.put(one).state == "stored"
    content = hub.repos[PAGE].pop(path_of(one))
    asked = len(hub.asked)
    assert until(lambda: len(hub.asked) > asked + 6)
    assert [entry.key for entry in store.entries()] == [one.key]
    hub.repos[PAGE][path_of(one)] = content
    assert times_committed(hub) == {path_of(one): 1}


def test_the_inbox(hub: FakeHub, open_store: Open) -> None:
    """A run that came by a pull request becomes a submission, and its folder goes; one that is refused stays."""

    def accept(predictions: bytes, card: bytes) -> Submission:
        if predictions == b"bad":
            raise UserError("line 1: not JSON")
        if predictions == b"unforeseen":
            raise TypeError("a bug")
        return submission(card.decode())

    hub.repos[PAGE] |= {
        "inbox/a/predictions.jsonl": b"good", "inbox/a/run.json": b"CLAP",
        "inbox/b/predictions.jsonl": b"bad", "inbox/b/run.json": b"CLAP",
        "inbox/c/run.json": b"alone",
        "inbox/d/predictions.jsonl": b"unforeseen", "inbox/d/run.json": b"CLAP",
    }  # fmt: skip
    store = open_store(accept=accept)
    assert until(lambda: path_of(submission()) in hub.repos[PAGE] and len(store.set_aside()) == 3)
    assert [path for path in hub.repos[PAGE] if path.startswith("inbox/a")] == []
    told = {one.file: one.reason for one in store.set_aside()}
    assert told["inbox/b"] == "line 1: not JSON"
    assert "expected predictions.jsonl and run.json" in told["inbox/c"]
    assert told["inbox/d"] == "cannot be judged (TypeError)"
    assert times_committed(hub) == {path_of(submission()): 1}
    assert len(hub.commits) == 1


def test_notes_reach_other_boards(hub: FakeHub, open_store: Open) -> None:
    """Edits and withdrawals are committed; a name without consent stays on the own disk; the newer note counts."""
    one, other = open_store("one"), open_store("other")
    kept, gone = submission("Kept"), submission("Gone")
    for each in (kept, gone):
        one.put(each)
    one.notes.change(kept.key, sender="ann", edits={"name": "Renamed"})
    assert until(lambda: [entry.card.name for entry in other.entries() if entry.key == kept.key] == ["Renamed"])
    assert b"ann" not in b"".join(content for path, content in hub.repos[PAGE].items() if "note" in path)
    assert one.notes.get(kept.key).sender == "ann"
    other.notes.change(kept.key, edits={"name": "Again"})
    assert until(lambda: one.notes.get(kept.key).edits == {"name": "Again"})
    assert one.notes.get(kept.key).sender == "ann"
    one.notes.change(gone.key, withdrawn_at="2026-03-02T10:00:00Z")
    one.withdraw(gone.key, "withdrawn by its sender")
    assert until(lambda: path_of(gone) not in hub.repos[PAGE])
    assert until(lambda: [entry.key for entry in other.entries()] == [kept.key])
    fresh = open_store("fresh")  # a Space with a new disk
    assert [entry.card.name for entry in fresh.entries()] == ["Again"]
    assert fresh.is_withdrawn(gone.key)
    commits = len(hub.commits)
    assert until(lambda: nothing_waits(fresh))
    time.sleep(0.5)
    assert len(hub.commits) == commits  # boards that agree commit nothing


def test_a_withdrawn_submission_may_be_sent_again(hub: FakeHub, open_store: Open) -> None:
    """On the same board, before and after the commit that deletes it."""
    store, one = open_store(), submission()
    for wait in (False, True):
        assert store.put(one).state == "stored"
        store.notes.change(one.key, withdrawn_at="2026-03-02T10:00:00Z")
        store.withdraw(one.key, "withdrawn by its sender")
        if wait:
            assert until(lambda: path_of(one) not in hub.repos[PAGE])
        assert not store.entries()
    assert store.put(one).state == "stored"
    assert until(lambda: path_of(one) in hub.repos[PAGE])
    time.sleep(0.5)
    assert [entry.key for entry in store.entries()] == [one.key]


def test_a_file_among_the_notes_that_is_none(hub: FakeHub, open_store: Open) -> None:
    """The owner sees it, and everything else works."""
    hub.repos[PAGE] |= {"notes/x.json": b"{}", f"notes/{'0' * 64}.json": b"[]"}
    store = open_store()
    assert {file.file for file in store.set_aside()} == {"notes/x.json", f"notes/{'0' * 64}.json"}
    assert store.put(submission()).state == "stored"


@pytest.mark.figures
def test_the_owner_reproduces_a_row_of_the_repository(hub: FakeHub, open_store: Open, tmp_path: Path) -> None:
    """The command commits the note, and the board of the Space marks the row."""
    folder = mini_dataset(tmp_path / "data")
    references = load_references(folder, "audio_query")
    made = views_submission(references, 0)
    hub.repos[PAGE][path_of(made)] = to_bytes(made)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "predictions.jsonl").write_text("".join(map(format_line, made.predictions)))
    environment = {
        **os.environ, **ONLINE, "HF_ENDPOINT": hub.endpoint, "HF_TOKEN": TOKEN, "RESULTS_REPO": REPO,
        "MUSICRS_DATASET": str(folder), "RESULTS_DIR": str(tmp_path / "owner"),
    }  # fmt: skip
    command = (sys.executable, "-m", "space", "reproduce", made.key, "--run", str(tmp_path / "run"))
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.startswith("reproduced: ")) == (0, True), done.stderr
    assert f"notes/{made.key}.json" in hub.repos[PAGE]
    store = HubStore(tmp_path / "space", ResultsRepo(REPO, TOKEN, hub.endpoint), pace=QUICK)
    store.start()
    assert [bool(entry.note.reproduced_at) for entry in store.entries()] == [True]
    store.close()


def test_trouble_with_the_hub_is_reported_once(hub: FakeHub, tmp_path: Path) -> None:
    """With its words, and its end too."""
    reported: list[str | None] = []
    repo = ResultsRepo(REPO, TOKEN, hub.endpoint)
    store = HubStore(tmp_path / "board", repo, pace=QUICK, report=reported.append)
    hub.faults.append(Fault("/api/datasets/", 500, times=2))
    store.start()
    assert until(lambda: reported and reported[-1] is None)
    assert [problem is None for problem in reported] == [False, True]
    assert "the Hub answered 500" in str(reported[0])
    store.close()
