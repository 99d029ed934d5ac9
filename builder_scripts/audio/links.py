"""The links whose sound is wanted, and what became of each video: `gold/videos.jsonl`.

```json
{"video_id": "jNQXAC9IVRw", "status": "ok", "why": "", "sha256": "9f86d0..."}
{"video_id": "dQw4w9WgXcQ", "status": "gone", "why": "private", "sha256": null}
```
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from musicrs_dataset.audio.download_ledger import read_entries
from musicrs_dataset.audio.fetch.cache import AudioCache
from musicrs_dataset.audio.fetch.summary import video_ids
from musicrs_dataset.records import LinkStatus, Thread
from musicrs_metric.base.files import strict_json

from ..annotate.judgement import Judgement
from ..annotate.worklist import MUSIC
from ..layout import Work
from ..lines import read_lines
from ..refine.schema import read_corpus


@dataclass(frozen=True, slots=True)
class Video:
    """What became of a video.

    Attributes:
        video_id: Its eleven characters.
        status: `ok` where its sound lies in the work folder.
        why: The reason in a word or two, where it is not to be had.
        sha256: Of its sound; None where there is none.
    """

    video_id: str
    status: LinkStatus
    why: str = ""
    sha256: str | None = None


def linked_threads(work: Work) -> list[Thread]:
    """The threads of the corpus with the links to use.

    Args:
        work: The work folder, refined.

    Returns:
        A thread that people have judged has the links that they kept, corrected or added, and is left out where it is
        not about music; any other has all that its post names.

    Raises:
        UserError: `refine` was not run, or the labels are damaged.
    """
    labels = {label.thread_id: label for label in read_lines(work.labels, Judgement)} if work.labels.is_file() else {}
    threads = []
    for thread in read_corpus(work.corpus):
        label = labels.get(thread.thread_id)
        if label is None:
            threads.append(thread.to_thread())
        elif label.category == MUSIC:
            threads.append(replace(thread.to_thread(), links=label.kept_links()))
    return threads


def look_up(threads: Sequence[Thread], cache: Path) -> list[Video]:
    """Find what is known of the videos of threads, each once, in the order of the threads."""
    entries, there = read_entries(cache), AudioCache(cache).videos()
    found = []
    for video_id in video_ids(threads):
        entry = entries.get(video_id)
        if video_id in there:
            found.append(Video(video_id, "ok", sha256=_sha256(there[video_id])))
        elif entry is not None:
            found.append(Video(video_id, entry.status, entry.why))
        else:
            found.append(Video(video_id, "new"))
    return found


def _sha256(sound: Path) -> str | None:
    """As the download noted it beside the file; None where the file was put there by other means."""
    try:
        noted = strict_json(sound.with_suffix(".json").read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return noted if isinstance(noted, str) else None
