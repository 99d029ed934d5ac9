"""Clips as a model wants them: decoded, mono, at its own rate, cut into exact windows."""

from __future__ import annotations

from .cutting import Samples

__all__ = ["Samples"]
