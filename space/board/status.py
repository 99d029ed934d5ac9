"""Status of a row, and marks of results that a reader should question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from musicrs_metric.compare import HEADLINE

if TYPE_CHECKING:
    from musicrs_metric.scoring import Scores

    from ..submission import SubmissionEntry
    from .rows import SubmissionRow

Status = Literal["declared", "code", "reproduced"]
StatusFilter = Literal["", "code", "reproduced"]

STATUS_WORDS = {"declared": "self-declared", "code": "code linked", "reproduced": "reproduced by the owner"}
"""Status to its words on the page."""
LABELS_ARE_PUBLIC = (
    "The labels are public, so anyone can write a file with a perfect score. The leaderboard marks what it can detect; "
    "only the status “reproduced” means that its owner has run the system."
)
_ORDER: tuple[Status, ...] = ("declared", "code", "reproduced")
_AT_CEILING = 0.95  # share of the ceiling from which a score is marked
_TELLING = 0.8  # a measure whose chance level is above this share of the ceiling shows nothing


def status_of(entry: SubmissionEntry) -> Status:
    """Return the status of a submission. The owner sets "reproduced"; a link to its code gives "code"."""
    if entry.note.reproduced_at:
        return "reproduced"
    return "code" if entry.code_link else "declared"


def is_at_least(status: Status | None, wanted: StatusFilter) -> bool:
    """Return True if a status passes a filter. A reproduced row also passes "code"."""
    return not wanted or (status is not None and _ORDER.index(status) >= _ORDER.index(wanted))


def marks(row: SubmissionRow) -> tuple[str, ...]:
    """List in words what a reader should question about a row.

    Args:
        row: The row.

    Returns:
        Identical rows, a score at the ceiling, audio input without audio coverage, and another version of the data.
    """
    card = row.entry.card
    found = [f"identical to {label}" for label in row.identical_to]
    if is_at_ceiling(row.scores):
        found.append("at the ceiling")
    if card.modality != "query_only" and not (card.audio_coverage or {}).get("threads"):
        found.append("audio modality without audio coverage")
    if row.other_data:
        found.append("made on older data")
    return tuple(found)


def is_at_ceiling(scores: Scores) -> bool:
    """Return True if a headline measure reaches 95 % of the best possible score, and random orders do not come near."""
    chance = scores.chance or {}
    for metric in HEADLINE:
        value, best, level = scores.values[metric], scores.ceiling[metric], chance.get(metric)
        if value is None or not best or level is None:
            continue
        if level <= _TELLING * best and value >= _AT_CEILING * best:
            return True
    return False
