"""Candidate pools: the designs that draw them, and their files.

`poolset.DESIGNS` is the table of the designs. To add one, write a module with its function, and add its name and rule
to `poolset`. `musicrs_dataset.audit` shows which routes leak in the pools of each design.
"""

from __future__ import annotations

from .balanced import balanced_pools
from .files import read_pools, with_pools, write_pools
from .fresh import corpus_of, fresh_pools, read_corpus
from .grouped import grouped_pools
from .paper import paper_pools
from .poolset import DESIGNS, DISTRACTORS, Design, PoolSet, SubredditPools, draw_pools

__all__ = [
    "DESIGNS",
    "DISTRACTORS",
    "Design",
    "PoolSet",
    "SubredditPools",
    "balanced_pools",
    "corpus_of",
    "draw_pools",
    "fresh_pools",
    "grouped_pools",
    "paper_pools",
    "read_corpus",
    "read_pools",
    "with_pools",
    "write_pools",
]
