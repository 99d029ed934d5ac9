"""Bronze rows: the few columns of a submission or a comment that the making needs, with one type each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .authors import Pseudonyms, is_bot
from .dumps import Kind
from .links import find_links
from .parsing import FIRST_POST, base36, flag, is_missing, plain_text, seconds, whole_number
from .withdrawals import withdrawal

# Raise it when rows change, so that dumps mined before are mined again. 2: all signs of a withdrawal are read.
# 3: more notices, and the nulls, numbers and truth values of tables.
VERSION = 3

Line = Mapping[str, Any]
Row = tuple[Any, ...]
WITHDRAWN = 6  # place of the sign in a row without `dump` and `at`

_ABSENT = object()
_PREFIXES = ("t1_", "t3_")
_INT64 = 1 << 63
_NUMBER = re.compile(r"\d{9,}(?:\.0+)?")  # fewer digits may be an id of digits alone


def bronze_schema(kind: Kind) -> Any:
    """Return the `pyarrow.Schema` of mined rows.

    Both kinds: `dump` and `at`, the file that a row comes from and the place of its line in the decompressed stream,
    in bytes; together they name the row. `created_utc` and `retrieved_on` in seconds since 1970; `score` null where the
    dump has none; `author`, a pseudonym, null where the account is gone; `withdrawn`, the sign that the text was taken
    back (see `builder_scripts.mine.withdrawals`), null where there is none; `bot`, whether a program wrote it. Nothing
    that was taken back is stored: such a row has no texts and no links.

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
        ("withdrawn", pa.string()),
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
    """Make the row of a submission, without `dump` and `at`.

    Returns:
        The row; None where the line has no id or no time, or is a comment.
    """
    name, created = _name(line.get("id"), "t3_"), seconds(line.get("created_utc"))
    if name is None or created is None or created < FIRST_POST or _is_comment(line):
        return None
    title, text = plain_text(line.get("title")), plain_text(line.get("selftext"))
    sign = withdrawal(line, title.strip(), text.strip())
    if sign:
        return (*_common(line, created, sign, authors), name, "", "", [])
    links = find_links(line.get("title"), line.get("selftext"), line.get("url"), _player(line))
    return (*_common(line, created, None, authors), name, title, text, links)


def comment_row(line: Line, authors: Pseudonyms) -> Row | None:
    """Make the row of a comment, without `dump` and `at`.

    Returns:
        The row; None where the line lacks id, time, thread or parent, or is a submission.
    """
    name, created = _name(line.get("id"), "t1_"), seconds(line.get("created_utc"))
    link, parent = line.get("link_id"), line.get("parent_id", _ABSENT)
    thread = link if type(link) is str and link.startswith("t3_") else _name(_number(link), "t3_")
    if name is None or created is None or created < FIRST_POST or thread is None or _is_submission(line):
        return None
    if type(parent) is not str or not parent.startswith(_PREFIXES):
        parent = _parent(parent, thread)
        if parent is None:
            return None
    body = plain_text(line.get("body"))
    stripped = body.strip()
    sign = withdrawal(line, stripped)
    return (
        *_common(line, created, sign, authors), name, thread, parent, "" if sign else body,
        0 if sign else len(stripped), flag(line.get("is_submitter")), flag(line.get("stickied")) is True,
    )  # fmt: skip


MAKE_ROW: Mapping[Kind, Callable[[Line, Pseudonyms], Row | None]] = {
    "submissions": submission_row,
    "comments": comment_row,
}


def _common(line: Line, created: int, sign: str | None, authors: Pseudonyms) -> Row:
    author = line.get("author")
    return (
        line["subreddit"].lower(), created, _retrieved(line), whole_number(line.get("score")),
        authors.of(author), is_bot(author), sign,
    )  # fmt: skip


def _is_comment(line: Line) -> bool:
    """Tell a comment that strayed into a file of submissions, where it could take the place of a post of its id."""
    for field in ("link_id", "parent_id"):  # a table with columns for both kinds has empty ones
        value = line.get(field)
        if value is not None and not is_missing(value):
            return True
    return isinstance(line.get("body"), str) and not isinstance(line.get("title"), str)


def _is_submission(line: Line) -> bool:
    """Tell a submission that strayed into a file of comments."""
    return isinstance(line.get("title"), str) and not isinstance(line.get("body"), str)


def _name(value: object, prefix: str) -> str | None:
    """Write an id as Reddit's full name; dumps give it with or without the prefix. None for another kind's name."""
    if not isinstance(value, str):
        return None
    if value.startswith(prefix):
        return value
    return None if not value or value.startswith(_PREFIXES) else prefix + value


def _number(value: object) -> object:
    """Write a number as the id that it stands for; files of 2022 and 2023 have ids in base 10.

    Tables with gaps turn such a number into a float or a text.
    """
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = int(value.partition(".")[0])
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    return base36(value) if type(value) is int and 0 < value < _INT64 else value


def _parent(value: object, thread: str) -> str | None:
    """Name the parent of a comment; in files of 2022 and 2023 it is null for the post."""
    if value != "" and is_missing(value):
        return thread
    value = _number(value)
    if not isinstance(value, str):
        return None
    if not value or value.startswith(_PREFIXES):
        return value or None
    return thread if value == thread[3:] else f"t1_{value}"


def _retrieved(line: Line) -> int | None:
    """When the line was last brought up to date, by whichever names the makers of dumps have given to that."""
    meta, updated, retrieved = line.get("_meta"), line.get("updated_on"), line.get("retrieved_utc")
    if meta is None and updated is None and retrieved is None:
        return seconds(line.get("retrieved_on"))
    second = meta.get("retrieved_2nd_on") if isinstance(meta, dict) else None
    latest = None
    for value in (second, updated, retrieved, line.get("retrieved_on")):
        if value is not None:
            time = seconds(value)
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
