"""The run card: round trip, strict JSON, old and new files, and a message that names file and field."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import RunCard, read_run_card, write_run_card

CARD = RunCard(
    name="MiniLM",
    paradigm="retrieval",
    modality="query_only",
    dataset="musicrs",
    config="query_only",
    fingerprint="ab" * 32,
    reads="thread",
    licence="Apache-2.0",
    open_weights=True,
    trained=False,
    seed=0,
    audio_coverage={"threads": 0.5},
    outcomes={"ok": 476, "empty": 1},
    wall_time_s=1.5,
    created_at="2025-01-02T03:04:05Z",
    settings={"center": True},
)

# The fields that a stranger's reader may rely on: the names of this list are a contract.
FIELDS = [
    "name",
    "paradigm",
    "model_id",
    "model_revision",
    "licence",
    "open_weights",
    "trained",
    "modality",
    "dataset",
    "config",
    "pools",
    "fingerprint",
    "protocol",
    "prompt_hash",
    "shuffles",
    "seed",
    "missing_audio",
    "clip_plan",
    "audio_coverage",
    "outcomes",
    "reads",
    "code_version",
    "wall_time_s",
    "hardware",
    "created_at",
    "settings",
]


def test_round_trip(tmp_path: Path) -> None:
    """What is written is read back, from the file and from its folder."""
    write_run_card(tmp_path / "run.json", CARD)
    assert read_run_card(tmp_path / "run.json") == CARD
    assert read_run_card(tmp_path) == CARD


def test_the_file_holds_the_agreed_names(tmp_path: Path) -> None:
    """All fields stand under their plain names, unknown ones as null."""
    write_run_card(tmp_path / "run.json", CARD)
    values = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert sorted(values) == sorted(FIELDS)
    assert values["model_id"] is None
    assert values["outcomes"] == {"ok": 476, "empty": 1}


def test_fields_of_another_version_are_kept(tmp_path: Path) -> None:
    """A field that this version does not know survives reading and writing; one that a file lacks is None."""
    old = {name: getattr(CARD, name) for name in FIELDS[:2]} | {
        "modality": "query_only",
        "dataset": "musicrs",
        "config": "query_only",
        "fingerprint": "ab",
        "reads": "pools",
        "carbon_g": 12,
    }
    (tmp_path / "run.json").write_text(json.dumps(old), encoding="utf-8")
    card = read_run_card(tmp_path)
    assert card.extra == {"carbon_g": 12}
    assert card.model_id is None
    write_run_card(tmp_path / "again.json", card)
    assert json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))["carbon_g"] == 12


def test_nan_is_never_written(tmp_path: Path) -> None:
    """A number that JSON has no word for is refused, and the card that was there stays."""
    write_run_card(tmp_path / "run.json", CARD)
    before = (tmp_path / "run.json").read_bytes()
    values = {name: getattr(CARD, name) for name in FIELDS} | {"wall_time_s": float("nan")}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_run_card(tmp_path / "run.json", RunCard(**values))
    assert (tmp_path / "run.json").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("paradigm", "magic", "'generative' or 'retrieval' or 'traditional'"),
        ("reads", "everything", "'thread' or 'pools' or 'labels'"),
        ("modality", "video", "'audio_query' or 'query_only' or 'audio_only'"),
        ("name", None, "text"),
        ("seed", True, "an integer or null"),
        ("seed", 1.5, "an integer or null"),
        ("open_weights", "yes", "true or false or null"),
        ("wall_time_s", "1 h", "a number or null"),
        ("outcomes", {"ok": "all"}, "an object whose values are each an integer or null"),
        ("settings", [], "an object"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, field: str, value: Any, expected: str) -> None:
    """File, field, what was found and what was expected, in one line."""
    write_run_card(tmp_path / "run.json", CARD)
    values = json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) | {field: value}
    (tmp_path / "run.json").write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(UserError) as error:
        read_run_card(tmp_path)
    message = str(error.value)
    assert str(tmp_path / "run.json") in message
    assert repr(field) in message
    assert message.endswith(expected)
    assert "\n" not in message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "a\ud800"),
        ("fingerprint", "\udfff"),
        ("settings", {"deep": [{"er": "\udc80"}]}),
        ("settings", {"\udc80": 1}),
        ("carbon", "\ud800"),
        ("carbon\ud800", 1),
    ],
)
def test_half_a_surrogate_pair_is_refused(tmp_path: Path, field: str, value: Any) -> None:
    """JSON can spell what UTF-8 cannot store; file and field are named in words that a terminal can print."""
    write_run_card(tmp_path / "run.json", CARD)
    values = json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) | {field: value}
    (tmp_path / "run.json").write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(UserError) as error:
        read_run_card(tmp_path)
    assert f"run.json: field {field!r} holds half a surrogate pair" in str(error.value)
    str(error.value).encode()


def test_a_number_beyond_all_is_refused(tmp_path: Path) -> None:
    """1e999 is JSON, but reads as infinity."""
    write_run_card(tmp_path / "run.json", CARD)
    text = (tmp_path / "run.json").read_text(encoding="utf-8").replace('"wall_time_s": 1.5', '"wall_time_s": 1e999')
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"run\.json: field 'wall_time_s' holds a number that is not finite"):
        read_run_card(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        {"reads": "everything"},
        {"paradigm": "magic"},
        {"modality": "video"},
        {"name": "a\ud800"},
        {"outcomes": {"ok": "all"}},
        {"extra": {"note": "\udc80"}},
    ],
)
def test_what_could_not_be_read_is_not_written(tmp_path: Path, changed: dict[str, Any]) -> None:
    """A card that reading would refuse is refused by writing, which leaves no file behind."""
    with pytest.raises(ValueError, match=next(iter(changed.get("extra", changed)))):
        write_run_card(tmp_path / "run.json", replace(CARD, **changed))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b'{"name": "x"', b'{"seed": NaN}', b'{"name": "\xe9"}'])
def test_what_is_no_card_is_refused(tmp_path: Path, content: bytes) -> None:
    """Cut, empty, other JSON, NaN and other encodings end in one line that names the file."""
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(UserError, match=r"run\.json: not a run card"):
        read_run_card(tmp_path)


def test_a_missing_field_or_file_is_named(tmp_path: Path) -> None:
    """A card without two of its fields names both; a folder without a card is named."""
    with pytest.raises(UserError, match=r"run\.json: no such file; write the run card: python -m musicrs_metric card"):
        read_run_card(tmp_path / "run.json")
    write_run_card(tmp_path / "run.json", CARD)
    values = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    del values["fingerprint"], values["reads"]
    (tmp_path / "run.json").write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(
        UserError, match=r"missing 2 fields: 'fingerprint' \(text\), 'reads' \('thread' or 'pools' or 'labels'\)"
    ):
        read_run_card(tmp_path)
