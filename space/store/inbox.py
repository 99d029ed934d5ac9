"""Inbox of the results repository: runs that arrived by a pull request and that the leaderboard owner has merged.

A run is a folder `inbox/<any name>/` with `predictions.jsonl` and `run.json`. It is judged like any other submission. A
valid run becomes the file of a submission, in the commit that empties its folder. An invalid run stays, and the owner
sees its faults.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import PREDICTIONS
from musicrs_metric.runs.run_card import RUN_CARD

from ..submission import Submission
from . import SetAside
from .local import LocalStore
from .remote import RemoteError, RemoteFile, ResultsRepo

INBOX = "inbox"
_LOG = logging.getLogger(__name__)


class Inbox:
    """State of the inbox at the last look.

    Args:
        repo: The repository.
        accept: Judges predictions and run card; None to ignore the inbox.
        largest: Largest number of bytes of a file that is read.
    """

    def __init__(self, repo: ResultsRepo, accept: Callable[[bytes, bytes], Submission] | None, largest: int) -> None:
        self.repo, self.accept, self.largest = repo, accept, largest
        self._answered: dict[str, tuple[RemoteFile, ...]] = {}
        self._refused: dict[tuple[RemoteFile, ...], SetAside] = {}

    def read(self, commit: str, store: LocalStore) -> None:
        """Judge the new runs of the inbox at a commit, and put the valid ones into a store.

        Raises:
            RemoteError: The Hub does not return the files.
        """
        if self.accept is None:
            return
        folders: dict[str, list[RemoteFile]] = defaultdict(list)
        for file in self.repo.files(INBOX, commit):
            folders[str(PurePosixPath(file.path).parent)].append(file)
        runs = {folder: tuple(sorted(files)) for folder, files in folders.items()}
        self._answered = {}
        self._refused = {files: self._refused[files] for files in runs.values() if files in self._refused}
        for folder, files in runs.items():
            if files in self._refused:
                continue
            try:
                store.put(self.accept(*self._contents(folder, files, commit)))
            except UserError as error:
                self._refused[files] = SetAside(folder, str(error))
            except (RemoteError, OSError):
                raise
            except Exception as error:  # an unforeseen error of one run must not stop the others
                _LOG.exception("%s in %s", folder, self.repo.repo)
                self._refused[files] = SetAside(folder, f"cannot be judged ({type(error).__name__})")
            else:
                self._answered[folder] = files

    def answered(self) -> list[str]:
        """Return the paths of accepted runs, which must be removed."""
        return [file.path for files in self._answered.values() for file in files]

    def removed(self, paths: Sequence[str]) -> None:
        """Note that paths were removed."""
        gone = set(paths)
        self._answered = {
            folder: files for folder, files in self._answered.items() if not gone >= {file.path for file in files}
        }

    def refused(self) -> list[SetAside]:
        """List the refused runs."""
        return list(self._refused.values())

    def _contents(self, folder: str, files: Sequence[RemoteFile], commit: str) -> tuple[bytes, bytes]:
        names = [PurePosixPath(file.path).name for file in files]
        if sorted(names) != [PREDICTIONS, RUN_CARD]:
            raise UserError(f"{folder}: found {', '.join(names)}, expected {PREDICTIONS} and {RUN_CARD}")
        large = [file for file in files if file.size > self.largest]
        if large:
            raise UserError(f"{large[0].path}: has {large[0].size:,} bytes, expected at most {self.largest:,}")
        predictions, card = (self.repo.read(f"{folder}/{name}", commit) for name in (PREDICTIONS, RUN_CARD))
        return predictions, card
