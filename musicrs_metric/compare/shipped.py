"""Rankings of this project's own systems on the published data, so that `compare` needs no run of them.

`shipped.jsonl` holds one system per line: its run card, and per thread the places of the ranked candidates in the
stored pool. It holds integers and no text of the dataset, so it means nothing without the dataset. The fingerprint of
the data is checked. To write it again after a change of a system:

    python -m musicrs_metric.compare.shipped DATA RUN RUN ...
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..base.files import write_text
from ..errors import UserError
from ..runs.predictions import Prediction, PredictionFile
from ..runs.read import RunFiles, read_run_on
from ..runs.references import References
from ..runs.run_card import card_from_values, format_run_card

FILE = "shipped.jsonl"
# Fields of the run card that describe the machine of the run.
_DROPPED = {"wall_time_s", "hardware", "processes", "dataset", "code_version"}


def shipped_names() -> tuple[str, ...]:
    """Return the names of the systems in the file."""
    return tuple(json.loads(line)["system"] for line in _lines())


def is_shipped(path: Path) -> bool:
    """Return True if a run argument is the name of a shipped system, and not a file or folder."""
    return len(path.parts) == 1 and not path.exists() and str(path) in shipped_names()


def shipped_run(name: str, references: References) -> RunFiles:
    """Return the rankings of a shipped system.

    Args:
        name: One of `shipped_names()`.
        references: The dataset.

    Raises:
        UserError: The dataset is not the published one in `query_only`.
    """
    entry = next(entry for entry in map(json.loads, _lines()) if entry["system"] == name)
    card = card_from_values(entry["card"] | {"dataset": references.name}, Path(name))
    if card.fingerprint != references.fingerprint:
        raise UserError(
            f"{name}: its rankings are shipped for the published data, {card.config}, alone, and {references.name}, "
            f"{references.config} has other pools or labels; run it: python -m baselines run --model {name} "
            f"--dataset {references.name} --out runs/{name}"
        )
    rankings = zip(references.thread_ids, references.candidates, entry["places"], strict=True)
    predictions = tuple(
        Prediction(thread_id, tuple(pool[place] for place in places)) for thread_id, pool, places in rankings
    )
    return RunFiles(card, PredictionFile(Path(name), predictions, ()))


def write_shipped(runs: Iterable[RunFiles], references: References, path: Path) -> None:
    """Write the file.

    Args:
        runs: Runs with a card, each a full ranking of every pool.
        references: The dataset.
        path: The file.

    Raises:
        UserError: A run has no card, or does not rank every pool.
    """
    write_text(path, [json.dumps(_entry(run, references), separators=(",", ":")) + "\n" for run in runs])


def _entry(run: RunFiles, references: References) -> dict[str, Any]:
    if run.card is None:
        raise UserError(f"{run.predictions.path}: has no run card")
    rankings = {prediction.thread_id: prediction.ranking for prediction in run.predictions.predictions}
    places = []
    for thread_id, pool in zip(references.thread_ids, references.candidates, strict=True):
        position = {title: place for place, title in reversed(list(enumerate(pool)))}
        ranking = rankings.get(thread_id, ())
        if {*ranking} != {*pool} or len(ranking) != len(position):
            raise UserError(f"{run.predictions.path}: thread {thread_id} is not a full ranking of its pool")
        places.append([position[title] for title in ranking])
    card = {key: value for key, value in json.loads(format_run_card(run.card)).items() if key not in _DROPPED}
    system = str(run.card.extra.get("system", run.card.name))
    return {"system": system, "card": card, "places": places}


def _lines() -> Sequence[str]:
    text = files(__package__ or "").joinpath(FILE).read_text(encoding="utf-8")
    return text.splitlines()


if __name__ == "__main__":
    dataset, *folders = sys.argv[1:]
    loaded = [read_run_on(folder, dataset) for folder in folders]
    write_shipped([run for run, _ in loaded], loaded[0][1], Path(__file__).with_name(FILE))
