"""The command `card`: the run card of predictions that no runner of this project made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import UserError
from ..options import ModalityOption, ParadigmOption, ReadsOption
from .predictions import PREDICTIONS
from .references import DEFAULT_DATASET
from .run_card import RUN_CARD, RunCard, write_run_card


def card(
    run: Annotated[Path, typer.Argument(help=f"Folder that holds {PREDICTIONS}; {RUN_CARD} is written beside it.")],
    name: Annotated[str, typer.Option(help="What tables are to call the system.")],
    modality: Annotated[ModalityOption, typer.Option(help="What of a thread it is given.")],
    paradigm: Annotated[ParadigmOption, typer.Option(help="How it ranks.")],
    reads: Annotated[
        ReadsOption, typer.Option(help="What it looks at: its own thread; others' pools or texts; others' answers.")
    ],
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Directory or name of the dataset that was ranked.")
    ] = DEFAULT_DATASET,
    config: Annotated[str | None, typer.Option(help="Its configuration. [that of the modality]")] = None,
    model_id: Annotated[str | None, typer.Option(help="Hub id or another public name of its model.")] = None,
    open_weights: Annotated[
        bool | None, typer.Option("--open-weights/--closed-weights", help="Whether anyone can download its weights.")
    ] = None,
    trained: Annotated[
        bool | None, typer.Option("--trained/--untrained", help="Whether it was trained or tuned for this task.")
    ] = None,
) -> None:
    """Write the run card that `compare`, `report` and `submit` want beside predictions of your own."""
    from .read import score_predictions
    from .references import load_references

    if not run.is_dir():
        raise UserError(f"{run}: no such folder; expected one that holds {PREDICTIONS}")
    if (run / RUN_CARD).exists():
        raise UserError(f"{run / RUN_CARD}: there already; move it away to have another")
    references = load_references(dataset, config or modality.value)
    score_predictions(run / PREDICTIONS, references, confidence=None)  # refuses what is no run on this dataset
    made = RunCard(
        name=name,
        paradigm=paradigm.value,
        modality=modality.value,
        dataset=dataset,
        config=references.config,
        fingerprint=references.fingerprint,
        reads=reads.value,
        model_id=model_id,
        open_weights=open_weights,
        trained=trained,
    )
    write_run_card(run / RUN_CARD, made)
    typer.echo(f"{run / RUN_CARD}: {name} on {references.config} of {dataset}")
