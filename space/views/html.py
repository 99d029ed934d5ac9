"""HTML in which everything is text that was not made here: the one place of the page where text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from urllib.parse import urlsplit

_VOID = frozenset({"br", "hr", "input", "wbr"})

Value = str | int | float | bool | None


class Html(str):
    """HTML, as `tag` and `join` make it; any other string is text wherever it is put in."""

    __slots__ = ()


Content = str | int | None


def tag(name: str, /, *children: Content | Iterable[Content], **attributes: Value) -> Html:
    """Make an element.

    Args:
        name: Its name.
        children: What it holds: `Html` as it is, anything else as text, None as nothing, and series of these.
        attributes: `class_` is "class" and `data_key` is "data-key"; True is an attribute without a value, False and
            None are left out.

    Returns:
        The element; nothing in children or attributes can end it, or begin another.

    Examples:
        >>> tag("p", "1 < 2", Html("<br>"), class_="note")
        '<p class="note">1 &lt; 2<br></p>'
    """
    given = "".join(
        f" {_dashed(key)}" if value is True else f' {_dashed(key)}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{join(*children)}</{name}>")


def join(*children: Content | Iterable[Content]) -> Html:
    """Put contents one after the other; see `tag`."""
    return Html("".join(map(_part, children)))


def outside_link(url: str | None) -> Html | None:
    """A link out of the page, shown as its host, which passes no authority on; None where there is none.

    Args:
        url: What somebody gave as the page of their system; only https is linked.
    """
    if not url:
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme != "https" or not host:
        return None
    return tag("a", host, href=url, target="_blank", rel="noopener noreferrer nofollow ugc", class_="outside")


def _part(child: Content | Iterable[Content]) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str | int):
        return escape(str(child))
    return "".join(map(_part, child))


def _dashed(key: str) -> str:
    return key.rstrip("_").replace("_", "-")
