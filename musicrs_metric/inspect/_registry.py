"""All that Inspect finds by name. The entry point `musicrs_metric` of the group `inspect_ai` names this module.

Inspect filters entry points by the top-level package of a task. Another name than the package is never found.
"""

from .file_order import file_order
from .scorer import ranking
from .tasks import audio_only, audio_query, query_only

__all__ = ["audio_only", "audio_query", "file_order", "query_only", "ranking"]
