"""Plain lines out of what models wrap an answer in: code fences, LaTeX, Markdown links, special tokens."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from .elements import elements_as_lines

# What a model writes after a hundred titles with a remark each is a loop; it is not read.
MOST_READ = 100_000

_MOST_BETWEEN = 12  # characters between two boxes of one list
FINAL = "\n\nFinal answer:\n"

_LINE_END = re.compile(r"\r\n?|[\u2028\u2029\x0b\x0c\x85]")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*[\w+-]*[ \t]*$", re.MULTILINE)
_BOX = re.compile(r"<[|｜]begin_of_box[|｜]>")
_TOKEN = re.compile(
    r"<[|｜][^|｜<>\n]{1,60}[|｜]>|<(?:end_of_turn|start_of_turn|eos|bos|pad|/?s)>|\[/?INST\]|\[TOOL_CALLS\]"
)
_LINK = re.compile(
    r"!?\[([^\[\]\n]{1,300})\]\((?:https?:|www\.|spotify:|youtu|/|#|<)[^()\s]{0,500}(?:\s\"[^\"\n]{0,200}\")?\)"
)
_LATEX = re.compile(r"\\(?:boxed|succ|text|begin|item|rightarrow|gt|to|mathrm|mathbf|textbf|fbox)\b|\\\[|\\\(")
_BOXED = re.compile(r"\$*\s?\\(?:boxed|fbox)\s?\{")
_STYLED = re.compile(r"\\(?:text|mathrm|mathbf|textbf|textit|emph|mathit|operatorname)\s?\{([^{}\n]{0,300})\}")
_ABOVE = re.compile(r"\\(?:succ(?:eq|sim|curlyeq)?|gt|rightarrow|to|Rightarrow|longrightarrow|gg)(?![a-z])")
_LATEX_ITEM = re.compile(r"\\item\b\s*(?:\[[^\[\]\n]{0,20}\])?")
_LATEX_REST = re.compile(r"\\(?:begin|end)\{\w{1,20}\*?\}|\\[,;:! ]|\\q?quad\b|\\[\[\]()]|\$\$?")


def plain(text: str, *, numbered: bool) -> str:
    """The visible part of an answer as plain lines.

    Fences and special tokens go; links leave their text; a box is put on a line of its own behind "Final answer:";
    elements of HTML and XML become list lines, table rows and objects (`elements`).

    Args:
        text: An answer without thinking. At most `MOST_READ` characters of it are read.
        numbered: Whether the prompt asked for numbers: digits of other scripts then become those of ASCII.
    """
    text = _LINE_END.sub("\n", text[:MOST_READ]).replace("\ufe0f\u20e3", ".")  # keycaps
    text = _TOKEN.sub("\n", _BOX.sub(FINAL, text))
    text = _LINK.sub(r"\1", _FENCE.sub("", text))
    if _LATEX.search(text):
        text = _without_latex(text)
    text = elements_as_lines(text)
    return _ascii_numbers(text) if numbered else text


_REGION = re.compile(r"<(/)?(answer|final[_ -]?answer|final|output|response)>", re.IGNORECASE)


class Region(NamedTuple):
    """The text of the last `<answer>`, and the text behind it."""

    inside: str
    behind: str


def answer_region(text: str) -> Region | None:
    """Find what stands between the last `<answer>` (or `<final>`, `<output>`, `<response>`) and its end.

    Args:
        text: An answer without thinking.

    Returns:
        The region; None where there is none. Where it never ends, it goes up to the end of the text.
    """
    start, end, behind = None, len(text), len(text)
    for tag in _REGION.finditer(text):
        if not tag[1]:
            start, end, behind = tag.end(), len(text), len(text)
        elif start is not None and end == len(text):
            end, behind = tag.start(), tag.end()
    return None if start is None else Region(text[start:end], text[behind:])


def _without_latex(text: str) -> str:
    pieces: list[str] = []
    at = 0
    while box := _BOXED.search(text, at):
        end = _closing(text, box.end())
        between = text[at : box.start()]
        if pieces and len(between) <= _MOST_BETWEEN and not between.strip(" ,;>$&"):
            pieces[-1] = f"{between} "  # a box per item
            pieces += [text[box.end() : end], "\n\n"]
        else:
            pieces += [between, FINAL, text[box.end() : end], "\n\n"]
        at = min(end + 1, len(text))
    text = _ABOVE.sub(" > ", _STYLED.sub(r"\1", "".join([*pieces, text[at:]])))
    return _LATEX_REST.sub(" ", _LATEX_ITEM.sub("\n- ", text.replace("\\{", "").replace("\\}", "")))


def _closing(text: str, start: int) -> int:
    """Position at which the brace before `start` is closed."""
    depth = 1
    for brace in re.finditer(r"[{}]", text[start : start + 20_000]):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return start + brace.start()
    return len(text)


# Other scripts have punctuation of their own.
_AS_ASCII = str.maketrans("【】［］（）：，、；＞", "[][]():,,;>")


def _ascii_numbers(text: str) -> str:
    if text.isascii():
        return text
    return "".join(
        character
        if character.isascii() or not character.isdigit()
        else str(unicodedata.digit(character))
        if character.isdecimal()
        else f" [{ord(character) - ord('①') + 1}] "
        if "①" <= character <= "⑳"
        else character
        for character in text.translate(_AS_ASCII)
    )
