"""What can be had from a dataset's pools without music: adversaries, faults of the pools, and a verdict per route."""

from __future__ import annotations

from .adversary import Adversary
from .catalogue import ADVERSARIES
from .meaning import embedding_adversaries
from .run import Audit, Effect, Finding, audit

__all__ = ["ADVERSARIES", "Adversary", "Audit", "Effect", "Finding", "audit", "embedding_adversaries"]
