"""A run card fills the form; what a person has typed or emptied counts more, and contradictions are named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from space.web.card_fill import fill, without_cleared
from space.web.fields import SUBMIT_FIELDS

EMPTY: dict[str, Any] = dict.fromkeys(SUBMIT_FIELDS, "") | {
    "modality": None, "paradigm": None, "reads": None, "partial": False, "show_sender": False,
}  # fmt: skip
CARD = {
    "name": "From the card", "modality": "audio_only", "reads": "pools", "open_weights": True, "trained": False,
    "link": "https://example.org/a", "partial": True, "parameters": 7_000_000_000, "wall_time_s": 12.5, "pools": "x",
    "fingerprint": "f" * 64, "extra": 1,
}  # fmt: skip


def content(**changes: Any) -> bytes:
    return json.dumps(CARD | changes).encode()


def test_an_empty_form_is_filled() -> None:
    """Choices, flags, numbers and texts; pools and consent stay with the person."""
    filled = fill(content(), EMPTY, {})
    shown = {name: value for name, value in filled.values.items() if value != EMPTY[name]}
    assert shown == {
        "name": "From the card", "modality": "audio_only", "reads": "pools", "open_weights": "yes", "trained": "no",
        "link": "https://example.org/a", "partial": True, "parameters": "7000000000", "wall_time_s": "12.5",
    }  # fmt: skip
    assert filled.from_card == shown
    assert filled.notes == []


def test_what_was_typed_stays_and_is_named() -> None:
    """Only a contradiction is a note."""
    typed = EMPTY | {"name": "Mine", "reads": "pools"}
    filled = fill(content(), typed, {})
    assert (filled.values["name"], filled.values["reads"], filled.values["modality"]) == ("Mine", "pools", "audio_only")
    assert filled.notes == ["name: you typed 'Mine', run.json states 'From the card'; yours counts"]


def test_a_second_card_replaces_the_first_one() -> None:
    """Values of the first card go, those that the person has changed stay; without a card the form is empty again."""
    first = fill(content(), EMPTY, {})
    changed = first.values | {"name": "Mine"}
    second = fill(json.dumps({"name": "Second", "reads": "labels"}).encode(), changed, first.from_card)
    assert second.values == EMPTY | {"name": "Mine", "reads": "labels"}
    assert fill(None, first.values, first.from_card).values == EMPTY


@pytest.mark.parametrize(
    ("card", "words"),
    [
        (b"{", "found no JSON object"), (b"[1]", "found no JSON object"), (b"\xff", "found no JSON object"),
        (b'{"modality": "video"}', "states 'video'"), (b'{"partial": "yes"}', "states 'yes'"),
        (b'{"name": 5}', "states 5"), (b'{"wall_time_s": "x"}', "states 'x'"), (b'{"reads": ["a"]}', "a list of 1"),
        (json.dumps({"name": "x" * 501}).encode(), "states 'xxx"),
    ],
)  # fmt: skip
def test_unusable_cards_and_values_are_named(card: bytes, words: str) -> None:
    """The fields stay as they are."""
    filled = fill(card, EMPTY, {})
    assert filled.values == EMPTY
    assert words in filled.notes[0]


def test_an_emptied_field_stays_empty() -> None:
    """The card that is sent no longer states it."""
    first = fill(content(), EMPTY, {})
    card, notes = without_cleared(content(), first.values | {"link": "", "partial": False}, first.from_card)
    assert json.loads(card) == {name: value for name, value in CARD.items() if name not in ("link", "partial")}
    assert [note.split(":")[0] for note in notes] == ["link", "partial"]
    assert without_cleared(content(), first.values, first.from_card) == (content(), [])
