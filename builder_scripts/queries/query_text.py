"""Final form of a query, and the check that it names no answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from ..extract.text_matching import Words, folded, plain, tidy, without_links
from ..llm import RefusedError

LEAK, TOO_SHORT, TOO_LONG = "leak", "too short", "too long"
SHORTEST, LONGEST = 15, 1_000  # characters; the published queries have 110 to 1,015
# Titles like "Stay", "Go" or "1999" appear in queries by accident. `refine` takes such a title out of the ground truth.
_SHORTEST_LEAK = 5
_LABEL = re.compile(r"(?i:^(?:query|request|question|rewritten (?:query|request))\s*:\s*)")
_MARKDOWN_LINK = re.compile(r"\[([^\[\]]+)\]\((?:[^()\s]|\([^()\s]*\))*\)")


def schema() -> dict[str, Any]:
    """Return the JSON schema of an answer."""
    query = {"type": "string", "minLength": SHORTEST, "maxLength": LONGEST}
    return {"type": "object", "properties": {"query": query}, "required": ["query"], "additionalProperties": False}


def is_answer(value: Any) -> bool:
    """Return True if a JSON value holds a query that is not blank."""
    return isinstance(value, dict) and isinstance(value.get("query"), str) and bool(value["query"].strip())


def read_query(value: Any, post: str, answers: Iterable[str]) -> str:
    """Read an answer.

    Args:
        value: A value for which `is_answer` is true.
        post: Title and text of the post.
        answers: Names in the replies.

    Returns:
        The query in its final form.

    Raises:
        RefusedError: The query is too short, too long, or names an answer that the post does not name.
    """
    query = normalise_query(value["query"])
    if len(query) < SHORTEST:
        raise RefusedError(TOO_SHORT)
    if len(query) > LONGEST:
        raise RefusedError(TOO_LONG)
    if leaks(query, post, answers):
        raise RefusedError(LEAK)
    return query


def normalise_query(text: str) -> str:
    """Return one line of composed Unicode without label, outer quotes, Markdown links or URLs."""
    text = _MARKDOWN_LINK.sub(r"\1", unicodedata.normalize("NFC", plain(text)))
    text = without_links(text).replace("(link)", " ")
    return tidy(_LABEL.sub("", tidy(text)))


def leaks(query: str, post: str, answers: Iterable[str]) -> list[str]:
    """Find the answers that a query names.

    Args:
        query: The query.
        post: Text of the asker. A name in it is no answer.
        answers: Names in the replies.

    Returns:
        The answers of at least `_SHORTEST_LEAK` characters that the query names in whole words and the post does not.
    """
    asked, own = Words(query), Words(plain(post))
    long_enough = [name for name in dict.fromkeys(answers) if len(folded(name)) >= _SHORTEST_LEAK]
    return [name for name in long_enough if asked.name(name) and not own.name(name)]
