"""Operations of the leaderboard for the page and for programs: submit, score, list rows, download predictions."""

from __future__ import annotations

import errno
import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from musicrs_metric.errors import UserError, count, show
from musicrs_metric.runs.predictions import PREDICTIONS, PredictionError, format_line, read_prediction_lines
from musicrs_metric.runs.read import score_predictions
from musicrs_metric.runs.references import DEFAULT_DATASET

from .board.board import Board
from .board.plain_rows import plain_row
from .board.rows import SubmissionRow
from .board.status import marks
from .board.table_rows import RowQuery, table_row, table_rows
from .events import EventLog
from .intake import IntakeError, SubmissionForm, take
from .intake.refusal import at_field
from .intake.repo import fetch
from .intake.unpack import lines_of
from .outcome import outcome_of, sentence
from .row_changes import RowChanges, new_receipt
from .settings import LeaderboardSettings
from .store import Receipt
from .submission import SubmissionEntry
from .web.rate_limits import RateLimit, TryLaterError, Turns

_LOG = logging.getLogger(__name__)
_REFUSALS_PER_SUBMISSION = 5  # whoever fixes a file by trial needs several attempts


@dataclass(frozen=True)
class Submitted:
    """A submission that was accepted.

    Attributes:
        receipt: The key, and the state stored, queued or already.
        row: The row; None if the store does not list it yet.
        warnings: Skipped lines, contradictions and identical rows, in words.
        code: The secret with which the sender can change the row; empty if it was submitted before.
    """

    receipt: Receipt
    row: SubmissionRow | None
    warnings: tuple[str, ...]
    code: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        about: dict[str, Any] = {"state": self.receipt.state, "key": self.receipt.key, "receipt": self.code or None}
        about["warnings"] = list(self.warnings)
        if self.row is None:
            return about | {"summary": None, "result": None, "row": None}
        result = outcome_of(self.row)
        return about | {"summary": sentence(result), "result": result, "row": plain_row(table_row(self.row))}


class LeaderboardService:
    """The leaderboard with its limits, for the page and for programs. Safe to use from many threads.

    Args:
        settings: Limits.
        board: The leaderboard with its data and its store.
        events: The event log; None for one in memory.
        older: Leaderboards of older versions of the data, over the same store.
    """

    def __init__(
        self,
        settings: LeaderboardSettings,
        board: Board,
        events: EventLog | None = None,
        older: Sequence[Board] = (),
    ) -> None:
        self.settings, self.board = settings, board
        self.older = {other.data.version: other for other in older if other.data.version != board.data.version}
        self.events = events or EventLog(None)
        limits = settings.limits
        self._changes = RowChanges(board.store, limits, self.events)
        self._submissions = RateLimit(limits.submissions, limits.window_s, "submission")
        self._refusals = RateLimit(_REFUSALS_PER_SUBMISSION * limits.submissions, limits.window_s, "refused submission")
        self._calls = RateLimit(limits.calls, limits.window_s, "call")
        self._turns = Turns(limits.at_once, limits.queue)

    def submit(self, upload: bytes, form: SubmissionForm, *, caller: str, card: bytes | None = None) -> Submitted:
        """Check, store and rank a submission.

        Args:
            upload: The prediction file, plain or packed.
            form: Fields that describe the system.
            caller: The sender, from `space.web.rate_limits.caller_of`.
            card: Content of `run.json`; None without one.

        Returns:
            The receipt and the row.

        Raises:
            IntakeError: Lists every fault. Nothing was stored.
            TryLaterError: A limit is reached.
        """
        with self._limited(caller):
            return self._store(upload, form, card, caller=caller)

    def submit_repo(self, repo: object, kind: object, form: SubmissionForm, *, caller: str) -> Submitted:
        """Check, store and rank a submission from a public repository on the Hub.

        Args:
            repo: `owner/name`.
            kind: "dataset" or "model".
            form: Fields that describe the system. Without a link, the leaderboard links the repository.
            caller: The sender.

        Returns:
            The receipt and the row.

        Raises:
            IntakeError: Lists every fault. Nothing was stored.
            TryLaterError: A limit is reached.
            UserError: The Hub does not answer.
        """
        with self._limited(caller):
            files = fetch(repo, kind, self.settings.limits)
            return self._store(files.predictions, form, files.card, link=files.link, caller=caller)

    def score(self, upload: bytes, *, caller: str, pools: str | None = None) -> dict[str, Any]:
        """Score predictions without storing them.

        Args:
            upload: The prediction file, plain or packed. Missing threads score 0.
            caller: The sender.
            pools: Name of the pool design that it ranked; None for the first.

        Returns:
            The output of `musicrs-metric score --json --by genre`.

        Raises:
            PredictionError: Lists every fault of the file.
            UserError: There is no such pool design.
            TryLaterError: A limit is reached.
        """
        design = self.board.data.design(pools)
        with self._counted(caller), self._turns.turn():
            file = read_prediction_lines(lines_of(upload, self.settings.limits), PREDICTIONS, design.references)
            scores = score_predictions(file, design.references, by=["genre"]).to_dict()
        return scores | {"dataset": DEFAULT_DATASET, "pools": design.name}

    def leaderboard(self, query: RowQuery, *, details: bool = False) -> list[dict[str, Any]]:
        """Return the rows of the table as plain JSON types.

        Args:
            query: Selects and sorts the rows.
            details: True for all known values of each row, instead of the columns of the table.

        Raises:
            UserError: The query names an unknown pool design, genre, choice or order.
        """
        return [plain_row(row, details=details) for row in table_rows(self.board_of(query.version), query)]

    def board_of(self, version: str) -> Board:
        """Return the leaderboard of a version of the data.

        Args:
            version: Its name; empty for the current one.

        Raises:
            UserError: There is no such version.
        """
        if version in ("", self.board.data.version):
            return self.board
        if version not in self.older:
            known = " or ".join((self.board.data.version, *self.older))
            raise UserError(f"data {show(version)}: not on this leaderboard, expected {known}")
        return self.older[version]

    def storage_problem(self) -> str | None:
        """State in words why submissions cannot be kept now; None if they can."""
        try:
            free = shutil.disk_usage(self.settings.results).free
        except OSError as error:
            return f"the folder of the results cannot be read ({error.strerror})"
        if free < self.settings.limits.unpacked_bytes:
            return f"the disk of the results has {free:,} free bytes, expected {self.settings.limits.unpacked_bytes:,}"
        return self.board.store.problem()

    def existing_key(self, key: str) -> str:
        """Return the key of a row.

        Raises:
            UserError: There is no such row.
        """
        if all(board.row(key) is None for board in (self.board, *self.older.values())):
            raise UserError(self._changes.missing(key))
        return key

    def predictions(self, key: str) -> str:
        """Return the predictions of a row as the text of a prediction file, to compute its scores again.

        Raises:
            UserError: There is no such row.
        """
        submission = self.board.store.get(self.existing_key(key))
        if submission is None:
            raise UserError(self._changes.missing(key))
        return "".join(map(format_line, submission.predictions))

    def editable(self, key: object, receipt: object, *, caller: str) -> SubmissionEntry:
        """Return a submission to its sender.

        Args:
            key: Key of the row.
            receipt: The receipt; empty for a caller who is signed in as the sender.
            caller: The caller.

        Raises:
            UserError: There is no such row, or the caller may not change it.
            TryLaterError: A limit is reached.
        """
        with self._counted(caller):
            return self._changes.entry(key, receipt, caller=caller)

    def edit(
        self, key: object, receipt: object, sent: Mapping[str, Any], *, show_sender: object = None, caller: str
    ) -> dict[str, Any]:
        """Change fields of a row for its sender. See `space.row_changes.RowChanges.edit`.

        Returns:
            The state "changed", the row, and the consequences as warnings.

        Raises:
            IntakeError: Lists every invalid field. Nothing was changed.
            UserError: There is no such row, or the caller may not change it.
            TryLaterError: A limit is reached.
        """
        with self._counted(caller), self._keeping():
            warnings = self._changes.edit(key, receipt, sent, show_sender=show_sender, caller=caller)
        row = self.board.refresh().by_key.get(str(key))
        shown = None if row is None else plain_row(table_row(row))
        return {"state": "changed", "key": key, "warnings": list(warnings), "row": shown}

    def withdraw(self, key: object, receipt: object, *, caller: str) -> dict[str, Any]:
        """Take a row off the leaderboard for its sender.

        Raises:
            UserError: There is no such row, or the caller may not change it.
            TryLaterError: A limit is reached.
        """
        with self._counted(caller), self._keeping():
            self._changes.withdraw(key, receipt, caller=caller)
        self.board.refresh()
        return {"state": "withdrawn", "key": key}

    def refusals_left(self, caller: str) -> int | None:
        """Return the number of refused submissions that a caller may still send within the hour; None for no limit."""
        return self._refusals.left(caller)

    def is_withdrawn(self, key: str) -> bool:
        """Return True if a row was on the leaderboard and is no longer."""
        return self.board.store.is_withdrawn(key)

    @contextmanager
    def _limited(self, caller: str) -> Iterator[None]:
        """Wait for a turn. A refused submission counts towards a limit of its own, not towards that of submissions."""
        with self._noted(caller):
            self._refusals.check(caller)
            self._submissions.count(caller)
            try:
                with self._turns.turn():
                    yield
            except PredictionError:
                self._submissions.take_back(caller)
                self._refusals.count(caller)
                raise

    @contextmanager
    def _counted(self, caller: str) -> Iterator[None]:
        """Count a call that is no submission."""
        with self._noted(caller):
            self._calls.count(caller)
            yield

    @contextmanager
    def _noted(self, caller: str) -> Iterator[None]:
        """Add refusals and limits to the event log."""
        try:
            yield
        except PredictionError as error:
            self.events.add("refusal", caller=caller, note=str(error.faults[0]) if error.faults else str(error))
            raise
        except TryLaterError as error:
            self.events.add("limit", caller=caller, note=str(error))
            raise

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """Turn a disk that does not accept a file into an error for the sender and an event for the owner."""
        try:
            yield
        except OSError as error:
            _LOG.exception("a file cannot be written")
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            self.events.add("disk full" if is_full else "disk trouble", note=error.strerror or type(error).__name__)
            raise UserError(
                f"nothing was stored: {'the disk of the leaderboard is full' if is_full else 'its disk has a fault'}; "
                "its owner can see this, please try again later"
            ) from None

    def _store(
        self, upload: bytes, form: SubmissionForm, card: bytes | None, *, caller: str, link: str = ""
    ) -> Submitted:
        taken = take(upload, form, self.board.data, self.settings.limits, card=card, link=link)
        key, store = taken.submission.key, self.board.store
        if store.is_withdrawn(key) and not store.notes.get(key).withdrawn_at:
            reason = "was removed by the leaderboard owner; ask the owner to restore it"
            raise IntakeError([at_field("predictions", f"the same submission ({key[:12]}) {reason}")])
        code, receipt_hash = new_receipt()
        sender = caller.removeprefix("user ") if caller.startswith("user ") else ""
        self.board.prepare(taken.submission)
        with self._keeping():
            receipt = store.put(replace(taken.submission, receipt_hash=receipt_hash))
            if receipt.state != "already" and sender:
                store.notes.change(key, sender=sender, show_sender=form.show_sender is True)
        try:
            row = self.board.refresh(within_s=0).by_key.get(key)
        except Exception:  # the submission is stored, and the sender must learn this in any case
            _LOG.exception("the leaderboard cannot be updated")
            row = None
        # A queued submission may be that of an earlier call, which has the receipt.
        is_new = receipt.state != "already" and (row is None or row.entry.receipt_hash == receipt_hash)
        self.events.add("submission", key=key, caller=caller, note=receipt.state)
        notes = () if row is None else _notes_on(row)
        return Submitted(receipt, row, (*taken.warnings, *notes), code if is_new else "")


def _notes_on(row: SubmissionRow) -> Iterator[str]:
    """Yield what the sender should know about the row, in words."""
    if row.scores.n_unknown:
        yield f"{count(row.scores.n_unknown, 'title')} of the rankings are in no pool and count as misses"
    for label in row.identical_to:
        yield f"identical to {label}: same ranks of relevant titles"
    for mark in marks(row):
        if not mark.startswith("identical"):
            yield f"the row is marked: {mark}"
