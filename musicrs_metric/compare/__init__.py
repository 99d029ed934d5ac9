"""Comparison of systems on the same threads: what is a difference, what is a tie, and what is chance."""

from .comparison import HEADLINE, compare
from .results import Comparison
from .systems import System

__all__ = ["HEADLINE", "Comparison", "System", "compare"]
