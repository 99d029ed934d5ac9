"""JSON out of what models write, well and badly."""

from __future__ import annotations

import time
from typing import Any

import pytest

from builder_scripts.llm.json_salvage import read_json


def is_query(value: Any) -> bool:
    return isinstance(value, dict) and "q" in value


GOOD = {"q": "a"}


@pytest.mark.parametrize(
    ("text", "rung", "value"),
    [
        ('{"q": "a"}', "strict", GOOD),
        (' \n{"q":"a"}\n', "strict", GOOD),
        ('```json\n{"q": "a"}\n```', "unwrapped", GOOD),
        ('```\n{"q": "a"}\n```\nHope it helps [1]!', "unwrapped", GOOD),
        ('Sure! Here it is: {"q": "a"}', "unwrapped", GOOD),
        ('As asked in [1] and {2}: {"q": "a"}', "unwrapped", GOOD),
        ('<think>{"q": "draft"}</think>{"q": "a"}', "unwrapped", GOOD),
        ('{"q": "draft"} is too short.</think>\n{"q": "a"}', "unwrapped", GOOD),
        ('{"q": "a\nb"}', "unwrapped", {"q": "a\nb"}),
        ('{"q": "a"} {"q": "b"}', "unwrapped", GOOD),
        ('{"q": "a", "q": "b"}', "unwrapped", {"q": "b"}),
        ("{'q': 'a'}", "repaired", GOOD),
        ('{"q": "a",}', "repaired", GOOD),
        ('{q: "a"}', "repaired", GOOD),
        ('{"q": "a"', "repaired", GOOD),
        ('Here: {"q": "say "hi" to her"}', "repaired", {"q": 'say "hi" to her'}),
        ('{"q": "a" // the request\n}', "repaired", GOOD),
    ],
)
def test_the_first_rung_that_reaches_it(text: str, rung: str, value: Any) -> None:
    """Fences, prose, thinking, quotes and commas: what was meant is found, and how far down is told."""
    found = read_json(text, is_query)
    assert found is not None
    assert (found.method, found.value) == (rung, value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I'm sorry, but I cannot help with that.",
        "[1]",
        '["q"]',
        '"q"',
        "null",
        '<think>{"q": "a"}',
        '<think>Perhaps {"q": "a"}</think>',
        '{"query": "a"}',
        "{{{{",
        "NaN",
    ],
)
def test_nothing_is_made_up(text: str) -> None:
    """Refusals, thinking alone and other shapes give no value, whatever a repairer would make of them."""
    assert read_json(text, is_query) is None


@pytest.mark.parametrize("text", ["[" * 20_000, '{"q":' * 10_000, '{"q": "' + "\\" * 20_001, "{" + "[1]," * 5_000])
def test_hostile_text_ends_soon(text: str) -> None:
    """Deep nesting and long tails neither crash nor hang."""
    began = time.monotonic()
    read_json(text, is_query)
    assert time.monotonic() - began < 5
