"""`python -m builder_scripts extract`."""

from __future__ import annotations

from ..llm.options import Stage, llm_command
from . import MODEL


def _stage() -> Stage:
    from . import run

    return run


extract = llm_command(
    "extract",
    MODEL,
    _stage,
    "Find the songs, artists and albums that posts and replies name: silver/ -> gold/entities.parquet.",
)
