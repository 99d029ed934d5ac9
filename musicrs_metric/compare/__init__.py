"""Comparison of systems on the same threads: paired differences, tests, rank groups, and chance."""

from .comparison import HEADLINE, compare
from .results import Comparison
from .systems import System

__all__ = ["HEADLINE", "Comparison", "System", "compare"]
