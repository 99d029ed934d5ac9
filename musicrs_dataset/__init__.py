"""MusiCRS threads: records, importers, dataset folder, audio, pools, validation, audit."""

from .loading import load

__all__ = ["load"]
