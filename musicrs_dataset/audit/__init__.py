"""Scores of rankings without music on a dataset's pools: adversaries, faults of the pools, verdict per route."""

from __future__ import annotations

from .adversary import Adversary
from .catalogue import ADVERSARIES
from .meaning import embedding_adversaries
from .results import AdversaryResult, Audit, EffectSize
from .run import audit

__all__ = ["ADVERSARIES", "Adversary", "AdversaryResult", "Audit", "EffectSize", "audit", "embedding_adversaries"]
