"""Changes to a row by its sender: edits and withdrawal, against the receipt of the submission or a signed-in name."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Any

from musicrs_metric.errors import UserError, show

from .events import EventLog
from .intake import judge_edits
from .settings import Limits
from .store import SubmissionStore
from .store.notes import EDITABLE, WITHDRAWN_BY_SENDER, now
from .submission import SubmissionEntry
from .web.rate_limits import RateLimit

_WRONG_RECEIPTS = 10  # per caller and window
# The owner has reproduced the system of this name and code, with this data. Another one is not reproduced.
_REPRODUCED = ("name", "reads", "code_link")


def new_receipt() -> tuple[str, str]:
    """Return a secret for the sender of a submission, and the hash that is stored."""
    receipt = secrets.token_urlsafe(24)
    return receipt, _hash(receipt)


class RowChanges:
    """Edits and withdrawals by senders. Safe to use from many threads.

    Args:
        store: The submissions.
        limits: Largest lengths, and the window of time of the limit of wrong receipts.
        events: Log of the changes.
    """

    def __init__(self, store: SubmissionStore, limits: Limits, events: EventLog) -> None:
        self._store, self._limits, self._events = store, limits, events
        self._wrong = RateLimit(_WRONG_RECEIPTS, limits.window_s, "wrong receipt")

    def entry(self, key: object, receipt: object, *, caller: str) -> SubmissionEntry:
        """Return the submission that a caller may change.

        Args:
            key: Key of the row.
            receipt: The receipt; empty for a caller who is signed in as the sender.
            caller: The caller, from `space.web.rate_limits.caller_of`.

        Raises:
            UserError: There is no such row, or the caller may not change it.
            TryLaterError: The caller has sent too many wrong receipts.
        """
        self._wrong.check(caller)
        entry = next((entry for entry in self._store.entries() if entry.key == key), None)
        if entry is None:
            raise UserError(self.missing(key))
        code = receipt.strip() if isinstance(receipt, str) else ""
        is_sender = bool(entry.note.sender) and caller == f"user {entry.note.sender}"
        if is_sender or (entry.receipt_hash and hmac.compare_digest(_hash(code), entry.receipt_hash)):
            return entry
        self._wrong.count(caller)
        self._events.add("wrong receipt", key=entry.key, caller=caller)
        raise UserError(
            f"row {entry.key[:12]}: the receipt is not the one of this row; expected the receipt from the answer to "
            "the submission, or sign in as its sender"
        )

    def missing(self, key: object) -> str:
        """State in words why there is no row of a key."""
        if isinstance(key, str) and self._store.is_withdrawn(key):
            return f"row {show(key[:12])} was withdrawn from the leaderboard"
        return f"found no row {show(key)} on the leaderboard; it may have been removed"

    def edit(
        self, key: object, receipt: object, sent: Mapping[str, Any], *, show_sender: object = None, caller: str
    ) -> tuple[str, ...]:
        """Change fields of a row.

        Args:
            key: Key of the row.
            receipt: See `entry`.
            sent: See `space.intake.form.judge_edits`.
            show_sender: True or False to show or hide the user name of the sender; None to leave it.
            caller: The caller.

        Returns:
            Consequences in words, such as the loss of the status "reproduced".

        Raises:
            IntakeError: Lists every invalid field. Nothing was changed.
            UserError: See `entry`.
            TryLaterError: See `entry`.
        """
        entry = self.entry(key, receipt, caller=caller)
        edits = judge_edits(sent, self._limits)
        before = {name: getattr(entry.card if name in ("name", "reads") else entry, name) for name in EDITABLE}
        changed = {name: value for name, value in edits.items() if value != before[name]}
        changes: dict[str, Any] = {}
        consequences: tuple[str, ...] = ()
        if changed:
            changes["edits"] = changed
        if isinstance(show_sender, bool) and show_sender != entry.note.show_sender:
            changes["show_sender"] = show_sender
        lost = [name for name in _REPRODUCED if name in changed]
        if entry.note.reproduced_at and lost:
            changes["reproduced_at"] = ""
            consequences = (f"the row is no longer marked as reproduced, because {' and '.join(lost)} changed",)
        if changes:
            self._store.notes.change(entry.key, **changes)
            self._events.add("edit", key=entry.key, caller=caller, note=", ".join(sorted(changes.keys() | changed)))
        return consequences

    def withdraw(self, key: object, receipt: object, *, caller: str) -> None:
        """Take a row off the leaderboard.

        Raises:
            UserError: See `entry`.
            TryLaterError: See `entry`.
        """
        entry = self.entry(key, receipt, caller=caller)
        self._store.notes.change(entry.key, withdrawn_at=now())
        self._store.withdraw(entry.key, WITHDRAWN_BY_SENDER)
        self._events.add("withdrawal", key=entry.key, caller=caller)


def _hash(receipt: str) -> str:
    return hashlib.sha256(receipt.encode(errors="surrogatepass")).hexdigest()
