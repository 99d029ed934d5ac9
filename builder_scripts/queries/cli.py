"""`python -m builder_scripts queries`."""

from __future__ import annotations

from ..llm.options import Stage, llm_command
from . import MODEL


def _stage() -> Stage:
    from . import run

    return run


queries = llm_command(
    "queries",
    MODEL,
    _stage,
    "Word the request of each post so that it stands on its own and names no answer: -> gold/queries.parquet.",
)
