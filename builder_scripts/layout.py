"""Where the stages keep what they make: bronze as mined, silver as filtered, gold as judged, in one work folder.

```
WORK/
  bronze/submissions/RS_2019-06.parquet    one file per dump, every row of the wanted subreddits
  bronze/comments/RC_2019-06.parquet
  silver/threads.parquet, replies.parquet  the paper's filters
  gold/...                                 entities, queries, labels, pools: what models and people decide
  cache/                                   answers of models
  audio/                                   downloaded sound
  release/<name>/                          the dataset, with all that may be published
  private/author_salt                      never part of a release
```

Every stage also leaves `_<stage>.json` in its folder (see `builder_scripts.manifest`). Names that begin with `_` are
passed over by everything that reads a folder of Parquet, Spark included.
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
        root: The folder; it need not exist yet.
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
        """What passed the filters on form."""
        return self.root / "silver"

    @property
    def threads(self) -> Path:
        """Submissions with a video and enough replies; see `builder_scripts.threads.schema`."""
        return self.silver / "threads.parquet"

    @property
    def replies(self) -> Path:
        """Their first-level replies; see `builder_scripts.threads.schema`."""
        return self.silver / "replies.parquet"

    @property
    def gold(self) -> Path:
        """What models and people decided."""
        return self.root / "gold"

    @property
    def entities(self) -> Path:
        """Songs, artists and albums by thread and reply, from stage `extract`."""
        return self.gold / "entities.parquet"

    @property
    def queries(self) -> Path:
        """The request that each thread makes, from stage `queries`."""
        return self.gold / "queries.parquet"

    @property
    def corpus(self) -> Path:
        """Threads with settled entities and ground truth, from stage `refine`."""
        return self.gold / "corpus.jsonl"

    @property
    def merges(self) -> Path:
        """Spellings that `refine` took for one entity, for review."""
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
        """What the annotators decided, from stage `annotate`."""
        return self.gold / "labels.jsonl"

    @property
    def videos(self) -> Path:
        """What became of each linked video, from stage `audio`."""
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
        """Where stage `release` makes the dataset, in a folder of its name."""
        return self.root / "release"

    @property
    def baseline(self) -> Path:
        """The run and the score of a system on the release."""
        return self.root / "baseline"

    @property
    def cache(self) -> Path:
        """Answers of models, kept by content, so that a second run asks for nothing."""
        return self.root / "cache"

    @property
    def takedown(self) -> Path:
        """Ids that no release may have any more, from stage `release`."""
        return self.root / "takedown.txt"

    @property
    def salt(self) -> Path:
        """The random key of the author pseudonyms; whoever has it can recognise authors, so it stays here."""
        return self.root / "private" / "author_salt"


def require(paths: Sequence[Path], stage: str) -> Sequence[Path]:
    """Return files that a stage makes, or say that it has not been run.

    Raises:
        UserError: One of them is not there.
    """
    for path in paths:
        if not path.is_file():
            raise UserError(f"{path}: no such file; run `python -m builder_scripts {stage}` first")
    return paths
