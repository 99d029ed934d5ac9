"""What can be done at the board, whoever asks, page or program: submit, score, look, take predictions home."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

from musicrs_metric.chance import VERDICT_RULE
from musicrs_metric.compare import HEADLINE
from musicrs_metric.compare.results import Standing
from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.predictions import PREDICTIONS, format_line, read_prediction_lines
from musicrs_metric.runs.read import score_predictions
from musicrs_metric.runs.references import DEFAULT_DATASET

from .board.board import Board
from .board.lines import MEASURES, Line, Query, line_of, lines
from .board.rows import Row
from .intake import Form, take
from .intake.repo import fetch
from .intake.unpack import lines_of
from .settings import Settings
from .store import Receipt
from .web.rate_limits import RateLimit, Turns

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Submitted:
    """A submission that was taken.

    Attributes:
        receipt: Its key and whether it is stored, queued, or was there already.
        row: Its row; None where the store does not show it yet.
        warnings: What was set aside while reading, in words.
    """

    receipt: Receipt
    row: Row | None
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        about = {"state": self.receipt.state, "key": self.receipt.key, "warnings": list(self.warnings)}
        return about | {"row": None if self.row is None else plain_line(line_of(self.row))}


class LeaderboardService:
    """The board with its limits. Safe to use from many threads.

    Args:
        settings: Limits.
        board: The board, with its data and its store.
    """

    def __init__(self, settings: Settings, board: Board) -> None:
        self.settings, self.board = settings, board
        limits = settings.limits
        self._submissions = RateLimit(limits.submissions, limits.window_s, "submission")
        self._calls = RateLimit(limits.calls, limits.window_s, "call")
        self._turns = Turns(limits.at_once, limits.queue)

    def submit(self, upload: bytes, form: Form, *, caller: str, card: bytes | None = None) -> Submitted:
        """Judge a submission, keep it, and rank it.

        Args:
            upload: The prediction file, packed or not.
            form: What is said of the system.
            caller: Who sends it, from `space.web.rate_limits.caller_of`.
            card: Content of `run.json`; None where there is none.

        Returns:
            The receipt and the row.

        Raises:
            IntakeError: Everything that is wrong with it; nothing was kept.
            TryLaterError: Too many at once.
        """
        self._submissions.count(caller)
        with self._turns.turn():
            return self._keep(upload, form, card)

    def submit_repo(self, repo: object, kind: object, form: Form, *, caller: str) -> Submitted:
        """Take a submission from a public repository on the Hub, judge it, keep it, and rank it.

        Args:
            repo: `owner/name`.
            kind: "dataset" or "model".
            form: What its `run.json` does not say; without a link, the board links the repository.
            caller: Who sends it.

        Returns:
            The receipt and the row.

        Raises:
            IntakeError: Everything that is wrong with it; nothing was kept.
            TryLaterError: Too many at once.
            UserError: The Hub does not answer.
        """
        self._submissions.count(caller)
        with self._turns.turn():
            found = fetch(repo, kind, self.settings.limits)
            return self._keep(found.predictions, replace(form, link=form.link or found.link), found.card)

    def score(self, upload: bytes, *, caller: str, pools: str | None = None) -> dict[str, Any]:
        """Score predictions and keep nothing.

        Args:
            upload: The prediction file, packed or not; threads may be missing, and score 0.
            caller: Who sends it.
            pools: Name of the pools that it ranked; None for the first design.

        Returns:
            What `musicrs-metric score --json --by genre` prints.

        Raises:
            PredictionError: Everything that is wrong with the file.
            UserError: There are no such pools.
            TryLaterError: Too many at once.
        """
        design = self.board.data.design(pools)
        self._calls.count(caller)
        with self._turns.turn():
            found = read_prediction_lines(lines_of(upload, self.settings.limits), PREDICTIONS, design.references)
            made = score_predictions(found, design.references, by=["genre"]).to_dict()
        return made | {"dataset": DEFAULT_DATASET, "pools": design.name}

    def _keep(self, upload: bytes, form: Form, card: bytes | None) -> Submitted:
        taken = take(upload, form, self.board.data, self.settings.limits, card=card)
        receipt = self.board.store.put(taken.submission)
        try:
            row = self.board.refresh().by_key.get(receipt.key)
        except Exception:  # whatever it is, the sender is to hear that the submission is safe
            _LOG.exception("the board cannot be made anew")
            row = None
        return Submitted(receipt, row, taken.warnings)

    def leaderboard(self, query: Query, *, details: bool = False) -> list[dict[str, Any]]:
        """The lines of the table as plain JSON types.

        Args:
            query: Which lines.
            details: All that is known of each, in place of what a table shows.

        Raises:
            UserError: The query names what there is not.
        """
        return [plain_line(line, details=details) for line in lines(self.board, query)]

    def predictions(self, key: str) -> str:
        """The predictions of a row as the text of a prediction file, from which anybody can compute its scores again.

        Raises:
            UserError: There is no such row.
        """
        submission = self.board.submission(key)
        if submission is None:
            raise UserError(f"found no row {show(key)} on the board; it may have been taken away")
        return "".join(map(format_line, submission.predictions))


def plain_line(line: Line, *, details: bool = True) -> dict[str, Any]:
    """A line of the table as plain JSON types; what nobody knows is None.

    Args:
        line: The line.
        details: All measures and all that was said and counted, in place of what a table shows.
    """
    shown = {
        "kind": line.kind,
        "name": line.label,
        "key": line.key,
        "modality": line.modality,
        "paradigm": line.paradigm,
        "reads": line.reads,
        "open_weights": line.open_weights,
        "audio_coverage": line.audio_coverage,
        "n": line.n,
        "n_peers": None if line.row is None else line.row.peers,
    }
    measures = MEASURES if details else HEADLINE
    values = {name: line.values[name] for name in measures if name in line.values}
    interval = {name: list(line.interval[name]) for name in measures if name in line.interval}
    standings = {metric: _plain_standing(one, line, details=details) for metric, one in line.standings.items()}
    scores: dict[str, Any] = {"values": values, "interval": interval, "standings": standings}
    if standings:
        scores["verdict_rule"] = VERDICT_RULE
    return shown | (_details(line) if details else {}) | scores


def _details(line: Line) -> dict[str, Any]:
    row = line.row
    if row is None:
        return {}
    said, counts = row.entry, row.scores
    return {
        "pools": row.design,
        "link": said.link,
        "description": said.description,
        "partial": said.partial,
        "received_at": said.received_at,
        "n_missing": counts.n_missing,
        "n_unknown": counts.n_unknown,
        "n_duplicate": counts.n_duplicate,
        "answered": line.answered,
        "outcomes": {outcome or "not stated": share for outcome, share in line.outcomes.items()},
    }


def _plain_standing(one: Standing, line: Line, *, details: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "rank": one.rank if line.is_ranked else None,
        "group": one.group if line.is_ranked else None,
        "to_chance": None if one.chance is None else one.chance.verdict,
        "to_chance_n": None if one.chance is None else one.chance.n,
    }
    if details:
        made["rank_interval"] = list(one.rank_interval) if one.rank_interval and line.is_ranked else None
    return made
