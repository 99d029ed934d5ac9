"""Answers without their thinking: one function serves the reading of rankings and of JSON."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from musicrs_metric.base.thinking import without_thinking
from tests.metric.answers.layouts import THINKING


@pytest.mark.parametrize("mark", sorted(set(THINKING) - {"hunyuan", "start and end"}))
def test_every_mark_is_removed_with_what_it_encloses(mark: str) -> None:
    """Whatever the model family, only the visible part is left."""
    visible = without_thinking(THINKING[mark]("a draft", "the answer"))
    assert (visible.text.strip(), visible.is_open) == ("the answer", False)


@pytest.mark.parametrize("mark", ["hunyuan", "start and end"])
def test_marks_of_the_answer_stay_for_its_reader(mark: str) -> None:
    """They are no thinking."""
    visible = without_thinking(THINKING[mark]("a draft", "the answer"))
    assert "draft" not in visible.text
    assert "the answer" in visible.text


@pytest.mark.parametrize(
    "start",
    [
        "<think>",
        "<THINKING >",
        "<reasoning>",
        "<seed:think>",
        "◁think▷",
        "[THINK]",
        "<|START_THINKING|>",
        "&lt;think&gt;",
        "<|inner_prefix|>",
        "<|channel>thought\n",
        "<|begin_of_thought|>",
    ],
)
def test_a_block_that_never_ends_leaves_nothing_behind_its_start(start: str) -> None:
    """What stands in front of it stays."""
    assert without_thinking(f"{start}a draft") == ("", True)
    assert without_thinking(f"Well.{start}a draft") == ("Well.", True)


@pytest.mark.parametrize("text", ["<|channel|>analysis<|message|>a draft", "analysisWe need to rank."])
def test_a_channel_of_thinking_alone_leaves_nothing(text: str) -> None:
    """With its marks and without them."""
    assert without_thinking(text, cut=True) == ("", True)


@pytest.mark.parametrize("text", ["Here is my thought process: a draft", "Thought: a draft", "Thinking...\na draft"])
def test_phrases_are_thinking_only_where_they_end_or_the_answer_was_cut(text: str) -> None:
    """A finished answer may begin so without being thinking."""
    assert without_thinking(text, cut=True) == ("", True)
    assert without_thinking(text) == (text, False)


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("<think>a<think>b</think>c</think>d", "d"),
        ("a</think>b</think>c", "c"),
        ("<think>a</think><think>b</think>c", "c"),
        ("<think>I open <think> again.</think>c", "c"),
        ("a<think>b</think>c", "a\nc"),
        ("a < b and c > d", "a < b and c > d"),
        ("I think [that] <3", "I think [that] <3"),
        ("<think/>a", "<think/>a"),
        ("analysis: a", "analysis: a"),
    ],
)
def test_nested_repeated_and_other_marks(text: str, visible: str) -> None:
    """Nested blocks end with the outer one, and text without marks stays as it is."""
    assert without_thinking(text) == (visible, False)


@pytest.mark.parametrize(
    "make", [lambda n: "<think>" * n, lambda n: "</think>" * n, lambda n: "<|channel|>" * n, lambda n: "<" * n]
)
def test_time_grows_with_the_length(make: Callable[[int], str]) -> None:
    """Half a megabyte of marks is read at once."""
    started = time.process_time()
    without_thinking(make(60_000))
    assert time.process_time() - started < 2
