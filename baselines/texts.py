"""The words of a thread, as systems that read text want them."""

from __future__ import annotations

from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError


def query_of(thread: Thread) -> str:
    """The derived request.

    Raises:
        UserError: The configuration of the dataset has none.
    """
    if thread.query is None:
        raise UserError(f"thread {thread.thread_id}: has no query; use a configuration that has them, query_only")
    return thread.query
