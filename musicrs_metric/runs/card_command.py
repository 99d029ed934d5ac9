"""The command `card`: write the run card of predictions that no runner of this project made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import UserError
from .predictions import PREDICTIONS
from .references import DEFAULT_DATASET
from .run_card import RUN_CARD, Modality, Paradigm, Reads, RunCard, write_run_card


def card(
    run: Annotated[Path, typer.Argument(help=f"Folder that holds {PREDICTIONS}. {RUN_CARD} is written there.")],
    name: Annotated[str, typer.Option(help="Name of the system in tables.")],
    modality: Annotated[Modality, typer.Option(help="Input that the system gets of a thread.")],
    paradigm: Annotated[Paradigm, typer.Option(help="Kind of system.")],
    reads: Annotated[
        Reads, typer.Option(help="Data that it uses: its own thread, other threads' pools or texts, or their labels.")
    ],
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Directory or name of the dataset that was ranked.")
    ] = DEFAULT_DATASET,
    config: Annotated[str | None, typer.Option(help="Configuration of the dataset. [that of the modality]")] = None,
    model_id: Annotated[str | None, typer.Option(help="Hub id or another public name of its model.")] = None,
    open_weights: Annotated[
        bool | None, typer.Option("--open-weights/--closed-weights", help="Whether anyone can download its weights.")
    ] = None,
    trained: Annotated[
        bool | None, typer.Option("--trained/--untrained", help="Whether it was trained or tuned for this task.")
    ] = None,
) -> None:
    """Write the run card that `compare`, `report` and `submit` need next to your own predictions."""
    from ..catalogue.corpus import load_labels
    from ..catalogue.read import has_dialogues, score_dialogues
    from .predictions import read_predictions
    from .read import score_predictions

    if not run.is_dir():
        raise UserError(f"{run}: no such folder; expected one that holds {PREDICTIONS}")
    if (run / RUN_CARD).exists():
        raise UserError(f"{run / RUN_CARD}: exists already; move it away to write a new one")
    references = load_labels(dataset, config or modality)
    # Both refuse a file that does not fit this dataset.
    if has_dialogues(references):
        score_dialogues(read_predictions(run / PREDICTIONS, references), references, confidence=None)
    else:
        score_predictions(run / PREDICTIONS, references, confidence=None)
    run_card = RunCard(
        name=name,
        paradigm=paradigm,
        modality=modality,
        dataset=dataset,
        config=references.config,
        fingerprint=references.fingerprint,
        reads=reads,
        model_id=model_id,
        open_weights=open_weights,
        trained=trained,
    )
    write_run_card(run / RUN_CARD, run_card)
    typer.echo(f"{run / RUN_CARD}: {name} on {references.config} of {dataset}")
