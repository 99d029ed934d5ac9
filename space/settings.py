"""What a leaderboard is told from outside: environment variables, read once, in one frozen object."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.references import DEFAULT_DATASET


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much is taken from anybody.

    Attributes:
        upload_bytes: Size of a prediction file as it is sent, packed or not.
        unpacked_bytes: What may come out of it. A full submission is about 1.5 MB.
        line_bytes: Length of one line.
        lines: Lines, blank ones among them.
        ranking: Titles in one ranking.
        title: Characters of one title.
        name: Characters of a name, and of each other short field.
        link: Characters of a link.
        description: Characters of a description.
        card_bytes: Size of a run card.
        submissions: Submissions of one person within `window_s`; 0 for no limit.
        calls: Other costly calls of one person within `window_s`, and as many uploads; 0 for no limit.
        window_s: What the two limits count over, in seconds.
        queue: Calls that wait for their turn, of everybody together.
        at_once: Submissions worked on at the same time.
    """

    upload_bytes: int = 8_000_000
    unpacked_bytes: int = 32_000_000
    line_bytes: int = 1_000_000
    lines: int = 100_000
    ranking: int = 1_000
    title: int = 2_000
    name: int = 100
    link: int = 300
    description: int = 500
    card_bytes: int = 64_000
    submissions: int = 20
    calls: int = 200
    window_s: int = 3600
    queue: int = 32
    at_once: int = 2


@dataclass(frozen=True, kw_only=True)
class LeaderboardSettings:
    """One leaderboard.

    Attributes:
        dataset: Directory of a built dataset, its installed name, or its id on the Hub.
        results: Folder that holds the submissions and what was computed from them.
        results_repo: Dataset repository on the Hub to which submissions are committed; None for the folder alone.
        token: Token with the right to write to it; never shown, not even by `repr`.
        owners: Names of the signed-in people who see which stored files were set aside; where nobody can sign in,
            they stand in the log alone.
        sign_in: Whether people can sign in with their Hub account, as a Space with `hf_oauth` lets them.
        behind_proxy: Whether all calls come through a proxy that states whom they come from, as in a Space.
        limits: How much is taken from anybody.
    """

    dataset: str = DEFAULT_DATASET
    results: Path = Path("results")
    results_repo: str | None = None
    token: str | None = field(default=None, repr=False)
    owners: tuple[str, ...] = ()
    sign_in: bool = False
    behind_proxy: bool = False
    limits: Limits = Limits()


def from_environment(variables: Mapping[str, str] = os.environ) -> LeaderboardSettings:
    """Read the settings.

    Args:
        variables: MUSICRS_DATASET, RESULTS_DIR, RESULTS_REPO, HF_TOKEN, BOARD_OWNERS (names with commas between them),
            OAUTH_CLIENT_ID (set by a Space with sign-in), SPACE_ID (set by a Space) or BEHIND_PROXY, and of the limits
            SUBMISSIONS_PER_HOUR, CALLS_PER_HOUR, MAX_UPLOAD_MB, MAX_UNPACKED_MB and MAX_QUEUE. What is empty counts as
            absent.

    Raises:
        UserError: A variable of the limits is no whole number.
    """
    given = {name: value.strip() for name, value in variables.items() if value.strip()}
    standard = LeaderboardSettings()
    return LeaderboardSettings(
        dataset=given.get("MUSICRS_DATASET", standard.dataset),
        results=Path(given.get("RESULTS_DIR", standard.results)),
        results_repo=given.get("RESULTS_REPO"),
        token=given.get("HF_TOKEN"),
        owners=tuple(name.strip() for name in given.get("BOARD_OWNERS", "").split(",") if name.strip()),
        sign_in="OAUTH_CLIENT_ID" in given,
        behind_proxy="SPACE_ID" in given or "BEHIND_PROXY" in given,
        limits=_limits(given, standard.limits),
    )


def _limits(given: Mapping[str, str], standard: Limits) -> Limits:
    def number(name: str, default: int, *, unit: int = 1, least: int = 0) -> int:
        value = given.get(name)
        if value is None:
            return default
        if not (value.isascii() and value.isdecimal() and len(value) < 10 and int(value) >= least):
            raise UserError(f"{name} is {show(value)}, expected a whole number from {least}")
        return int(value) * unit

    return Limits(
        upload_bytes=number("MAX_UPLOAD_MB", standard.upload_bytes, unit=1_000_000, least=1),
        unpacked_bytes=number("MAX_UNPACKED_MB", standard.unpacked_bytes, unit=1_000_000, least=1),
        submissions=number("SUBMISSIONS_PER_HOUR", standard.submissions),
        calls=number("CALLS_PER_HOUR", standard.calls),
        queue=number("MAX_QUEUE", standard.queue, least=1),
    )
