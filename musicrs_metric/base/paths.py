"""Tells a name on the Hub from a path, so that a mistyped path is never looked for on the Hub."""

from __future__ import annotations

import re
from pathlib import Path

REPO_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
# Letters alone, or a usual suffix with a digit. The versions in names of models, such as `.5` and `.v2`, are neither.
_FILE_SUFFIX = re.compile(r"\.([a-z]+|7z|bz2|h5|json5|m4a|mp[34])[~#]?", re.IGNORECASE | re.ASCII)


def is_repo_name(text: str) -> bool:
    """Decide whether a text can name a repository on the Hub, `owner/name`.

    Args:
        text: What was given where a path or a name may stand.

    Returns:
        False for paths: those with another form, with a file suffix, and those whose folder exists here.
    """
    return bool(REPO_NAME.fullmatch(text)) and not has_file_suffix(text) and not Path(text).parent.exists()


def has_file_suffix(text: str) -> bool:
    """Decide whether a text ends like the name of a file, such as `threads.txt` or `threads.jsonl.gz`."""
    return bool(_FILE_SUFFIX.fullmatch(Path(text).suffix))
