"""Run a recipe: the runs of its parts in OUT/parts, and their fusion in OUT."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.predictions import read_predictions
from musicrs_metric.runs.run_card import RUN_CARD, read_run_card, write_run_card

from ..fusion import fuse_runs
from ..recipes import Part, Recipe
from .dry_run import dry_run
from .processes import Processes
from .reporter import Reporter
from .runner import Plan, RunResult, run

PARTS = "parts"


def run_recipe(
    recipe: Recipe,
    out: Path,
    plan_of: Callable[[Part, Path], Plan],
    processes: Processes,
    reporter: Reporter,
    name: str | None = None,
) -> RunResult | None:
    """Make the runs of the parts, and fuse them. Finished parts are kept, so a stopped run resumes.

    Args:
        recipe: The recipe.
        out: Folder of the fused run.
        plan_of: Makes the run of a part in a folder.
        processes: The processes that share the runs.
        reporter: Shows progress to the user.
        name: Name of the fused run in tables; None for the name of the recipe.

    Returns:
        The fused run in the main process, None in the others.

    Raises:
        UserError: See `runner.run` and `fuse_runs`; or `out` holds another run.
    """
    if (out / RUN_CARD).is_file() and read_run_card(out).extra.get("recipe") != recipe.name:
        raise UserError(
            f"{out}: holds the run {show(read_run_card(out).name)}; name another folder, or remove this one"
        )
    folders = [out / PARTS / part.name for part in recipe.parts]
    # All parts are planned before the first one runs, so that a mistake in the last one costs no time.
    plans = [plan_of(part, folder) for part, folder in zip(recipe.parts, folders, strict=True)]
    results = [run(plan, processes, reporter) for plan in plans]
    if not processes.is_main:
        return None
    card = fuse_runs(
        folders, out, recipe.method, [part.weight for part in recipe.parts], name or recipe.name, replace=True
    )
    card.extra.update({"recipe": recipe.name, "system": recipe.name})
    write_run_card(out / RUN_CARD, card)
    if note := card.extra.get("method_note"):
        reporter.say(note)
    reused = min(result.reused for result in results if result is not None)
    return RunResult(list(read_predictions(out / "predictions.jsonl").predictions), card, reused)


def describe_recipe(recipe: Recipe, out: Path, plan_of: Callable[[Part, Path], Plan]) -> list[str]:
    """Return the planned runs of all parts, as `--dry-run` prints them."""
    return [
        line
        for part in recipe.parts
        for line in (f"part {part.name}:", *dry_run(plan_of(part, out / PARTS / part.name)))
    ]
