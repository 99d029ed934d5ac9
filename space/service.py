"""Operations of the leaderboard for the page and for programs: submit, score, list rows, download predictions."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from musicrs_metric.chance import VERDICT_RULE
from musicrs_metric.compare import HEADLINE
from musicrs_metric.compare.results import Standing
from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.predictions import PREDICTIONS, PredictionError, format_line, read_prediction_lines
from musicrs_metric.runs.read import score_predictions
from musicrs_metric.runs.references import DEFAULT_DATASET

from .board.board import Board
from .board.rows import SubmissionRow
from .board.table_rows import MEASURES, RowQuery, TableRow, table_row, table_rows
from .intake import SubmissionForm, take
from .intake.repo import fetch
from .intake.unpack import lines_of
from .settings import LeaderboardSettings
from .store import Receipt
from .web.rate_limits import RateLimit, Turns

_LOG = logging.getLogger(__name__)
_REFUSALS_PER_SUBMISSION = 5  # whoever fixes a file by trial needs several attempts


@dataclass(frozen=True)
class Submitted:
    """A submission that was accepted.

    Attributes:
        receipt: The key, and the state stored, queued or already.
        row: The row; None if the store does not list it yet.
        warnings: Skipped lines, contradictions and identical rows, in words.
    """

    receipt: Receipt
    row: SubmissionRow | None
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        about = {"state": self.receipt.state, "key": self.receipt.key, "warnings": list(self.warnings)}
        return about | {"row": None if self.row is None else plain_row(table_row(self.row))}


class LeaderboardService:
    """The leaderboard with its limits, for the page and for programs. Safe to use from many threads.

    Args:
        settings: Limits.
        board: The leaderboard with its data and its store.
    """

    def __init__(self, settings: LeaderboardSettings, board: Board) -> None:
        self.settings, self.board = settings, board
        limits = settings.limits
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
            return self._store(upload, form, card)

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
            return self._store(files.predictions, form, files.card, link=files.link)

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
        self._calls.count(caller)
        with self._turns.turn():
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
        return [plain_row(row, details=details) for row in table_rows(self.board, query)]

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
        if self.board.row(key) is None:
            raise UserError(f"found no row {show(key)} on the leaderboard; it may have been removed")
        return key

    def predictions(self, key: str) -> str:
        """Return the predictions of a row as the text of a prediction file, to compute its scores again.

        Raises:
            UserError: There is no such row.
        """
        submission = self.board.submission(key)
        if submission is None:
            raise UserError(f"found no row {show(key)} on the leaderboard; it may have been removed")
        return "".join(map(format_line, submission.predictions))

    @contextmanager
    def _limited(self, caller: str) -> Iterator[None]:
        """Wait for a turn. A refused submission counts towards a limit of its own, not towards that of submissions."""
        self._refusals.check(caller)
        self._submissions.count(caller)
        try:
            with self._turns.turn():
                yield
        except PredictionError:
            self._submissions.take_back(caller)
            self._refusals.count(caller)
            raise

    def _store(self, upload: bytes, form: SubmissionForm, card: bytes | None, *, link: str = "") -> Submitted:
        taken = take(upload, form, self.board.data, self.settings.limits, card=card, link=link)
        self.board.prepare(taken.submission)
        receipt = self.board.store.put(taken.submission)
        try:
            row = self.board.refresh(within_s=0).by_key.get(receipt.key)
        except Exception:  # the submission is stored, and the sender must learn this in any case
            _LOG.exception("the leaderboard cannot be updated")
            row = None
        copies = (
            ()
            if row is None
            else tuple(f"identical to {label}: same ranks of relevant titles" for label in row.identical_to)
        )
        return Submitted(receipt, row, (*taken.warnings, *copies))


def plain_row(row: TableRow, *, details: bool = True) -> dict[str, Any]:
    """Return a row of the table as plain JSON types. Unknown values are None.

    Args:
        row: The row.
        details: True for all known values, instead of the columns of the table.
    """
    shown = {
        "kind": row.kind,
        "name": row.label,
        "key": row.key,
        "modality": row.modality,
        "paradigm": row.paradigm,
        "reads": row.reads,
        "open_weights": row.open_weights,
        "audio_coverage": row.audio_coverage,
        "n": row.n,
        "n_peers": None if row.submission is None else row.submission.peers,
        "unranked": None if row.submission is None else row.submission.unranked,
    }
    measures = MEASURES if details else HEADLINE
    values = {name: row.values[name] for name in measures if name in row.values}
    interval = {name: list(row.interval[name]) for name in measures if name in row.interval}
    standings = {metric: _plain_standing(standing, row, details=details) for metric, standing in row.standings.items()}
    scores: dict[str, Any] = {"values": values, "interval": interval, "standings": standings}
    if standings:
        scores["verdict_rule"] = VERDICT_RULE
    return shown | (_details(row) if details else {}) | scores


def _details(row: TableRow) -> dict[str, Any]:
    submission = row.submission
    if submission is None:
        return {}
    entry, scores = submission.entry, submission.scores
    return {
        "pools": submission.design,
        "other_data": submission.other_data,
        "link": entry.link,
        "description": entry.description,
        "partial": entry.partial,
        "received_at": entry.received_at,
        "n_missing": scores.n_missing,
        "n_unknown": scores.n_unknown,
        "n_duplicate": scores.n_duplicate,
        "answered": row.answered,
        "outcomes": {outcome or "not stated": share for outcome, share in row.outcomes.items()},
    }


def _plain_standing(standing: Standing, row: TableRow, *, details: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "rank": standing.rank if row.is_ranked else None,
        "group": standing.group if row.is_ranked else None,
        "to_chance": None if standing.chance is None else standing.chance.verdict,
        "to_chance_n": None if standing.chance is None else standing.chance.n,
    }
    if details:
        values["rank_interval"] = list(standing.rank_interval) if standing.rank_interval and row.is_ranked else None
    return values
