"""Submissions in a repository on the Hub: on this machine's disk first, then committed, and only then called stored.

The folder on disk is a `LocalStore` and holds all submissions, those of others too; a mark beside them says which of
them are in the repository. What has no mark is committed, all at once, again and again until it is there. Each commit
stands on a state of the repository that was looked at, so that nothing is committed twice and nobody's row is
overwritten, whoever dies or commits at the same time.
"""

from __future__ import annotations

import atexit
import logging
import random
import shutil
import threading
import time
from collections.abc import Callable, Sequence
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
from .remote import RemoteError, RemoteFile, ResultsRepo

SUBMISSIONS = "submissions"
_LOG = logging.getLogger(__name__)
_BATCH = 25  # submissions in one commit, which is one request
_READERS = 8


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How often the Hub is asked, in seconds.

    Attributes:
        commit_s: Between two commits, on average; the Hub takes 128 an hour for a repository, from everybody together.
        burst: How many commits may follow each other at once after a quiet time.
        look_s: Between two looks for what others have committed.
        retry_s: Before the first new attempt after a failure; doubles with each further one.
        longest_s: Before any new attempt.
        lasting_s: Before a new attempt where the owner has to do something first.
        patience_s: How long a sender is kept waiting for the commit.
        settled_s: How old a mark has to be before a file that is missing counts as withdrawn.
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
    """A `Store` in a dataset repository on the Hub, with a folder before it.

    Args:
        folder: Where submissions lie on this machine's disk.
        repo: The repository.
        accept: Judges predictions and run card that somebody put into the repository's inbox by a pull request, and
            raises `UserError` where it refuses them; None to leave the inbox alone.
        pace: How often the Hub is asked.
        largest: Bytes of a file of the repository that is still read.
    """

    def __init__(
        self,
        folder: str | Path,
        repo: ResultsRepo,
        *,
        accept: Callable[[bytes, bytes], Submission] | None = None,
        pace: Pace = Pace(),
        largest: int = 64_000_000,
    ) -> None:
        self.local = LocalStore(folder)
        self.repo, self.pace, self.largest = repo, pace, largest
        self._markers = CommitMarkers(self.local.folder / ".committed" / repo.repo)
        self._inbox = Inbox(repo, accept, largest)
        self._lock = FileLock(self.local.folder / ".hub.lock")  # one process at a time speaks to the Hub
        self._changed = threading.Condition()
        self._wake, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="results to the Hub", daemon=True)
        self._looked_at: str | None = None
        self._odd: dict[RemoteFile, SetAside] = {}
        self._problem: str | None = None
        self._failures = 0
        self._due = self._paid_until = 0.0  # times of the monotonic clock

    def start(self) -> None:
        """Look at the repository and commit what an earlier process left behind; then go on in a thread of its own."""
        self.attempt()
        self._thread.start()
        atexit.register(self.close)

    def close(self, timeout: float = 20.0) -> None:
        """Stop, after one last attempt for what waits; also called when the process ends in an orderly way."""
        atexit.unregister(self.close)
        self._stopped.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def put(self, submission: Submission) -> Receipt:
        """Keep a submission; it is "stored" only where its commit was made while the sender waited."""
        receipt = self.local.put(submission)
        if not self._markers.has(submission.key):
            self._wake.set()
            if not self._committed_soon(submission.key):
                return Receipt(submission.key, "queued")
        return receipt

    def entries(self) -> Sequence[SubmissionEntry]:
        """What is kept, without the predictions, in the order in which it came in; also what still waits."""
        return self.local.entries()

    def prediction(self, key: str, thread_id: str) -> Prediction | None:
        """What one submission predicts for one thread; None where there is none."""
        return self.local.prediction(key, thread_id)

    def get(self, key: str) -> Submission | None:
        """One submission with its predictions, or None."""
        return self.local.get(key)

    def set_aside(self) -> Sequence[SetAside]:
        """The files that `entries` leaves out, on the disk and in the repository."""
        return [*self.local.set_aside(), *list(self._odd.values()), *self._inbox.refused()]

    def waiting(self) -> list[str]:
        """The keys of what is not committed yet."""
        committed = self._markers.all()
        return [entry.key for entry in self.local.entries() if entry.key not in committed]

    def problem(self) -> str | None:
        """Why the last attempt failed, in words for the owner; None where it did not."""
        return self._problem

    def attempt(self) -> float:
        """Look and commit if it is time for it.

        Returns:
            Seconds until there is something to do again.
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
        except Exception as error:  # whatever it is, later submissions must still be committed
            _LOG.exception("%s: the last attempt failed", self.repo.repo)
            wait = self._failed(RemoteError(f"{self.repo.repo}: {type(error).__name__} on this machine, see its log"))
        else:
            self._failures = 0
            wait = self._pause() if committed else None
            self._tell(None)
        with self._changed:
            self._due = time.monotonic() + (wait or 0.0)
            self._changed.notify_all()
        return self.pace.look_s if wait is None else wait

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._wake.wait(self.attempt())
            self._wake.clear()
        if self.waiting():
            self.attempt()

    def _step(self) -> bool:
        """Look, and commit what waits; return whether a commit was made, after which there has to be a pause."""
        commit = self.repo.commit_id()
        if commit != self._looked_at:
            self._looked_at = commit if self._take_in(commit) else None
        keys = self.waiting()[:_BATCH]
        answered = self._inbox.answered()
        if not keys and not answered:
            return False
        added = {f"{SUBMISSIONS}/{file_name(key)}": (self.local.folder / file_name(key)).read_bytes() for key in keys}
        title = count(len(keys), "submission") if keys else "What was in the inbox is here already"
        self.repo.commit(added, answered, parent=commit, title=title)
        self._markers.add(keys)
        self._inbox.removed(answered)
        return True

    def _take_in(self, commit: str) -> bool:
        """Bring the disk up to a commit: what others sent comes in, and what the owner removed goes.

        Returns whether that was all; a file that is missing so soon after its commit may only not be shown yet.
        """
        files = self.repo.files(SUBMISSIONS, commit)
        named = {file for file in files if _is_named_by_key(file)}
        here = {file_name(entry.key) for entry in self.local.entries()}
        new = [file for file in named if Path(file.path).name not in here and file not in self._odd]
        self._odd = {file: self._odd[file] for file in files if file in self._odd}
        self._odd |= {
            file: SetAside(file.path, "is no submission; they are named by their keys") for file in set(files) - named
        }
        with ThreadPoolExecutor(_READERS) as readers:
            list(readers.map(lambda file: self._fetch(file, commit), new))
        here = {file_name(entry.key) for entry in self.local.entries()}
        names = {Path(file.path).name for file in named}
        self._markers.add(name.removesuffix(SUFFIX) for name in names & here)
        missing = {key for key in self._markers.all() if file_name(key) not in names}
        settled = missing & self._markers.older_than(self.pace.settled_s)
        for key in settled:
            self._withdraw(key)
        self._inbox.read(commit, self.local)
        return missing == settled

    def _fetch(self, file: RemoteFile, commit: str) -> None:
        if file.size > self.largest:
            self._odd[file] = SetAside(file.path, f"has {file.size:,} bytes, more than the {self.largest:,} to be read")
            return
        try:
            self.local.put(read_submission(self.repo.read(file.path, commit), Path(file.path).name))
        except StoredFileError as error:
            self._odd[file] = SetAside(file.path, str(error))

    def _withdraw(self, key: str) -> None:
        """Take from the board what the owner removed from the repository; the file is moved, not deleted."""
        aside = self.local.folder / ".withdrawn"
        aside.mkdir(exist_ok=True)
        file = self.local.folder / file_name(key)
        if file.exists():
            shutil.move(file, aside / file.name)
            _LOG.warning("%s was removed from %s and is withdrawn", key, self.repo.repo)
        self._markers.remove(key)

    def _committed_soon(self, key: str) -> bool:
        """Wait for a commit as long as a sender is patient, and no longer than there is hope for it."""
        until = time.monotonic() + self.pace.patience_s
        with self._changed:
            while not self._markers.has(key):
                left = until - time.monotonic()
                if left <= 0 or self._due > until or not self._thread.is_alive():
                    return False
                self._changed.wait(min(left, 0.5))  # the commit may be another process's
        return True

    def _pause(self) -> float:
        """Seconds to wait after a commit, so that in the long run there are no more than one in `commit_s`."""
        now = time.monotonic()
        self._paid_until = max(self._paid_until, now) + self.pace.commit_s
        return max(0.0, self._paid_until - now - (self.pace.burst - 1) * self.pace.commit_s)

    def _failed(self, error: RemoteError) -> float:
        """Tell of a failure, and return the seconds to wait after it."""
        self._failures += 1
        self._tell(f"{error.words}; {count(len(self.waiting()), 'submission')} waiting on this machine's disk")
        if error.lasting:
            return self.pace.lasting_s
        if error.wait_s is not None:
            return error.wait_s
        longest = min(self.pace.retry_s * 2.0 ** (self._failures - 1), self.pace.longest_s)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spread, so that two boards do not meet again and again

    def _tell(self, problem: str | None) -> None:
        if problem is not None and problem != self._problem:
            _LOG.warning(problem)
        elif problem is None and self._problem is not None:
            _LOG.warning("%s: all is committed again", self.repo.repo)
        self._problem = problem


def _is_named_by_key(file: RemoteFile) -> bool:
    name = Path(file.path).name
    return file.path == f"{SUBMISSIONS}/{name}" and is_key(name.removesuffix(SUFFIX)) and name.endswith(SUFFIX)
