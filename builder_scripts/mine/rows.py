"""Bronze rows: the few columns of a submission or a comment that the making needs, with one type each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .authors import Pseudonyms, is_bot
from .dumps import Kind
from .links import find_links
from .parsing import plain_text, whole_number

VERSION = 1  # raise it when rows change, so that dumps mined before are mined again

Line = Mapping[str, Any]
Row = tuple[Any, ...]

# What Reddit and its readers put in the place of a text.
_DELETED = frozenset({"[deleted]", "[removed]", "[deleted by user]", "[removed by reddit]", "[ removed by reddit ]"})


def bronze_schema(kind: Kind) -> Any:
    """Return the `pyarrow.Schema` of mined rows.

    Both kinds: `dump` and `at`, the file that a row comes from and the place of its line in the decompressed stream,
    in bytes; together they name the row. `created_utc` and `retrieved_on` in seconds since 1970; `score` null where the
    dump has none; `author`, a pseudonym, null where the account is gone; `deleted`, whether the text was taken back by
    its author or a moderator; `bot`, whether a program wrote it.

    Submissions: `links`, the YouTube videos of title, text, address and player, each once.

    Comments: `chars`, the length of the body without blanks around it, in code points; `is_submitter` null in dumps
    that do not say it.
    """
    import pyarrow as pa

    link = pa.struct([("video_id", pa.string()), ("start_s", pa.float64()), ("url", pa.string())])
    origin = [("dump", pa.string()), ("at", pa.int64())]
    common = [
        ("subreddit", pa.string()),
        ("created_utc", pa.int64()),
        ("retrieved_on", pa.int64()),
        ("score", pa.int64()),
        ("author", pa.string()),
        ("bot", pa.bool_()),
        ("deleted", pa.bool_()),
    ]
    own = {
        "submissions": [
            ("thread_id", pa.string()),
            ("title", pa.string()),
            ("text", pa.string()),
            ("links", pa.list_(link)),
        ],
        "comments": [
            ("comment_id", pa.string()),
            ("thread_id", pa.string()),
            ("parent_id", pa.string()),
            ("body", pa.string()),
            ("chars", pa.int64()),
            ("is_submitter", pa.bool_()),
            ("stickied", pa.bool_()),
        ],
    }
    return pa.schema([*origin, *common, *own[kind]])


def submission_row(line: Line, authors: Pseudonyms) -> Row | None:
    """Make the row of a submission, without `dump` and `at`; None where it has no id or no time."""
    name, created = _name(line.get("id"), "t3_"), whole_number(line.get("created_utc"))
    if name is None or created is None:
        return None
    title, text = plain_text(line.get("title")), plain_text(line.get("selftext"))
    links = find_links(line.get("title"), line.get("selftext"), line.get("url"), _player(line))
    deleted = _is_marker(title.strip()) or _is_marker(text.strip()) or line.get("removed_by_category") is not None
    return (*_common(line, created, authors), deleted, name, title, text, links)


def comment_row(line: Line, authors: Pseudonyms) -> Row | None:
    """Make the row of a comment, without `dump` and `at`; None where it lacks id, time, thread or parent."""
    name, created = _name(line.get("id"), "t1_"), whole_number(line.get("created_utc"))
    thread, parent = _name(line.get("link_id"), "t3_"), line.get("parent_id")
    if name is None or created is None or thread is None or not isinstance(parent, str):
        return None
    body = plain_text(line.get("body"))
    stripped = body.strip()
    said, stickied = line.get("is_submitter"), line.get("stickied") is True
    return (
        *_common(line, created, authors), _is_marker(stripped), name, thread, parent, body, len(stripped),
        said if isinstance(said, bool) else None, stickied,
    )  # fmt: skip


MAKE_ROW: Mapping[Kind, Callable[[Line, Pseudonyms], Row | None]] = {
    "submissions": submission_row,
    "comments": comment_row,
}


def _common(line: Line, created: int, authors: Pseudonyms) -> Row:
    author = line.get("author")
    return (
        line["subreddit"].lower(), created, _retrieved(line), whole_number(line.get("score")),
        authors.of(author), is_bot(author),
    )  # fmt: skip


def _name(value: object, prefix: str) -> str | None:
    """Write an id as Reddit's full name; dumps give it with or without the prefix."""
    if not isinstance(value, str) or not value:
        return None
    return value if value.startswith(prefix) else prefix + value


def _retrieved(line: Line) -> int | None:
    """When the line was last brought up to date, by whichever names the makers of dumps have given to that."""
    meta = line.get("_meta")
    second = meta.get("retrieved_2nd_on") if isinstance(meta, dict) else None
    latest = None
    for value in (second, line.get("updated_on"), line.get("retrieved_utc"), line.get("retrieved_on")):
        if value is not None:
            time = whole_number(value)
            if time is not None and (latest is None or time > latest):
                latest = time
    return latest


def _player(line: Line) -> object:
    """The HTML of the player that Reddit embedded; in some submissions the video stands nowhere else."""
    for field in ("secure_media", "media"):
        media = line.get(field)
        oembed = media.get("oembed") if isinstance(media, dict) else None
        if isinstance(oembed, dict):
            return oembed.get("html")
    return None


def _is_marker(stripped: str) -> bool:
    return stripped.startswith("[") and stripped.lower() in _DELETED
