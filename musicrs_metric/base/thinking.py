"""The visible part of an answer: the text of a language model without its thinking.

Models mark their thinking in four ways, and three rules hold for each. What is marked is removed. A mark that only ends
a block removes everything before it (some servers send the start of the block with the prompt). A block that never ends
leaves nothing behind its start.

channels    the harmony format of gpt-oss, with its marks (`<|channel|>analysis<|message|>`) or after a decoder removed
            them (`analysis...assistantfinal...`): only the final channel and tool calls are visible.
blocks      `<think>`, `<thinking>`, `<reasoning>`, `<seed:think>`, `<thought>` and their kin, with attributes, nested,
            in capitals or HTML-escaped; `[THINK]`; `◁think▷`; `<|START_THINKING|>`, `<|begin_of_thought|>`,
            `<|inner_prefix|>`, `<|channel>thought`.
phrases     Granite's "Here is my thought process: ... Here is my response:", Ollama's "Thinking... ...done thinking."
agents      `Thought: ... Final Answer: ...`
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Visible(NamedTuple):
    """The visible part of an answer.

    Attributes:
        text: The text without thinking.
        is_open: Whether a block of thinking never ends.
    """

    text: str
    is_open: bool


def without_thinking(text: str, *, cut: bool = False) -> Visible:
    """Remove the thinking of a model from its answer, in time linear in its length.

    Args:
        text: The whole answer.
        cut: Whether the model was stopped by its budget. Phrases that open thinking, such as "Thought:", are only then
            taken for a block that never ends, and a nested block must then be closed as often as it was opened.

    Returns:
        The text outside of thinking.
    """
    visible = _channels(text)
    for remove in (_blocks, _phrases):
        if not visible.is_open:
            visible = remove(visible.text, cut)
    return visible


_CHANNEL, _MESSAGE = "<|channel|>", "<|message|>"
_MESSAGE_END = re.compile(r"<\|(?:end|return|call|start)\|>")
_GLUED_FINAL = re.compile(r"assistant\s{0,2}final|assistant\s{0,2}commentary\s{0,2}to=\S{1,80}\s{0,2}(?:code|json)?")
_GLUED_START = re.compile(r"\s*(?:assistant)?analysis(?=[A-Z\[\"'“(0-9])")


def _channels(text: str) -> Visible:
    if _CHANNEL not in text:
        final = _last(_GLUED_FINAL, text)
        if final is not None:
            return Visible(text[final.end() :], False)
        return Visible("", True) if _GLUED_START.match(text) else Visible(text, False)
    visible: list[str] = []
    for part in text.split(_CHANNEL)[1:]:
        header, _, body = part.partition(_MESSAGE)
        if header.strip().lower().startswith("final") or "to=" in header:
            visible.append(_MESSAGE_END.split(body, maxsplit=1)[0])
    return Visible("\n".join(visible), not visible)


_NAME = (
    r"(?:[a-z]{1,20}[:_-])?(?:think(?:ing|s)?|thoughts?|reasoning|reflection|scratch_?pad|cot|monologue|deliberation)"
    r"(?:[:_-][a-z_]{1,20})?"
)
_MARK = re.compile(
    rf"""
      <[|｜](?P<pipe>END_THINKING|end_of_thought|inner_suffix|thinking_end|think_end)[|｜]>
    | <[|｜](?:START_THINKING|begin_of_thought|inner_prefix|thinking_start|think_start)[|｜]>
    | (?:<|&lt;|＜|\\<)\s?[|｜]?(?P<slash>\\?/)?\s?[|｜]?{_NAME}[|｜]?
      (?:\s[^<>\n]{{0,200}})?(?P<empty>/)?(?:>|&gt;|＞|\\>)
    | ◁\s?(?P<triangle>/)?\s?think(?:ing)?\s?▷
    | \[(?P<bracket>/)?(?:THINK(?:ING)?|REASONING)\]
    | <details\s[^<>\n]{{0,200}}type=["']?reasoning[^<>\n]{{0,200}}>
    | <\|channel>\s?thought | <unused94>(?:thought)?
    | (?P<other></details>|<channel\|>|<unused95>)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _blocks(text: str, cut: bool) -> Visible:
    kept: list[str] = []
    depth = at = 0
    is_end = False
    for mark in _MARK.finditer(text):
        is_end = bool(mark["slash"] or mark["triangle"] or mark["bracket"] or mark["pipe"] or mark["other"])
        if mark["empty"] or (mark["other"] and not depth):
            continue
        if not is_end:
            if not depth:
                kept.append(text[at : mark.start()])
            depth += 1
        elif depth:
            depth -= 1
        else:
            kept.clear()
        at = mark.end()
    # A model may speak of its own marks, so that a block seems to be opened twice.
    if depth and is_end and not cut:
        return Visible(text[at:], False)
    if not depth:
        kept.append(text[at:])
    return Visible("\n".join(filter(str.strip, kept)), depth > 0)


_PHRASES = (
    (
        re.compile(r"\W{0,20}here(?:['’]s| is) my (?:thought process|thinking process)\b", re.IGNORECASE),
        re.compile(r"\bhere(?:['’]s| is) my (?:final )?(?:response|answer)\b[ \t*:.]{0,9}", re.IGNORECASE),
    ),
    (re.compile(r"\s*Thinking\.\.\."), re.compile(r"\.\.\. ?done thinking\.?", re.IGNORECASE)),
    (
        re.compile(r"[\s*#_]{0,9}(?:thoughts?|thinking|thinking process|reasoning)[\s*_]{0,5}[:：]", re.IGNORECASE),
        re.compile(
            r"^[ \t*#_]{0,9}(?:final (?:answer|response|output|ranking)|answer|response"
            r"|output)[ \t*_]{0,5}[:：][*_]{0,3}",
            re.IGNORECASE | re.MULTILINE,
        ),
    ),
)


def _phrases(text: str, cut: bool) -> Visible:
    for start, end in _PHRASES:
        if start.match(text):
            last = _last(end, text)
            if last is not None:
                return Visible(text[last.end() :], False)
            return Visible("", True) if cut else Visible(text, False)
    return Visible(text, False)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(pattern.finditer(text), key=lambda found: found.start(), default=None)
