"""HTML with escaping: every string that this module did not make is escaped. No other module escapes text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from urllib.parse import urlsplit

_VOID = frozenset({"br", "hr", "input", "wbr"})

Value = str | int | float | bool | None


class Html(str):
    """HTML made by `tag` and `join`. Every other string is escaped where it is inserted."""

    __slots__ = ()


Content = str | int | None


def tag(name: str, /, *children: Content | Iterable[Content], **attributes: Value) -> Html:
    """Return an element.

    Args:
        name: Its name.
        children: Its content: `Html` unchanged, other values escaped, None as nothing, and iterables of these.
        attributes: `class_` is "class" and `data_key` is "data-key". True is an attribute without a value. False and
            None are left out.

    Returns:
        The element. No child and no attribute can end it or begin another element.

    Examples:
        >>> tag("p", "1 < 2", Html("<br>"), class_="note")
        '<p class="note">1 &lt; 2<br></p>'
    """
    pairs = "".join(
        f" {_dashed(key)}" if value is True else f' {_dashed(key)}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{pairs}>")
    return Html(f"<{name}{pairs}>{join(*children)}</{name}>")


def join(*children: Content | Iterable[Content]) -> Html:
    """Concatenate contents; see `tag`."""
    return Html("".join(map(_part, children)))


def data_table(heads: Iterable[str], rows: Iterable[Html], *, class_: str = "figures") -> Html:
    """Return a table from the texts of its head and its `tr` elements."""
    head = tag("tr", [tag("th", text, scope="col") for text in heads])
    return tag("table", tag("thead", head), tag("tbody", rows), class_=class_)


def outside_link(url: str | None, *, prefix: str = "", text: str | None = None) -> Html | None:
    """Return a link out of the page, shown as its host name and without a referrer; None if the URL is not https.

    Args:
        url: Page of a system, as its submitter wrote it.
        prefix: Text before the host name.
        text: Text in place of the host name.
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
    return tag(
        "a", prefix, text or host, href=url, target="_blank", rel="noopener noreferrer nofollow ugc", class_="outside"
    )


def plot_text(text: str, longest: int) -> str:
    """Return one line for plotly, which reads some tags as markup, cut to at most `longest` characters."""
    line = " ".join(text.split())
    return escape(line if len(line) <= longest else f"{line[: longest - 1]}…", quote=False)


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
