"""Candidate pools: three designs to draw them, and the files they travel in.

`paper` is the published recipe, `balanced` makes every title of a subreddit stand equally often, `fresh` takes
distractors from outside. `musicrs_dataset.audit` tells what each of them gives away.
"""

from __future__ import annotations

from .balanced import balanced_pools
from .files import read_pools, with_pools, write_pools
from .fresh import corpus_of, fresh_pools, read_corpus
from .paper import paper_pools
from .poolset import DISTRACTORS, Design, PoolSet, SubredditPools

__all__ = [
    "DISTRACTORS",
    "Design",
    "PoolSet",
    "SubredditPools",
    "balanced_pools",
    "corpus_of",
    "fresh_pools",
    "paper_pools",
    "read_corpus",
    "read_pools",
    "with_pools",
    "write_pools",
]
