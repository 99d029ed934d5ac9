"""Equal failures in a row: a sign that the set-up is wrong, and not the videos."""

from __future__ import annotations

from ..download_ledger import Entry
from .failures import Failure, shape
from .kinds import BOT_CHECK, NETWORK, NETWORK_DOWN

EQUAL_IN_A_ROW = 10
_BROKEN_IN_A_ROW = 5  # connections; fewer, because each takes several retries


class Streak:
    """Counts equal failures in a row; reasons are equal that differ in the video id and in numbers only.

    Final reasons neither count nor interrupt: they concern one video. The same holds for a video that failed in the
    same way before, once anything was downloaded: a corpus may hold dozens of videos that stay unavailable, and they
    must not stop every later run. A bot check always counts, because it concerns the session.

    Args:
        any_downloaded: Whether the cache holds audio already.
    """

    def __init__(self, any_downloaded: bool) -> None:
        self._any_downloaded = any_downloaded
        self._reason, self._equal, self._broken = "", 0, 0

    def add(self, video_id: str, failure: Failure | None, before: Entry | None) -> Failure | None:
        """Count the next outcome.

        Args:
            video_id: The video.
            failure: Its failure; None for a download.
            before: Its entry in the ledger before this run.

        Returns:
            The failure, with a kind that stops the run where enough of its kind came in a row.
        """
        self._broken = self._broken + 1 if failure and failure.kind == NETWORK else 0
        if failure is None:
            self._any_downloaded, self._equal = True, 0
            return None
        if self._broken >= _BROKEN_IN_A_ROW:
            return failure._replace(kind=NETWORK_DOWN, in_a_row=self._broken)
        reason = shape(failure.detail, video_id)
        known = before is not None and shape(before.detail, video_id) == reason
        if failure.kind.status == "gone" or (known and self._any_downloaded and failure.kind != BOT_CHECK):
            return failure
        self._equal = self._equal + 1 if reason == self._reason else 1
        self._reason = reason
        if self._equal < EQUAL_IN_A_ROW:
            return failure
        return failure._replace(kind=failure.kind._replace(stops=True), in_a_row=self._equal)
