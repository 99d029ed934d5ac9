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


@dataclass(frozen=True)
class Work:
    """The work folder of one corpus.

    Attributes:
        root: The folder. It need not exist.
    """

    root: Path

    @property
    def bronze(self) -> Path:
        """Rows of the dumps, typed and narrow."""
        return self.root / "bronze"

    @property
    def submissions(self) -> Path:
        """Folder of mined submissions, one Parquet file per dump."""
        return self.bronze / "submissions"

    @property
    def comments(self) -> Path:
        """Folder of mined comments, one Parquet file per dump."""
        return self.bronze / "comments"

    @property
    def silver(self) -> Path:
        """Threads and replies that passed the filters."""
        return self.root / "silver"

    @property
    def threads(self) -> Path:
        """Submissions with a video and enough replies; see `builder_scripts.threads.run`."""
        return self.silver / "threads.parquet"

    @property
    def replies(self) -> Path:
        """First-level replies of these threads; see `builder_scripts.threads.run`."""
        return self.silver / "replies.parquet"

    @property
    def gold(self) -> Path:
        """Output of models and annotators."""
        return self.root / "gold"

    @property
    def entities(self) -> Path:
        """Songs, artists and albums per thread and reply, from stage `extract`."""
        return self.gold / "entities.parquet"

    @property
    def queries(self) -> Path:
        """Query of each thread, from stage `queries`."""
        return self.gold / "queries.parquet"

    @property
    def corpus(self) -> Path:
        """Threads with settled entities and ground truth, from stage `refine`."""
        return self.gold / "corpus.jsonl"

    @property
    def merges(self) -> Path:
        """Spellings that `refine` merged or proposes to merge, for review."""
        return self.gold / "merges.csv"

    @property
    def audio(self) -> Path:
        """Downloaded audio, from stage `audio`."""
        return self.root / "audio"

    @property
    def worklist(self) -> Path:
        """Threads to judge, from `annotate prepare`."""
        return self.gold / "worklist.jsonl"

    @property
    def annotations(self) -> Path:
        """Folder of the annotators' answers. It names them, so it is private."""
        return self.root / "private" / "annotations"

    @property
    def agreement(self) -> Path:
        """Folder of the output of `annotate agree`. It names annotators, so it is private."""
        return self.root / "private" / "agreement"

    @property
    def labels(self) -> Path:
        """Decisions of the annotators, from stage `annotate`."""
        return self.gold / "labels.jsonl"

    @property
    def videos(self) -> Path:
        """Status of each linked video, from stage `audio`."""
        return self.gold / "videos.jsonl"

    @property
    def settled(self) -> Path:
        """The corpus after annotation, from stage `pools`."""
        return self.gold / "settled.jsonl"

    @property
    def pools(self) -> Path:
        """Folder of the candidate pools, `<design>.jsonl`, from stage `pools`."""
        return self.gold / "pools"

    @property
    def release(self) -> Path:
        """Folder of the releases, one folder each, from stage `release`."""
        return self.root / "release"

    @property
    def baseline(self) -> Path:
        """Run and score of a system on the release."""
        return self.root / "baseline"

    @property
    def cache(self) -> Path:
        """Answers of models by content, so that a second run asks no question twice."""
        return self.root / "cache"

    @property
    def takedown(self) -> Path:
        """Ids that no release may contain, from stage `release`."""
        return self.root / "takedown.txt"

    @property
    def salt(self) -> Path:
        """Random key of the author pseudonyms. It can reveal authors, so it never leaves the work folder."""
        return self.root / "private" / "author_salt"


def require(paths: Sequence[Path], stage: str) -> Sequence[Path]:
    """Return the output files of a stage.

    Raises:
        UserError: A file is missing, so the stage has not been run.
    """
    for path in paths:
        if not path.is_file():
            raise UserError(f"{path}: no such file; run `python -m builder_scripts {stage}` first")
    return paths
