"""Takedown list: ids and account names that no later release may contain.

A text file with one entry per line: a thread (`t3_...`), a reply (`t1_...`), a video (its eleven characters), an author
(`u/name`), or a link to one of them. A `#` starts a comment. An author stands for all threads and replies of that
account. The list stays in the work folder, so that nothing returns with the next release. Its ids are published, with
pseudonyms in place of names, so that users of an older release can remove the same.

Pools keep their titles. A title is not personal data, and scores on other threads stay comparable.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from musicrs_dataset.audio.fetch.cache import is_video_id
from musicrs_dataset.records import Comment
from musicrs_dataset.youtube import video_id
from musicrs_metric.base.files import write_text
from musicrs_metric.errors import UserError, show
from musicrs_metric.matching import normalise

from ..layout import Work
from ..manifest import Counts
from ..mine.authors import Pseudonyms
from ..parquet import read_rows
from ..refine.ranking import named
from ..refine.schema import Answer, CorpusThread
from .traces import Traces

_NAME = re.compile(r"t[13]_[0-9a-z]+")
_ACCOUNT = re.compile(
    r"(?i)(?:.*[/.])?(?:(?:u|user)/|r/u_)([a-z0-9_-]{3,30})(?:/(?:overview|comments|submitted|posts|about))?/?(?:[?#].*)?"
)
_REPLY_LINK = re.compile(r"(?i).*/comments/[0-9a-z]+/(?:[^/]*|comment)/([0-9a-z]+)(?:\.json)?/?(?:[?#].*)?")
_THREAD_LINK = re.compile(
    r"(?i)(?:.*/(?:comments|gallery)/|(?:.*[/.])?redd\.it/)([0-9a-z]+)(?:\.json)?(?:/[^/]*)?/?(?:[?#].*)?"
)
_SHARE_LINK = re.compile(r"(?:.*reddit\.com)?/?r/\w+/s/(\w{8,12})/?(?:\?.*)?")
_HEAD = "# Removed on request; releases from now on have none of it. Remove it from older ones that you keep.\n"


@dataclass(frozen=True)
class Takedown:
    """Takedown list.

    Attributes:
        ids: Threads, replies, videos and accounts (`u/name`), in the order of the file, each once.
    """

    ids: tuple[str, ...] = ()

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.ids)

    @cached_property
    def _traces(self) -> Traces:
        return Traces(self.ids)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def redact(self, text: str) -> str:
        """Replace entries of the list in a text by `[removed]`, in links of all forms; see `Traces`."""
        return self._traces.redact(text) if self.ids else text

    def with_authored(self, work: Work, pseudonyms: Pseudonyms) -> Takedown:
        """Add the threads and replies of all listed accounts, and the pseudonyms of these accounts.

        Args:
            work: The work folder, filtered.
            pseudonyms: Pseudonyms of the corpus.
        """
        names = [name[2:] for name in self.ids if name.startswith("u/")]
        if not names:
            return self
        gone = {pseudonyms.of(name) for name in names} | set(names)  # a published list has pseudonyms
        authored = [
            row[key]
            for path, key in ((work.threads, "thread_id"), (work.replies, "comment_id"))
            for row in read_rows(path, (key, "author"), "threads")
            if row["author"] in gone
        ]
        accounts = (f"u/{pseudonyms.of(name)}" for name in names)
        return Takedown(tuple(dict.fromkeys((*self.ids, *authored, *accounts))))

    def published(self, pseudonyms: Pseudonyms) -> Takedown:
        """Return the list for a release, with pseudonyms in place of names."""
        known = {f"u/{pseudonyms.of(name[2:])}" for name in self.ids if name.startswith("u/")} & self._known
        return Takedown(tuple(name for name in self.ids if not name.startswith("u/") or name in known))

    def write(self, path: Path) -> None:
        """Write the list in one step."""
        write_text(path, [_HEAD, *(f"{name}\n" for name in self.ids)])


class Left(NamedTuple):
    """Corpus after takedown.

    Attributes:
        threads: Threads in the given order.
        counts: Counts of threads, replies and links.
    """

    threads: list[CorpusThread]
    counts: dict[str, Counts]


def read_takedown(*paths: Path) -> Takedown:
    """Read lists and join them. A missing file is an empty list.

    Raises:
        UserError: A line is no entry.
    """
    ids: dict[str, None] = {}
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        for number, line in enumerate(lines, 1):
            written = re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip()
            if not written:
                continue
            name = entry_of(written)
            if name is None:
                raise UserError(
                    f"{path}, line {number}: found {show(written)}, expected a thread t3_..., a reply t1_..., an "
                    "author u/name, the eleven characters of a video, or a link to one of them"
                )
            ids[name] = None
    return Takedown(tuple(ids))


def entry_of(written: str) -> str | None:
    """Read one entry of a list.

    Args:
        written: An id, an account, or a link to a thread, a reply, a video or a profile.

    Returns:
        `t3_...`, `t1_...`, `u/name` in lower case, or the id of a video or a share link. None for other texts.

    Examples:
        >>> entry_of("https://www.reddit.com/r/jazz/comments/1abcde/a_title/k2def01/")
        't1_k2def01'
    """
    if _NAME.fullmatch(written.lower()):
        return written.lower()
    if is_video_id(written):
        return written
    for link, prefix in ((_REPLY_LINK, "t1_"), (_THREAD_LINK, "t3_"), (_ACCOUNT, "u/")):
        match = link.fullmatch(written)
        if match:
            return prefix + match[1].lower()
    shared = _SHARE_LINK.fullmatch(written)
    return shared[1] if shared else video_id(written)


def take_down(threads: Iterable[CorpusThread], takedown: Takedown) -> Left:
    """Remove the entries of the list.

    Titles that only a removed reply names disappear with it. For other answers, the next reply that names them counts.
    A thread without an answer is removed, too.

    Args:
        threads: The corpus.
        takedown: Takedown list.
    """
    left: list[CorpusThread] = []
    total, removed = Counter[str](), Counter[str]()
    gone: Counter[str] = Counter()
    for thread in threads:
        total.update(threads=1, replies=len(thread.comments), links=len(thread.links))
        rest = None if thread.thread_id in takedown else _rest(thread, takedown)
        if rest is None or not rest.answers:
            gone["taken down" if rest is None else "no answer left"] += 1
            removed.update(replies=len(thread.comments), links=len(thread.links))
        else:
            left.append(rest)
            removed["replies"] += len(thread.comments) - len(rest.comments)
            removed["links"] += len(thread.links) - len(rest.links)
    counts = {"threads": Counts(total["threads"], len(left), dict(gone))}
    for kind in ("replies", "links"):
        dropped = {"taken down, or of such a thread": removed[kind]} if removed[kind] else {}
        counts[kind] = Counts(total[kind], total[kind] - removed[kind], dropped)
    return Left(left, counts)


def _rest(thread: CorpusThread, takedown: Takedown) -> CorpusThread:
    links = tuple(link for link in thread.links if link.video_id not in takedown)
    comments = tuple(comment for comment in thread.comments if comment.id not in takedown)
    if len(comments) == len(thread.comments):
        return replace(thread, links=links)
    forms = {comment.id: {normalise(name) for _, name in named(comment.entities)} for comment in thread.comments}
    still = {form for comment in comments for form in forms[comment.id]}
    lost = {form for own in forms.values() for form in own} - still
    answers = _ranked(thread.answers, comments, forms, takedown)
    return replace(
        thread,
        comments=comments,
        answers=answers,
        ground_truth=tuple(answer.name for answer in answers)[: len(thread.ground_truth)],
        all_entities=tuple(name for name in thread.all_entities if normalise(name) not in lost),
        links=links,
    )


def _ranked(
    answers: Sequence[Answer], comments: Sequence[Comment], forms: Mapping[str, set[str]], takedown: Takedown
) -> tuple[Answer, ...]:
    rank = {comment.id: rank for rank, comment in enumerate(comments)}
    ranked = []
    for answer in answers:
        if answer.comment_id in takedown:
            other = next((comment for comment in comments if normalise(answer.name) in forms[comment.id]), None)
            if other is None:
                continue
            answer = answer._replace(score=other.score, comment_id=other.id)
        ranked.append(answer)
    return tuple(sorted(ranked, key=lambda answer: rank.get(answer.comment_id, len(rank))))
