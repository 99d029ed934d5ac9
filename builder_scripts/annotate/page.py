"""Panels of the page, as HTML with escaped texts.

Titles, posts, replies, names and links come from Reddit users, so they are always escaped. Players contain checked
video ids only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from musicrs_dataset.audio.fetch.cache import is_video_id
from musicrs_dataset.records import Link
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
    names = [entity.name for entity in item.entities]
    replies = "".join(
        f'<li><span class="score" title="score">{"" if reply.score is None else reply.score}</span>'
        f'<div class="text">{_marked(reply.text, names)}</div></li>'
        for reply in item.replies
    )
    # An invalid id must not become part of a URL.
    on_reddit = re.fullmatch(r"t3_([a-z0-9]+)", item.thread_id)
    source = (
        f' · <a href="https://redd.it/{on_reddit[1]}" target="_blank" rel="noopener noreferrer">on Reddit</a>'
        if on_reddit
        else ""
    )
    return (
        f'<article class="thread"><p class="source">r/{escape(item.subreddit)} · {escape(item.thread_id)}{source}</p>'
        f'<h2>{_marked(item.title, names)}</h2><div class="text">{_marked(item.text, names)}</div>'
        f"<h3>{count(len(item.replies), 'reply').replace('replys', 'replies')}</h3><ol>{replies}</ol></article>"
    )


def player(number: int, link: Link, files: Mapping[str, Path]) -> str:
    """Return a link with its player.

    Args:
        number: Number of the link, from 1.
        link: The link.
        files: Downloaded audio by video id. The player plays it, or else embeds YouTube. Neither loads anything before
            the annotator opens it.
    """
    details = "".join(f" · {escape(part)}" for part in (_clock(link.start_s), _STATUS.get(link.status, "")) if part)
    file = files.get(link.video_id)
    if not is_video_id(link.video_id):
        sound = ""
    elif file is not None:
        sound = f'<audio controls preload="none" src="gradio_api/file={quote(str(file))}#t={link.start_s:.0f}"></audio>'
    else:
        address = f"https://www.youtube-nocookie.com/embed/{link.video_id}?start={link.start_s:.0f}"
        sound = (
            f'<details><summary>Play</summary><iframe loading="lazy" src="{address}" title="Player of link {number}" '
            'sandbox="allow-scripts allow-same-origin allow-presentation allow-popups" '
            'referrerpolicy="strict-origin-when-cross-origin" allow="encrypted-media; fullscreen"></iframe></details>'
        )
    return f'<div class="link"><b>Link {number}</b>{details}<br><code>{escape(link.url)}</code>{sound}</div>'


def progress_panel(view: View | None) -> str:
    """Return the progress of all annotators, the current one first."""
    if view is None:
        return ""
    everybody = sorted(view.progress, key=lambda one: one.annotator != view.annotator)
    rows = "".join(
        f"<li><span>{escape(one.annotator)}</span>"
        f'<progress max="{max(one.total, 1)}" value="{one.finished}"></progress>'
        f"<span>{one.finished} of {one.total}</span></li>"
        for one in everybody
    )
    place = f"Thread {view.place + 1} of {view.mine.total}. " if view.item else ""
    left = view.mine.total - view.mine.finished
    if not view.mine.total:
        summary = "There is no thread left that needs you."
    else:
        summary = f"{count(left, 'thread')} of yours left." if left else "All your threads are finished. Thank you!"
    return f'<p class="place">{place}{summary}</p><ul class="progress">{rows}</ul>'


def status(text: str, problems: Sequence[str] = (), *, sent: float | None = None) -> str:
    """Return the status of answers, which screen readers read aloud.

    Args:
        text: The status in one line.
        problems: Problems of an unfinished thread.
        sent: Time stamp of the saved answers. None if they were not saved.
    """
    listed = "".join(f"<li>{escape(problem)}</li>" for problem in problems)
    kind = "failed" if sent is None else "open" if problems else "fine"
    stamp = "" if sent is None else f' data-sent="{sent!r}"'
    return f'<div role="status" class="{kind}"{stamp}>{escape(text)}{listed and f"<ul>{listed}</ul>"}</div>'


def _marked(text: str, names: Sequence[str]) -> str:
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if name)
    if not pattern:
        return escape(text)
    pieces = re.split(f"({pattern})", text, flags=re.IGNORECASE)
    return "".join(
        f"<mark>{escape(piece)}</mark>" if place % 2 else escape(piece) for place, piece in enumerate(pieces)
    )


def _clock(seconds: float) -> str:
    if not seconds:
        return ""
    minutes, rest = divmod(int(seconds), 60)
    return f"from {minutes}:{rest:02d}"
