"""Submissions in a repository on the Hub: first written to the local disk, then committed, then called stored.

The folder on disk is a `LocalStore` with all submissions, also those of other Spaces. A marker states which of them are
in the repository. Submissions without a marker are committed together, with new attempts until the commit succeeds.
Each commit names the state of the repository that it follows. Nothing is therefore committed twice and no row is
overwritten, even if processes die or commit at the same time.
"""

from __future__ import annotations

import atexit
import logging
import random
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from musicrs_metric.errors import count
from musicrs_metric.runs.predictions import Prediction

from ..submission import Submission, SubmissionEntry
from . import Receipt, SetAside
from .commit_markers import CommitMarkers
from .files import SUFFIX, StoredFileError, file_name, is_key, read_submission
from .inbox import Inbox
from .local import LocalStore
from .notes import Notes
from .remote import RemoteError, RemoteFile, ResultsRepo
from .shared_notes import SharedNotes, paths_of

SUBMISSIONS = "submissions"
_LOG = logging.getLogger(__name__)
_BATCH = 25  # submissions in one commit, which is one request
_READERS = 8


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Intervals of the requests to the Hub, in seconds.

    Attributes:
        commit_s: Mean interval of two commits. The Hub accepts 128 per hour and repository, from all users together.
        burst: Number of commits that may follow each other at once after a pause.
        look_s: Interval of two looks for commits of other processes.
        retry_s: Wait before the first new attempt after a failure. It doubles with each further failure.
        longest_s: Longest wait before a new attempt.
        lasting_s: Wait before a new attempt if the leaderboard owner must fix something first.
        patience_s: Longest time that a submitter waits for the commit.
        settled_s: Age of a marker from which a missing file counts as withdrawn.
    """

    commit_s: float = 30.0
    burst: int = 8
    look_s: float = 60.0
    retry_s: float = 1.0
    longest_s: float = 300.0
    lasting_s: float = 600.0
    patience_s: float = 5.0
    settled_s: float = 600.0


class HubStore:
    """A `SubmissionStore` in a dataset repository on the Hub, with a folder as its local copy.

    Args:
        folder: Folder of the submissions on the local disk.
        repo: The repository.
        accept: Judges predictions and run card that arrived in the inbox of the repository by a pull request, and
            raises `UserError` if they are refused; None to ignore the inbox.
        pace: Intervals of the requests to the Hub.
        largest: Largest number of bytes of a file of the repository that is read.
        report: Called with a new problem in words, and with None once it is over.
    """

    def __init__(
        self,
        folder: str | Path,
        repo: ResultsRepo,
        *,
        accept: Callable[[bytes, bytes], Submission] | None = None,
        pace: Pace = Pace(),
        largest: int = 64_000_000,
        report: Callable[[str | None], None] = lambda _problem: None,
    ) -> None:
        self.local = LocalStore(folder)
        self.repo, self.pace, self.largest = repo, pace, largest
        self._markers = CommitMarkers(self.local.folder / ".committed" / repo.repo)
        self._inbox = Inbox(repo, accept, largest)
        self._notes = SharedNotes(repo, self.local.notes)
        self._submitted: set[str] = set()  # keys of the files in the repository at the last look
        self._lock = FileLock(self.local.folder / ".hub.lock")  # one process at a time sends requests to the Hub
        self._changed = threading.Condition()
        self._wake, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="results to the Hub", daemon=True)
        self._looked_at: str | None = None
        self._set_aside: dict[RemoteFile, SetAside] = {}
        self._problem: str | None = None
        self._on_problem = report
        self._failures = 0
        self._due = self._paid_until = 0.0  # times of the monotonic clock

    def start(self) -> None:
        """Read the repository, commit what an earlier process left behind, then continue in a thread."""
        self.attempt()
        self._thread.start()
        atexit.register(self.close)

    def close(self, timeout: float = 20.0) -> None:
        """Stop after one last attempt to commit. An orderly end of the process calls this too."""
        atexit.unregister(self.close)
        self._stopped.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def put(self, submission: Submission) -> Receipt:
        """Keep a submission. It is "stored" only if its commit was made while the submitter waited."""
        receipt = self.local.put(submission)
        if not self._markers.has(submission.key):
            self._wake.set()
            if not self._committed_soon(submission.key):
                return Receipt(submission.key, "queued")
        return receipt

    @property
    def notes(self) -> Notes:
        """Facts about submissions that change after their arrival. Their files are committed too."""
        return self.local.notes

    def withdraw(self, key: str, reason: str) -> None:
        """Take a submission off the leaderboard. The next commit deletes the file of one that its sender withdrew."""
        self.local.withdraw(key, reason)

    def is_withdrawn(self, key: str) -> bool:
        """Return True if a submission was on the leaderboard and is no longer."""
        return self.local.is_withdrawn(key)

    def entries(self) -> Sequence[SubmissionEntry]:
        """List the submissions without their predictions, in the order of arrival, also the queued ones."""
        return self.local.entries()

    def prediction(self, key: str, thread_id: str) -> Prediction | None:
        """Return the prediction of one submission for one thread; None if there is none."""
        return self.local.prediction(key, thread_id)

    def get(self, key: str) -> Submission | None:
        """Return one submission with its predictions, or None."""
        return self.local.get(key)

    def set_aside(self) -> Sequence[SetAside]:
        """List the files that `entries` leaves out, on the disk and in the repository."""
        return [
            *self.local.set_aside(),
            *list(self._set_aside.values()),
            *self._inbox.refused(),
            *self._notes.set_aside(),
        ]

    def waiting(self) -> list[str]:
        """Return the keys of the submissions that are not committed yet."""
        committed = self._markers.all()
        return [entry.key for entry in self.local.entries() if entry.key not in committed]

    def problem(self) -> str | None:
        """State in words why the last attempt failed; None if it succeeded."""
        return self._problem

    def attempt(self) -> float:
        """Read the repository and commit, if the time for it has come.

        Returns:
            Seconds until the next attempt.
        """
        now = time.monotonic()
        if now < self._due and not self._stopped.is_set():
            return self._due - now
        wait: float | None = None
        try:
            with self._lock:
                committed = self._step()
        except RemoteError as error:
            wait = self._failed(error)
        except Exception as error:  # later submissions must still be committed
            _LOG.exception("%s: the last attempt failed", self.repo.repo)
            wait = self._failed(
                RemoteError(f"{self.repo.repo}: {type(error).__name__} on this machine; its log has the error")
            )
        else:
            self._failures = 0
            wait = self._pause() if committed else None
            self._report(None)
        with self._changed:
            self._due = time.monotonic() + (wait or 0.0)
            self._changed.notify_all()
        return self.pace.look_s if wait is None else wait

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._wake.wait(self.attempt())
            self._wake.clear()
        if self.waiting() or self._notes.waiting():
            self.attempt()

    def _step(self) -> bool:
        """Read the repository and commit what waits. Return True if a commit was made, after which a pause is due."""
        commit = self.repo.commit_id()
        if commit != self._looked_at:
            self._looked_at = commit if self._take_in(commit) else None
        keys = self.waiting()[:_BATCH]
        answered, notes = self._inbox.answered(), self._notes.waiting()
        withdrawn = self._notes.withdrawn() & self._submitted
        if not keys and not answered and not notes and not withdrawn:
            return False
        added = {f"{SUBMISSIONS}/{file_name(key)}": (self.local.folder / file_name(key)).read_bytes() for key in keys}
        removed = [*answered, *(f"{SUBMISSIONS}/{file_name(key)}" for key in sorted(withdrawn))]
        self.repo.commit(added | paths_of(notes), removed, parent=commit, title=_title(keys, notes, withdrawn))
        self._markers.add(keys)
        self._submitted = self._submitted - withdrawn | set(keys)
        for key in withdrawn:
            self._markers.remove(key)
        self._notes.committed(notes)
        self._inbox.removed(answered)
        return True

    def _take_in(self, commit: str) -> bool:
        """Bring the local folder up to a commit: fetch new submissions, withdraw those that the owner removed.

        Return False if a file is missing so soon after its commit that it may only not be listed yet.
        """
        files = self.repo.files(SUBMISSIONS, commit)
        named = {file for file in files if _is_named_by_key(file)}
        self._notes.read(commit)
        self._submitted = {Path(file.path).name.removesuffix(SUFFIX) for file in named}
        withdrawn = {file_name(key) for key in self._notes.withdrawn()}
        named = {file for file in named if Path(file.path).name not in withdrawn}
        local = {file_name(entry.key) for entry in self.local.entries()}
        new = [file for file in named if Path(file.path).name not in local and file not in self._set_aside]
        self._set_aside = {file: self._set_aside[file] for file in files if file in self._set_aside}
        self._set_aside |= {
            file: SetAside(file.path, "is no submission; file names of submissions are keys")
            for file in files
            if not _is_named_by_key(file)
        }
        with ThreadPoolExecutor(_READERS) as readers:
            list(readers.map(lambda file: self._fetch(file, commit), new))
        local = {file_name(entry.key) for entry in self.local.entries()}
        names = {Path(file.path).name for file in named}
        self._markers.add(name.removesuffix(SUFFIX) for name in names & local)
        missing = {key for key in self._markers.all() if file_name(key) not in names}
        settled = missing & self._markers.older_than(self.pace.settled_s)
        for key in settled:
            self._withdraw(key)
        self._inbox.read(commit, self.local)
        return missing == settled

    def _fetch(self, file: RemoteFile, commit: str) -> None:
        if file.size > self.largest:
            self._set_aside[file] = SetAside(file.path, f"has {file.size:,} bytes, expected at most {self.largest:,}")
            return
        try:
            self.local.put(read_submission(self.repo.read(file.path, commit), Path(file.path).name))
        except StoredFileError as error:
            self._set_aside[file] = SetAside(file.path, str(error))

    def _withdraw(self, key: str) -> None:
        """Withdraw a submission that the owner removed from the repository. Its file is moved, not deleted."""
        if (self.local.folder / file_name(key)).exists():
            self.local.withdraw(key, f"removed from {self.repo.repo}")
            _LOG.warning("%s was removed from %s and is therefore withdrawn", key, self.repo.repo)
        self._markers.remove(key)

    def _committed_soon(self, key: str) -> bool:
        """Wait for a commit, for `patience_s` at most and only while one can still come."""
        until = time.monotonic() + self.pace.patience_s
        with self._changed:
            while not self._markers.has(key):
                left = until - time.monotonic()
                if left <= 0 or self._due > until or not self._thread.is_alive():
                    return False
                self._changed.wait(min(left, 0.5))  # another process may make the commit
        return True

    def _pause(self) -> float:
        """Return the seconds to wait after a commit, so that the mean interval of commits is at least `commit_s`."""
        now = time.monotonic()
        self._paid_until = max(self._paid_until, now) + self.pace.commit_s
        return max(0.0, self._paid_until - now - (self.pace.burst - 1) * self.pace.commit_s)

    def _failed(self, error: RemoteError) -> float:
        """Report a failure, and return the seconds to wait after it."""
        self._failures += 1
        self._report(f"{error.words}; {count(len(self.waiting()), 'submission')} waiting on the local disk")
        if error.lasting:
            return self.pace.lasting_s
        if error.wait_s is not None:
            return error.wait_s
        longest = min(self.pace.retry_s * 2.0 ** (self._failures - 1), self.pace.longest_s)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spread, so that two boards do not meet again and again

    def _report(self, problem: str | None) -> None:
        if problem is not None and problem != self._problem:
            _LOG.warning(problem)
        elif problem is None and self._problem is not None:
            _LOG.warning("%s: all is committed again", self.repo.repo)
        if problem != self._problem:
            self._on_problem(problem)
        self._problem = problem


def _is_named_by_key(file: RemoteFile) -> bool:
    name = Path(file.path).name
    return file.path == f"{SUBMISSIONS}/{name}" and is_key(name.removesuffix(SUFFIX)) and name.endswith(SUFFIX)


def _title(keys: Sequence[str], notes: Collection[str], withdrawn: Collection[str]) -> str:
    parts = ((keys, "submission"), (notes, "note"), (withdrawn, "withdrawn submission"))
    return ", ".join(count(len(items), noun) for items, noun in parts if items) or (
        "The runs of the inbox are submissions already"
    )
