"""HTML and XML in answers: lists, tables and records of elements, as the lines and objects that they stand for."""

from __future__ import annotations

import json
import re

_TAG = re.compile(
    r"<(?P<end>/)?(?P<name>[A-Za-z][\w:.-]{0,30})(?P<more>(?:=[\w.-]{1,40})?(?:\s(?:[^<>\"']|\"[^\"<>]*\""
    r"|'[^'<>]*'){0,300}?)?)(?P<empty>/)?>"
)
_ATTRIBUTE = re.compile(r"([\w:-]{1,40})\s?=\s?(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]{1,100}))")
_ANSWER = re.compile(
    r"(?:final|answer|ranking|ranked|results?|output|response|recommendations?)[a-z_-]{0,20}", re.IGNORECASE
)
_FIELD = re.compile(
    r"(?:(?:song|candidate|track|item)[_-]?)?(?:id|number|no|index|title|name|rank|position|score|relevance\w*"
    r"|rating|probability"
    r"|confidence|artist|reason|comment|track|song|candidate|item|entry)",
    re.IGNORECASE,
)
_HTML_LINES = frozenset([
    "p", "br", "hr", "div", "ul", "ol", "dl", "section", "article", "header", "h1", "h2", "h3", "h4", "h5", "h6",
    "body", "html", "pre", "main", "blockquote",
])  # fmt: skip
_HTML_TEXT = frozenset([
    "b", "i", "u", "s", "em", "strong", "span", "a", "code", "sup", "sub", "small", "mark", "font", "center", "q",
    "cite", "tt", "kbd",
])  # fmt: skip
_HTML_TABLE = frozenset(["table", "tr", "td", "th", "thead", "tbody", "tfoot", "caption"])
_NEED_NO_END = frozenset(["br", "hr", "li", "p", "tr", "td", "th"])
_DEEPEST = 30
# One line feed, however many elements ask for it; no text has this sign left.
_BREAK = "\x0b"
_BREAKS = re.compile(r"\x0b+")


class _Element:
    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name, self.attributes = name, attributes
        self.pieces: list[str] = []
        self.fields: list[tuple[str, str]] = []

    def text(self) -> str:
        """The element as lines."""
        inner = "".join(self.pieces)
        name = self.name
        if name in ("td", "th"):
            return f"{' '.join(inner.split())} | "
        if name == "tr":
            return f"{_BREAK}| {inner.strip()}{_BREAK}"
        if name in _HTML_TEXT:
            return f"**{inner}**" if name in ("b", "strong") and inner.strip() else inner
        if self.fields or self.attributes:
            return f"\n{self._record(inner)}\n"
        if _ANSWER.fullmatch(name):
            return f"\n\n{name.replace('_', ' ').replace('-', ' ')}:\n{inner}\n\n"
        if name == "li" or (_FIELD.fullmatch(name) and "\n" not in inner.strip()):
            return f"{_BREAK}- {inner.strip()}{_BREAK}"
        return f"\n{inner}\n"

    def _record(self, inner: str) -> str:
        names = [name for name, _ in self.fields]
        pairs = {**self.attributes, **dict(self.fields)}
        if len(set(names)) < len(names) or len(pairs) < 2 - bool(inner.strip()):
            lines = "".join(f"\n- {value}" for _, value in (*self.attributes.items(), *self.fields))
            heading = f"\n\n{self.name}:\n" if _ANSWER.fullmatch(self.name) else "\n"
            return f"{heading}{inner}{lines}\n"
        if inner.strip() and "\n" not in inner.strip():
            pairs.setdefault("title", inner.strip())
            inner = ""
        return f"{inner}\n{json.dumps(pairs, ensure_ascii=False)}"


def elements_as_lines(text: str) -> str:
    """Write elements as lines: `<li>` as a bullet, `<tr>` as a row with bars, an element with fields as an object.

    Only tags that are closed somewhere, or that HTML leaves open, are tags; other text between angle brackets stays.

    Args:
        text: An answer; time is linear in its length.
    """
    tags = list(_TAG.finditer(text))
    closed = {tag["name"].lower() for tag in tags if tag["end"] or tag["empty"]} | _NEED_NO_END
    tags = [tag for tag in tags if tag["name"].lower() in closed]
    if not tags:
        return text
    stack = [_Element("", {})]
    at = 0
    for tag in tags:
        stack[-1].pieces.append(text[at : tag.start()])
        at = tag.end()
        name = tag["name"].lower()
        if tag["end"]:
            _close(stack, name)
        elif name in _HTML_LINES and name not in ("ul", "ol"):
            stack[-1].pieces.append("\n")
        else:
            if name in ("li", "tr", "td", "th"):
                _close_siblings(stack, name)
            if len(stack) < _DEEPEST:
                stack.append(_Element(name, _attributes(name, tag["more"])))
                if tag["empty"]:
                    _close(stack, name)
    stack[-1].pieces.append(text[at:])
    while len(stack) > 1:
        _close(stack, stack[-1].name)
    return _BREAKS.sub("\n", "".join(stack[0].pieces))


def _attributes(name: str, more: str) -> dict[str, str]:
    if name in _HTML_TEXT | _HTML_TABLE | _HTML_LINES | {"li"}:
        return {}
    pairs = {found[1]: found[2] or found[3] or found[4] or "" for found in _ATTRIBUTE.finditer(more)}
    return {key: value for key, value in pairs.items() if _FIELD.fullmatch(key)}


def _close(stack: list[_Element], name: str) -> None:
    """Close the innermost element of this name, and those that were left open in it."""
    if all(element.name != name for element in stack[1:]):
        stack[-1].pieces.append("\n" if name in _HTML_LINES else "")
        return
    while True:
        element = stack.pop()
        is_leaf = not element.fields and not element.attributes
        content = "".join(element.pieces).strip()
        if is_leaf and len(stack) > 1 and _FIELD.fullmatch(element.name) and content and "\n" not in content:
            stack[-1].fields.append((element.name, content))
        else:
            stack[-1].pieces.append(element.text())
        if element.name == name:
            return


def _close_siblings(stack: list[_Element], name: str) -> None:
    """A list item or a table row that was not closed ends where the next one starts."""
    inside = {"li": ("ul", "ol"), "tr": ("table",), "td": ("tr",), "th": ("tr",)}[name]
    for element in reversed(stack[1:]):
        if element.name in inside or element.name == "":
            return
        if element.name == name or (name in ("td", "th") and element.name in ("td", "th")):
            _close(stack, element.name)
            return
