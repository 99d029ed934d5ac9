"""What `list` and `show` tell of the systems, from their declarations alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from musicrs_metric.errors import UserError

from .options import describe
from .registry import SYSTEMS, missing_packages, system_class
from .system import Declaration

if TYPE_CHECKING:
    from rich.table import Table


def systems_table() -> Table:
    """One row per system."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE)
    for heading in ("system", "paradigm", "modalities", "reads", "needs", "here", "how it ranks"):
        table.add_column(heading, no_wrap=heading == "system")
    for name in SYSTEMS:
        try:
            declared = system_class(name).declaration
        except UserError as error:  # one that is broken must not hide the others
            table.add_row(name, "", "", "", "", "broken", str(error))
            continue
        needs = ", ".join(declared.needs) or "–"
        modalities = ", ".join(declared.modalities)
        row = (name, declared.paradigm, modalities, declared.reads, needs, _here(declared), declared.description)
        table.add_row(*row)
    return table


def system_lines(name: str) -> Iterator[str]:
    """All that a system declares, one fact a line.

    Args:
        name: See `baselines.registry.system_class`.

    Raises:
        UserError: No such system.
    """
    cls = system_class(name)
    declared = cls.declaration
    yield f"{declared.name}: {declared.description}"
    if declared.note:
        yield f"note: {declared.note}"
    yield f"paradigm: {declared.paradigm}"
    yield f"modalities: {', '.join(declared.modalities)}"
    yield f"reads: {declared.reads}"
    if declared.model_id:
        weights = "open weights" if declared.open_weights else "closed weights"
        yield f"model: {declared.model_id} ({declared.licence}, {weights})"
    yield f"needs: {', '.join(declared.needs) or 'nothing beyond the core'}; here: {_here(declared)}"
    for option, default, text in describe(cls.Options):
        yield f"option {option} ({default}): {text}"


def _here(declared: Declaration) -> str:
    missing = missing_packages(declared)
    return f"lacks {', '.join(missing)}" if missing else "ready"
