"""Panels of the page, as HTML from `templates/panels.html.j2`. Players contain checked video ids only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from musicrs_dataset.audio.fetch.cache import is_video_id
from musicrs_dataset.records import Link
from musicrs_metric.base.html import load_template
from musicrs_metric.errors import count

from .session import View
from .worklist import WorkItem

_STATUS = {
    "ok": "its sound is here",
    "gone": "no longer on YouTube",
    "restricted": "cannot be played from here",
    "retry": "its sound could not be fetched yet",
}


def thread_panel(item: WorkItem) -> str:
    """Return the post and its replies, with marked entities."""
    names = sorted({entity.name for entity in item.entities if entity.name}, key=len, reverse=True)
    pattern = re.compile(f"({'|'.join(map(re.escape, names))})", re.IGNORECASE) if names else None

    def pieces(text: str) -> list[str]:
        """Split a text. Every other piece is the name of an entity."""
        return pattern.split(text) if pattern else [text]

    # An invalid id must not become part of a URL.
    on_reddit = re.fullmatch(r"t3_([a-z0-9]+)", item.thread_id)
    return _panel("thread", item, on_reddit and on_reddit[1], pieces)


def player(number: int, link: Link, files: Mapping[str, Path]) -> str:
    """Return a link with its player.

    Args:
        number: Number of the link, from 1.
        link: The link.
        files: Downloaded audio by video id. The player plays it, or else embeds YouTube. Neither loads anything before
            the annotator opens it.
    """
    minutes, seconds = divmod(int(link.start_s), 60)
    start = f"from {minutes}:{seconds:02d}" if link.start_s else ""
    details = [part for part in (start, _STATUS.get(link.status)) if part]
    is_video = is_video_id(link.video_id)
    file = files.get(link.video_id) if is_video else None
    file_url = f"gradio_api/file={quote(str(file))}#t={link.start_s:.0f}" if file else None
    return _panel("player", number, link, details, file_url, is_video)


def progress_panel(view: View) -> str:
    """Return the progress of all annotators, the current one first."""
    annotators = sorted(view.progress, key=lambda one: one.annotator != view.annotator)
    left = view.mine.total - view.mine.finished
    if not view.mine.total:
        summary = "There is no thread left that needs you."
    else:
        summary = f"{count(left, 'thread')} of yours left." if left else "All your threads are finished. Thank you!"
    return _panel("progress", view, annotators, summary)


def status(text: str, problems: Sequence[str] = (), *, sent: float | None = None) -> str:
    """Return the status of answers, which screen readers read aloud.

    Args:
        text: The status in one line.
        problems: Problems of an unfinished thread.
        sent: Time stamp of the saved answers. None if they were not saved.
    """
    return _panel("status", text, problems, sent)


def _panel(name: str, *values: Any) -> str:
    return str(getattr(_panels(), name)(*values)).strip()


@cache
def _panels() -> Any:
    return load_template(__package__, "panels.html.j2").module
