"""The run card of a run: drafted before it starts, when it tells one run from another, and completed when it ends."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import musicrs_metric
from musicrs_dataset.records import Thread
from musicrs_metric.base.files import to_json
from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import RUN_CARD, RunCard, write_run_card

from ..data import Data
from ..generative.settings import RENAMED
from ..options import as_json, changed_options, passing_options
from ..system import System
from .guard import attribute_errors
from .processes import Processes

# What may differ between two sessions of one run: where the data lies, what the run is called, and how it went.
_NOT_IDENTITY = {
    "name", "dataset", "licence", "open_weights", "trained", "paradigm", "pools",
    "outcomes", "audio_coverage", "code_version", "wall_time_s", "hardware", "created_at", "extra",
}  # fmt: skip

# Where a card names the options that may differ, too.
_PASSING = "passing_settings"
# Where it keeps what they were in earlier sessions.
_EARLIER = "earlier_settings"


def draft_card(system: System, system_name: str, data: Data, name: str | None = None) -> RunCard:
    """Say what a run will be.

    Args:
        system: The system, its options and context.
        system_name: What the user called it.
        data: The dataset.
        name: What tables are to call the run; the system's name and its chosen options where None. A control and an
            order of the pools are added to it, so that no table takes the run for a plain one.

    Returns:
        The card without what only the end of the run can tell.

    Raises:
        UserError: An error in the system's own code, or something that no card may hold, such as an unknown paradigm.
    """
    declared = system.declaration
    with attribute_errors(declared.name, "run_facts"):
        facts = asdict(system.run_facts())
    with attribute_errors(declared.name, "reads"):
        reads = system.reads
    name = name or f"{declared.name} {changed_options(system.options)}".strip()
    card = RunCard(
        name=", ".join([name, *_peculiar(data)]),
        paradigm=declared.paradigm,
        modality=system.context.modality,
        dataset=data.references.name,
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
        | _made(data)
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
    """Add how a run went.

    Args:
        card: The draft.
        predictions: All predictions.
        processes: The processes that shared the run.
        wall_time_s: How long it took; None where part of it was done earlier and nobody knows.
        audio_coverage: How much was heard; None where the system hears nothing.
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
    """Number of threads per outcome; a system that does not say how an answer came about answered in order."""
    return dict(sorted(Counter(prediction.outcome or "ok" for prediction in predictions).items()))


def identity(card: RunCard, passing: Collection[str] | None = None) -> dict[str, Any]:
    """What makes two runs the same one: everything that a prediction depends on.

    Args:
        card: The card.
        passing: The options that may differ; those that the card names where None.
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
    """A short name for `identity`, the same as in part files that were written before a protocol was renamed."""
    values = identity(card)
    former = {new: old for old, new in RENAMED.items()}
    for holder in (values, values["settings"]):
        if holder.get("protocol") in former:
            holder["protocol"] = former[holder["protocol"]]
    return hashlib.sha256(to_json(values).encode()).hexdigest()[:16]


def differences(earlier: RunCard, now: RunCard) -> Iterator[str]:
    """Name what makes two runs different ones, the options one by one."""
    # An option that this version lets differ may have been part of the identity when the earlier run was made.
    passing = {*earlier.extra.get(_PASSING, ()), *now.extra.get(_PASSING, ())}
    before, after = (_flat(identity(card, passing)) for card in (earlier, now))
    for key in before | after:
        if before.get(key) != after.get(key):
            yield f"{key} was {show(before.get(key))} and is now {show(after.get(key))}"


def code_version() -> str:
    """Version of the project and, in a checkout, the commit, marked where files were changed since."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--exclude=*"]
    quiet = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}  # looking must not get in the way of a git that works
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10, env=quiet)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return musicrs_metric.__version__
    return f"{musicrs_metric.__version__}+{found.stdout.strip()}"


def passing_settings(card: RunCard) -> dict[str, Any]:
    """The options that may differ between two sessions of one run, such as the URL of a server."""
    names = card.extra.get(_PASSING, ())
    return {name: value for name, value in card.settings.items() if name in names}


def carry_changes(card: RunCard, earlier: RunCard) -> RunCard:
    """The card with what `note_changes` put on that of an earlier session."""
    kept = {_EARLIER: earlier.extra[_EARLIER]} if _EARLIER in earlier.extra else {}
    return replace(card, extra=card.extra | kept)


def record_changes(card: RunCard, before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[RunCard, list[str]]:
    """Keep on the card what an earlier session of the run did otherwise.

    Args:
        card: The card of this session.
        before: Names and values of the earlier session.
        now: Names and values of this one.

    Returns:
        The card, with what changed under "earlier_settings", and a line per change.
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
    """Refuse before the run what could not be written at its start, or not be read after its end."""
    with tempfile.TemporaryDirectory() as folder, attribute_errors(system, "its declaration, options or run_facts"):
        file = Path(folder) / RUN_CARD
        try:
            write_run_card(file, card)
        except UserError as error:
            raise UserError(f"system {system}: {str(error).removeprefix(f'{file}: ')}") from error


def _texts(threads: Sequence[Thread]) -> str:
    """Hash of what the fingerprint leaves out and systems read: queries, posts, and which clips there are."""
    digest = hashlib.sha256()
    for thread in threads:
        clips = [(clip.video_id, clip.start_s, clip.duration_s, clip.sha256) for clip in thread.clips or ()]
        digest.update(to_json([thread.query, thread.post, thread.submission_entities, clips]).encode() + b"\n")
    return digest.hexdigest()


def _peculiar(data: Data) -> Iterator[str]:
    if data.control is not None:
        yield data.control.swap
    if data.order is not None:
        yield str(data.order)


def _made(data: Data) -> dict[str, Any]:
    control, order = data.control, data.order
    swapped = {} if control is None else {"control": control.swap, "control_other_genre": control.n_other_genre}
    return swapped if order is None else swapped | {"order": order.number}


def _passing(options: Any) -> dict[str, Any]:
    names = passing_options(options)
    return {_PASSING: names} if names else {}


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    options = {f"option {key}": value for key, value in values["settings"].items()}
    return {key: value for key, value in values.items() if key != "settings"} | options
