"""Links to download, and the status of each video: `gold/videos.jsonl`.

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
    """Status of a video.

    Attributes:
        video_id: Its eleven characters.
        status: `ok` if its audio is in the work folder.
        why: Reason of another status, in a word or two.
        sha256: Hash of the audio. None if there is no audio.
    """

    video_id: str
    status: LinkStatus
    why: str = ""
    sha256: str | None = None


def linked_threads(work: Work) -> list[Thread]:
    """Return the threads of the corpus with their links.

    Args:
        work: The work folder, refined.

    Returns:
        A judged thread about music has the links that annotators kept, corrected or added. A judged thread about
        something else is dropped. Any other thread has all links of its post.

    Raises:
        UserError: `refine` has not been run, or the labels are damaged.
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
    """Return the status of the videos of threads, each once, in the order of the threads."""
    entries, files = read_entries(cache), AudioCache(cache).videos()
    videos = []
    for video_id in video_ids(threads):
        entry = entries.get(video_id)
        if video_id in files:
            videos.append(Video(video_id, "ok", sha256=_sha256(files[video_id])))
        elif entry is not None:
            videos.append(Video(video_id, entry.status, entry.why))
        else:
            videos.append(Video(video_id, "new"))
    return videos


def _sha256(audio: Path) -> str | None:
    """Return the hash that the download recorded. None if the file came from elsewhere."""
    try:
        recorded = strict_json(audio.with_suffix(".json").read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return recorded if isinstance(recorded, str) else None
