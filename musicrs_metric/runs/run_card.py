"""The run card (`run.json`): the system, the data of the run, and the data that the system may read.

A score without its card cannot be compared. The card states the data (fingerprint), the model (revision), the protocol
and the failures. It stores no scores. They are computed again from the predictions.
"""

from __future__ import annotations

import shlex
import types
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..base.files import strict_json, to_json, write_text
from ..errors import UserError, count, is_unicode, show

RUN_CARD = "run.json"

Paradigm = Literal["generative", "retrieval", "traditional"]
Modality = Literal["audio_query", "query_only", "audio_only"]
# thread: its own query, post, clips and pool; pools: other threads' texts or pools, unlabelled; labels: other threads'
# ground truth. Systems are ranked only among those that read the same.
Reads = Literal["thread", "pools", "labels"]


@dataclass(frozen=True, kw_only=True)
class RunCard:
    """Facts about a run that a comparison needs. Optional fields are None if unknown.

    Attributes:
        name: Name of the system on leaderboards and in tables.
        paradigm: Kind of system.
        modality: Input that the system gets of a thread.
        dataset: Name or path of the dataset of the run.
        config: Configuration of the dataset.
        fingerprint: Hash of pools and labels (`musicrs_metric.runs.references.fingerprint`).
        reads: Data that the system uses beyond its own thread.
        model_id: Hub id or another public name of the model.
        model_revision: Commit or version of the model.
        licence: SPDX id or name of the licence of the weights.
        open_weights: Whether anyone can download the weights.
        trained: Whether it was trained or tuned for this task; False for zero-shot use.
        pools: Pool design, "published" for the authors' own pools.
        protocol: Protocol of the prompts, e.g. "full_list".
        prompt_hash: sha256 of the prompt, in hexadecimal.
        shuffles: Seeded orders in which every pool was ranked; the predictions are those of one of them. None for the
            stored order alone.
        seed: Seed of everything random.
        missing_audio: Treatment of a thread without a usable clip.
        clip_plan: Rule by which clips were chosen and cut.
        audio_coverage: Amount of available audio, e.g. `{"threads": 0.98, "seconds_offered": 300, "seconds_used": 30}`.
        outcomes: Number of threads per outcome (`musicrs_metric.runs.predictions.Outcome`).
        code_version: Version or commit of the code that ran.
        wall_time_s: Duration in seconds.
        hardware: Hardware of the run.
        created_at: End of the run, ISO 8601 in UTC.
        settings: The system's own options.
        extra: Unknown fields of the file, unchanged.
    """

    name: str
    paradigm: Paradigm
    modality: Modality
    dataset: str
    config: str
    fingerprint: str
    reads: Reads
    model_id: str | None = None
    model_revision: str | None = None
    licence: str | None = None
    open_weights: bool | None = None
    trained: bool | None = None
    pools: str | None = None
    protocol: str | None = None
    prompt_hash: str | None = None
    shuffles: int | None = None
    seed: int | None = None
    missing_audio: str | None = None
    clip_plan: str | None = None
    audio_coverage: dict[str, float] | None = None
    outcomes: dict[str, int] | None = None
    code_version: str | None = None
    wall_time_s: float | None = None
    hardware: str | None = None
    created_at: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


# Fields that every card must have.
REQUIRED = tuple(item.name for item in fields(RunCard) if item.default is MISSING and item.default_factory is MISSING)


def read_run_card(path: str | Path) -> RunCard:
    """Read a run card of this or any other version.

    Args:
        path: The file, or the run folder that holds `run.json`.

    Returns:
        The card. Unknown fields are in `extra`.

    Raises:
        UserError: The file cannot be read, is not a JSON object, lacks a required field, or holds a field of another
            type, an unknown choice, or text or a number that no file can store. The message names file and field.
    """
    file = Path(path)
    file = file / RUN_CARD if file.is_dir() else file
    try:
        values = strict_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; write the run card: {card_command(file.parent, {})}") from None
    except OSError as error:
        raise UserError(f"{file}: cannot be read ({error.strerror}); expected a run card") from error
    except ValueError as error:
        raise UserError(f"{file}: not a run card, found no JSON ({error})") from error
    if not isinstance(values, dict):
        raise UserError(f"{file}: not a run card, found {show(values)}, expected a JSON object")
    return card_from_values(values, file)


def card_command(folder: Path, facts: Mapping[str, Any]) -> str:
    """Return the command that writes the run card of a folder.

    Args:
        folder: The run folder.
        facts: Known values of its options. A required option without a value gets an ellipsis.
    """
    needed = dict.fromkeys(("name", "modality", "paradigm", "reads", "dataset"))
    values = needed | {name: value for name, value in facts.items() if value is not None}
    options = (
        f"--{name.replace('_', '-')} {'...' if value is None else shlex.quote(str(value))}"
        for name, value in values.items()
    )
    return f"python -m musicrs_metric card {shlex.quote(str(folder))} {' '.join(options)}"


def write_run_card(path: str | Path, card: RunCard) -> None:
    """Write a run card as indented JSON, in one step. The fields of `extra` go to the top level.

    Args:
        path: The file to write.
        card: The card.

    Raises:
        ValueError: A number in it is not finite, or `read_run_card` would refuse it.
    """
    write_text(path, [format_run_card(card, Path(path)), "\n"])


def format_run_card(card: RunCard, file: Path = Path(RUN_CARD)) -> str:
    """Return a run card as indented JSON, with the fields of `extra` at the top level.

    Args:
        card: The card.
        file: Name of the file in messages.

    Raises:
        ValueError: A number in it is not finite, or `read_run_card` would refuse it.
    """
    values = asdict(card)
    extra = {key: value for key, value in values.pop("extra").items() if key not in values}
    text = to_json(values | extra, indent=2)
    card_from_values(strict_json(text), file)
    return text


def card_from_values(values: dict[str, Any], file: Path = Path(RUN_CARD)) -> RunCard:
    """Return a run card from the fields of its file.

    Args:
        values: Plain JSON types.
        file: Name of the file in messages.

    Raises:
        UserError: See `read_run_card`.
    """
    for name, value in values.items():
        try:
            text = to_json([name, value])
        except ValueError:  # 1e999
            raise UserError(f"{file}: field {name!r} holds a number that is not finite") from None
        if not is_unicode(text):
            raise UserError(f"{file}: field {name!r} holds half a surrogate pair, which no file can store")
    hints = get_type_hints(RunCard)
    missing = [name for name in REQUIRED if name not in values]
    if missing:
        named = [f"{name!r} ({_words(hints[name])})" for name in missing]
        raise UserError(f"{file}: missing {count(len(missing), 'field')}: {', '.join(named)}")
    known: dict[str, Any] = {}
    for item in fields(RunCard):
        if item.name == "extra" or item.name not in values:
            continue
        value = values[item.name]
        if not _fits(value, hints[item.name]):
            raise UserError(f"{file}: field {item.name!r} is {show(value)}, expected {_words(hints[item.name])}")
        known[item.name] = value
    return RunCard(**known, extra={key: value for key, value in values.items() if key not in known})


def _fits(value: Any, hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin is Literal:
        return value in arguments
    if origin in (Union, types.UnionType):
        return any(_fits(value, argument) for argument in arguments)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(item, arguments[1]) for item in value.values())
    if hint in (int, float):
        return isinstance(value, int if hint is int else int | float) and not isinstance(value, bool)
    return isinstance(value, hint)


_WORDS = {str: "text", bool: "true or false", int: "an integer", float: "a number", type(None): "null"}


def _words(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " or ".join(repr(choice) for choice in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(_words(argument) for argument in arguments)
    if origin is dict:
        return "an object" if arguments[1] is Any else f"an object whose values are each {_words(arguments[1])}"
    return _WORDS[hint]
