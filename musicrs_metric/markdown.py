"""Text that somebody wrote, made safe for a Markdown file."""

from __future__ import annotations

import re

# A pair of brackets around figures, as of an interval, is neither a link nor a note, and stays readable.
_SPECIAL = re.compile(r"(\[[-+]?\d[^\\`*_{}\[\]|~$#]*\](?![(\[:]))|([\\`*_{}\[\]|~$#])")


def escaped(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line.

    Args:
        text: Anything, such as a title that somebody wrote.
    """
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(lambda found: found[1] or f"\\{found[2]}", text)
