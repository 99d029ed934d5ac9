"""Settings of a leaderboard, read once from environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.references import DEFAULT_DATASET


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on sizes and on the number of calls.

    Attributes:
        upload_bytes: Bytes of a prediction file, packed or not.
        unpacked_bytes: Bytes of the unpacked file. A full submission has about 1.5 MB.
        line_bytes: Bytes of one line.
        lines: Lines, with blank ones.
        beyond_pool: Titles of one ranking beyond the number of candidates in its pool. Invented titles count as misses.
        title: Characters of one title.
        name: Characters of a name, and of each other short field.
        link: Characters of a link.
        description: Characters of a description.
        card_bytes: Bytes of a run card.
        submissions: Submissions per caller within `window_s`; 0 for no limit. Refused ones have a limit of their own.
        calls: Other costly calls per caller within `window_s`, and as many uploads; 0 for no limit.
        window_s: Window of these limits in seconds.
        queue: Calls of all callers that wait for their turn.
        at_once: Submissions processed at the same time.
    """

    upload_bytes: int = 8_000_000
    unpacked_bytes: int = 32_000_000
    line_bytes: int = 1_000_000
    lines: int = 100_000
    beyond_pool: int = 900
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
    """Settings of one leaderboard.

    Attributes:
        dataset: Directory of a built dataset, its installed name, or its id on the Hub.
        older: The same for older versions of the dataset, newest first. Readers can select them.
        results: Folder of the submissions and of the computed scores.
        results_repo: Dataset repository on the Hub to which submissions are committed; None for the folder only.
        token: Token with write access to that repository. It is never shown, not even by `repr`.
        default_status: Rows that the page shows without a choice: "code", "reproduced", or empty for all.
        owners: User names of the leaderboard owners. Signed in, they see which stored files were set aside. Without
            sign-in, only the log shows these files.
        sign_in: True if users can sign in with their Hub account, as in a Space with `hf_oauth`.
        behind_proxy: True if all calls come through a proxy that adds the IP address of the caller, as in a Space.
        limits: Limits on sizes and calls.
    """

    dataset: str = DEFAULT_DATASET
    older: tuple[str, ...] = ()
    results: Path = Path("results")
    results_repo: str | None = None
    token: str | None = field(default=None, repr=False)
    default_status: str = ""
    owners: tuple[str, ...] = ()
    sign_in: bool = False
    behind_proxy: bool = False
    limits: Limits = Limits()


def from_environment(variables: Mapping[str, str] = os.environ) -> LeaderboardSettings:
    """Read the settings.

    Args:
        variables: MUSICRS_DATASET, MUSICRS_OLDER (datasets separated by commas), RESULTS_DIR, RESULTS_REPO, HF_TOKEN,
            BOARD_STATUS (code or reproduced), BOARD_OWNERS (names separated by commas), OAUTH_CLIENT_ID (set by a Space
            with sign-in), SPACE_ID (set by a Space) or BEHIND_PROXY, and the limits SUBMISSIONS_PER_HOUR,
            CALLS_PER_HOUR, MAX_UPLOAD_MB, MAX_UNPACKED_MB and MAX_QUEUE. An empty variable counts as absent.

    Raises:
        UserError: A limit is not a whole number, or a variable has an unknown choice.
    """
    values = {name: value.strip() for name, value in variables.items() if value.strip()}
    standard = LeaderboardSettings()
    status = values.get("BOARD_STATUS", "")
    if status not in ("", "code", "reproduced"):
        raise UserError(f"BOARD_STATUS is {show(status)}, expected code or reproduced")
    return LeaderboardSettings(
        dataset=values.get("MUSICRS_DATASET", standard.dataset),
        results=Path(values.get("RESULTS_DIR", standard.results)),
        results_repo=values.get("RESULTS_REPO"),
        token=values.get("HF_TOKEN"),
        older=_listed(values.get("MUSICRS_OLDER", "")),
        default_status=status,
        owners=_listed(values.get("BOARD_OWNERS", "")),
        sign_in="OAUTH_CLIENT_ID" in values,
        behind_proxy="SPACE_ID" in values or "BEHIND_PROXY" in values,
        limits=_limits(values, standard.limits),
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _limits(values: Mapping[str, str], standard: Limits) -> Limits:
    def number(name: str, default: int, *, unit: int = 1, least: int = 0) -> int:
        value = values.get(name)
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
