"""The MusiCRS conversations: records, importers, the Parquet repo, clips, pools, validation, audit."""

from .loading import load

__all__ = ["load"]
