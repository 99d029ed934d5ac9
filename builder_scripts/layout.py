"""Layout of a work folder: bronze as mined, silver as filtered, gold as judged.

```
WORK/
  bronze/submissions/RS_2019-06.parquet    one file per dump, every row of the wanted subreddits
  bronze/comments/RC_2019-06.parquet
  silver/threads.parquet, replies.parquet  the paper's filters
  gold/...                                 entities, queries, labels, pools, by models and annotators
  cache/                                   answers of models
  audio/                                   downloaded audio
  release/<name>/                          the dataset, with everything that may be published
  private/author_salt                      never part of a release
```

Every stage also writes `_<stage>.json` in its folder (see `builder_scripts.manifest`). Readers of a folder of Parquet,
Spark included, skip names that begin with `_`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from musicrs_metric.errors import UserError


class _Below:
    """Path below the root of a work folder."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __get__(self, work: Work, _: type[Work]) -> Path:
        return work.root / self._path


@dataclass(frozen=True)
class Work:
    """The work folder of one corpus.

    Attributes:
        root: The folder. It need not exist.
        bronze: Rows of the dumps, typed and narrow.
        submissions: Folder of mined submissions, one Parquet file per dump.
        comments: Folder of mined comments, one Parquet file per dump.
        silver: Threads and replies that passed the filters.
        threads: Submissions with a video and enough replies; see `builder_scripts.threads.run`.
        replies: First-level replies of these threads; see `builder_scripts.threads.run`.
        gold: Output of models and annotators.
        entities: Songs, artists and albums per thread and reply, from stage `extract`.
        queries: Query of each thread, from stage `queries`.
        corpus: Threads with settled entities and ground truth, from stage `refine`.
        merges: Spellings that `refine` merged or proposes to merge, for review.
        audio: Downloaded audio, from stage `audio`.
        worklist: Threads to judge, from `annotate prepare`.
        annotations: Folder of the annotators' answers. It names them, so it is private.
        agreement: Folder of the output of `annotate agree`. It names annotators, so it is private.
        labels: Decisions of the annotators, from stage `annotate`.
        videos: Status of each linked video, from stage `audio`.
        settled: The corpus after annotation, from stage `pools`.
        pools: Folder of the candidate pools, `<design>.jsonl`, from stage `pools`.
        release: Folder of the releases, one folder each, from stage `release`.
        baseline: Run and score of a system on the release.
        cache: Answers of models by content, so that a second run asks no question twice.
        takedown: Ids that no release may contain, from stage `release`.
        salt: Random key of the author pseudonyms. It can reveal authors, so it never leaves the work folder.
    """

    root: Path

    bronze = _Below("bronze")
    submissions = _Below("bronze/submissions")
    comments = _Below("bronze/comments")
    silver = _Below("silver")
    threads = _Below("silver/threads.parquet")
    replies = _Below("silver/replies.parquet")
    gold = _Below("gold")
    entities = _Below("gold/entities.parquet")
    queries = _Below("gold/queries.parquet")
    corpus = _Below("gold/corpus.jsonl")
    merges = _Below("gold/merges.csv")
    audio = _Below("audio")
    worklist = _Below("gold/worklist.jsonl")
    annotations = _Below("private/annotations")
    agreement = _Below("private/agreement")
    labels = _Below("gold/labels.jsonl")
    videos = _Below("gold/videos.jsonl")
    settled = _Below("gold/settled.jsonl")
    pools = _Below("gold/pools")
    release = _Below("release")
    baseline = _Below("baseline")
    cache = _Below("cache")
    takedown = _Below("takedown.txt")
    salt = _Below("private/author_salt")


def require(paths: Sequence[Path], stage: str) -> Sequence[Path]:
    """Return the output files of a stage.

    Raises:
        UserError: A file is missing, so the stage has not been run.
    """
    for path in paths:
        if not path.is_file():
            raise UserError(f"{path}: no such file; run `python -m builder_scripts {stage}` first")
    return paths
