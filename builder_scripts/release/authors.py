"""Who wrote what, without a name: pseudonyms in a table of their own, and in place of names that texts mention."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from musicrs_dataset.personal import ACCOUNT
from musicrs_metric.base.files import to_json, write_text

from ..layout import Work
from ..mine.authors import Pseudonyms
from ..parquet import read_rows
from ..refine.schema import CorpusThread


def without_names(text: str, pseudonyms: Pseudonyms) -> str:
    """Put the pseudonym of an account where a text mentions it.

    Args:
        text: Any text, or JSON.
        pseudonyms: Of the corpus, so that who is mentioned and who writes has one pseudonym.
    """
    return ACCOUNT.sub(lambda found: f"{found[1]}{pseudonyms.of(found[2].replace(chr(92), ''))}", text)


def write_authors(path: Path, work: Work, threads: Iterable[CorpusThread]) -> None:
    """Write `{"thread_id", "author", "comments": {id: author}}` for each thread, null where an account is gone.

    One pseudonym is one account in the whole corpus: enough to keep what one person asked on one side of a split, or
    to see whether somebody answers everywhere.

    Args:
        path: JSON lines.
        work: The work folder, filtered.
        threads: What is released.
    """
    write_text(path, _lines(work, threads))


def _lines(work: Work, threads: Iterable[CorpusThread]) -> Iterator[str]:
    askers = {row["thread_id"]: row["author"] for row in read_rows(work.threads, ("thread_id", "author"), "threads")}
    writers: dict[str, dict[str, str | None]] = defaultdict(dict)
    for row in read_rows(work.replies, ("thread_id", "comment_id", "author"), "threads"):
        writers[row["thread_id"]][row["comment_id"]] = row["author"]
    for thread in threads:
        own = writers[thread.thread_id]
        comments = {comment.id: own.get(comment.id) for comment in thread.comments}
        line = {"thread_id": thread.thread_id, "author": askers.get(thread.thread_id), "comments": comments}
        yield to_json(line) + "\n"
