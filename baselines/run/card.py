"""The run card: drafted before the run, to distinguish it from other runs, and completed at its end."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import musicrs_metric
from musicrs_dataset.records import Thread
from musicrs_metric.base.files import to_json
from musicrs_metric.errors import UserError, plain, show
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import RUN_CARD, RunCard, format_run_card

from ..data import Data
from ..generative.settings import RENAMED
from ..options import as_json, changed_options, passing_options
from ..system import System
from .guard import attribute_errors
from .processes import Processes

# Fields that may differ between two sessions of one run: place of the data, name of the run, and its results.
_NOT_IDENTITY = {
    "name", "dataset", "licence", "open_weights", "trained", "paradigm", "pools",
    "outcomes", "audio_coverage", "code_version", "wall_time_s", "hardware", "created_at", "extra",
}  # fmt: skip

# Options that later versions added. Left out at their default, they keep the hash of a run that is not finished.
_ADDED = ("match_weights",)

# Field with the names of the options that may differ, too.
_PASSING = "passing_settings"
# Field with their values in earlier sessions.
_EARLIER = "earlier_settings"
# Hashes, which mean nothing to a reader, and what they cover.
_HASHES = {"fingerprint": "pools or labels", "texts": "queries, posts or clips"}


def draft_card(system: System, system_name: str, data: Data, name: str | None = None) -> RunCard:
    """Draft the card of a run.

    Args:
        system: The system, with its options and context.
        system_name: Name of the system on the command line.
        data: The dataset.
        name: Name of the run in tables; None for the name of the system and its changed options. A control and an order
            of the pools are added to the name, so that no table shows the run as a plain one.

    Returns:
        The card without the fields that are known at the end only.

    Raises:
        UserError: The code of the system raised an error, or a field holds a value that no card may hold, such as an
            unknown paradigm.
    """
    declared = system.declaration
    with attribute_errors(declared.name, "run_facts"):
        facts = asdict(system.run_facts())
    with attribute_errors(declared.name, "reads"):
        reads = system.reads
    name = name or f"{declared.name} {changed_options(system.options)}".strip()
    card = RunCard(
        name=", ".join([name, *_name_suffixes(data)]),
        paradigm=declared.paradigm,
        modality=system.context.modality,
        dataset=_without_home(data.references.name),
        config=data.references.config,
        fingerprint=data.references.fingerprint,
        reads=reads,
        model_id=declared.model_id,
        licence=declared.licence,
        open_weights=declared.open_weights,
        trained=declared.trained,
        pools=data.pools,
        shuffles=data.order and data.order.of,
        seed=system.context.seed,
        code_version=code_version(),
        missing_audio=system.context.missing_audio,
        settings=as_json(system.options),
        extra=facts.pop("extra")
        | {"system": system_name, "texts": _texts(data.threads)}
        | _variant(data)
        | _passing(system.options),
        **facts,
    )
    _check(card, declared.name)
    return card


def complete_card(
    card: RunCard,
    predictions: Sequence[Prediction],
    processes: Processes,
    wall_time_s: float | None,
    audio_coverage: dict[str, float] | None,
) -> RunCard:
    """Add the fields that are known at the end of a run.

    Args:
        card: The draft.
        predictions: All predictions.
        processes: The processes that shared the run.
        wall_time_s: Duration in seconds; None if an earlier session ranked a part.
        audio_coverage: Audio used; None if the system uses no clips.
    """
    hardware = f"{platform.machine()}, {os.cpu_count()} CPU cores"
    return replace(
        card,
        outcomes=count_outcomes(predictions),
        audio_coverage=audio_coverage,
        wall_time_s=wall_time_s,
        hardware=f"{hardware}, {processes.world} process{'es' * (processes.world > 1)}",
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        extra=card.extra | {"processes": processes.world},
    )


def count_outcomes(predictions: Iterable[Prediction]) -> dict[str, int]:
    """Count threads per outcome. A prediction without an outcome counts as "ok"."""
    return dict(sorted(Counter(prediction.outcome or "ok" for prediction in predictions).items()))


def identity(card: RunCard, passing: Collection[str] | None = None) -> dict[str, Any]:
    """Return the fields that two sessions of one run share: everything on which a prediction depends.

    Args:
        card: The card.
        passing: Names of the options that may differ; None for those that the card names.
    """
    values = {key: value for key, value in asdict(card).items() if key not in _NOT_IDENTITY}
    passing = card.extra.get(_PASSING, ()) if passing is None else passing
    settings = {key: value for key, value in card.settings.items() if key not in passing}
    for holder in (values, settings):
        if holder.get("protocol") in RENAMED:
            holder["protocol"] = RENAMED[holder["protocol"]]
    values["settings"] = settings
    return values | {key: card.extra.get(key) for key in ("system", "texts", "control", "order", "number_format")}


def identity_hash(card: RunCard) -> str:
    """Return a short hash of `identity`, which stays as it was before a protocol was renamed."""
    values = identity(card)
    for name in _ADDED:
        if values["settings"].get(name) is None:
            values["settings"].pop(name, None)
    former = {new: old for old, new in RENAMED.items()}
    for holder in (values, values["settings"]):
        if holder.get("protocol") in former:
            holder["protocol"] = former[holder["protocol"]]
    return hashlib.sha256(to_json(values).encode()).hexdigest()[:16]


def differences(earlier: RunCard, now: RunCard) -> Iterator[str]:
    """Yield the differences between two runs, one per field or option."""
    # An option that this version lets differ may have been part of the identity when the earlier run was made.
    passing = {*earlier.extra.get(_PASSING, ()), *now.extra.get(_PASSING, ())}
    before, after = (_flat(identity(card, passing)) for card in (earlier, now))
    for key in before | after:
        if before.get(key) == after.get(key):
            continue
        if key in _HASHES:
            then = plain(earlier.dataset)
            yield f"the {_HASHES[key]} of {plain(now.dataset)} are not those that the run ranked (dataset {then})"
        else:
            yield f"{key} was {show(before.get(key))} and is now {show(after.get(key))}"


def code_version() -> str:
    """Return the version of the project, in a checkout with the commit and a mark for changed files."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--exclude=*"]
    environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}  # must not block another git command
    try:
        git = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=True, timeout=10, env=environment
        )
    except (OSError, subprocess.SubprocessError):
        return musicrs_metric.__version__
    return f"{musicrs_metric.__version__}+{git.stdout.strip()}"


def passing_settings(card: RunCard) -> dict[str, Any]:
    """Return the options that may differ between two sessions of one run, such as the URL of a server."""
    names = card.extra.get(_PASSING, ())
    return {name: value for name, value in card.settings.items() if name in names}


def carry_changes(card: RunCard, earlier: RunCard) -> RunCard:
    """Copy the changes that `record_changes` recorded in an earlier session."""
    changes = {_EARLIER: earlier.extra[_EARLIER]} if _EARLIER in earlier.extra else {}
    return replace(card, extra=card.extra | changes)


def record_changes(card: RunCard, before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[RunCard, list[str]]:
    """Record on the card which values differed in an earlier session.

    Args:
        card: The card of this session.
        before: Names and values of the earlier session.
        now: Names and values of this session.

    Returns:
        The card with the former values under "earlier_settings", and one line per change.
    """
    changed = {name: before[name] for name in now if name in before and before[name] != now[name]}
    if not changed:
        return card, []
    earlier = [*card.extra.get(_EARLIER, ()), changed]
    lines = [
        f"{name} was {to_json(value)} in an earlier session and is now {to_json(now[name])}"
        for name, value in changed.items()
    ]
    return replace(card, extra=card.extra | {_EARLIER: earlier}), lines


def _check(card: RunCard, system: str) -> None:
    """Refuse a card that could not be written at the start of the run, or not be read after its end."""
    with attribute_errors(system, "its declaration, options or run_facts"):
        try:
            format_run_card(card)
        except UserError as error:
            raise UserError(f"system {system}: {str(error).removeprefix(f'{RUN_CARD}: ')}") from error


def _texts(threads: Sequence[Thread]) -> str:
    """Hash the data that systems read and the fingerprint does not cover: queries, posts and clips."""
    digest = hashlib.sha256()
    for thread in threads:
        clips = [(clip.video_id, clip.start_s, clip.duration_s, clip.sha256) for clip in thread.clips or ()]
        digest.update(to_json([thread.query, thread.post, thread.submission_entities, clips]).encode() + b"\n")
    return digest.hexdigest()


def _without_home(path: str) -> str:
    """Write ~ for the home folder: a card is published, and needs no name of a user. All commands expand it."""
    home = os.path.expanduser("~").rstrip(os.sep)
    return f"~{path.removeprefix(home)}" if home and path.startswith(home + os.sep) else path


def _name_suffixes(data: Data) -> Iterator[str]:
    if data.control is not None:
        yield data.control.swap
    if data.order is not None:
        yield str(data.order)


def _variant(data: Data) -> dict[str, Any]:
    control, order = data.control, data.order
    fields = {} if control is None else {"control": control.swap, "control_other_genre": control.n_other_genre}
    return fields if order is None else fields | {"order": order.number}


def _passing(options: Any) -> dict[str, Any]:
    names = passing_options(options)
    return {_PASSING: names} if names else {}


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    options = {f"option {key}": value for key, value in values["settings"].items()}
    return {key: value for key, value in values.items() if key != "settings"} | options
