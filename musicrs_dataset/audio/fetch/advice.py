"""Say why a run stopped, and what may be wrong."""

from __future__ import annotations

from .failures import Failure
from .kinds import BOT_CHECK, DISK, NETWORK, RATE_LIMIT

_WHAT_TO_DO = {
    BOT_CHECK.why: "wait an hour or give --cookies, then start it again",
    DISK.why: "make room or give another --cache, then start it again",
    NETWORK.why: "see to the network, then start it again",
    RATE_LIMIT.why: "wait an hour, then start it again",
}
# Each with the option that changes it.
_WHAT_MAY_BE_WRONG = (
    "the client (update yt-dlp, or --yt-dlp player-client=NAMES)",
    "the cookies (--cookies FILE, or --yt-dlp cookies-from-browser=NAME)",
    "a missing PO token (a provider plugin, or --yt-dlp po-token=TOKEN)",
    "the JavaScript runtime (pip install 'yt-dlp[default,deno]', or --yt-dlp js-runtimes=node)",
    "the address of this machine (--yt-dlp proxy=URL or source-address=IP)",
)
_WARNINGS = 10


def why_stopped(video_id: str, failure: Failure) -> list[str]:
    """Describe a failure that stopped a run.

    Args:
        video_id: Its video.
        failure: The failure, with yt-dlp's warnings.

    Returns:
        One line with the reason and the remedy, then one line per warning, at most 10.
    """
    kind, detail, in_a_row, warnings = failure
    reason = f"{kind.why} at {video_id} ({detail})"
    remedy = _WHAT_TO_DO.get(kind.why, "wait an hour, then start it again")
    if in_a_row and kind.why != NETWORK.why:
        reason = f"{in_a_row} equal failures in a row, the last: {reason}"
        remedy = f"the videos are probably not the cause; check {'; '.join(_WHAT_MAY_BE_WRONG)}; " + _WHAT_TO_DO.get(
            kind.why, "then start it again"
        )
    lines = [f"stopped: {reason}; {remedy}", *(f"yt-dlp warns: {text}" for text in warnings[:_WARNINGS])]
    if len(warnings) > _WARNINGS:
        lines.append(f"yt-dlp gave {len(warnings) - _WARNINGS} further warnings")
    return lines
