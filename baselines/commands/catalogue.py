"""Output of `list` and `show`, from the declarations of the systems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from musicrs_metric.errors import UserError

from ..options import describe
from ..recipes import read_recipe, shipped_recipes
from ..registry import SYSTEMS, missing_packages, system_class
from ..system import Context, Declaration, System

if TYPE_CHECKING:
    from rich.table import Table

# The help of an option without a default names the effective value in brackets at its end.
_EFFECTIVE = re.compile(r"[;,]? *\[(.+)\]$")


def systems_table() -> Table:
    """Return a table with one row per system."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE)
    for heading in ("system", "paradigm", "modalities", "reads", "needs", "packages", "how it ranks"):
        table.add_column(heading, no_wrap=heading == "system")
    for name in SYSTEMS:
        try:
            declared = system_class(name).declaration
        except UserError as error:  # a broken system must not hide the others
            table.add_row(name, "", "", "", "", "broken", str(error))
            continue
        needs = ", ".join(declared.needs) or "–"
        modalities = ", ".join(declared.modalities)
        row = (name, declared.paradigm, modalities, declared.reads, needs, _packages(declared), declared.description)
        table.add_row(*row)
    for name in shipped_recipes():
        table.add_row(name, "fusion", "query_only", "", "", "", read_recipe(name).description)
    return table


def system_lines(name: str) -> Iterator[str]:
    """Yield the declaration and the options of a system, one fact per line.

    Args:
        name: See `baselines.registry.system_class`.

    Raises:
        UserError: The system does not exist.
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
    with suppress(UserError):  # an option is required
        gib = weights_gib(cls)
        if gib:
            yield f"memory: {gib:.1f} GiB for the weights in bfloat16, and more for audio and answers"
    needs = ", ".join(declared.needs)
    yield f"needs: packages {needs}; {_packages(declared)}" if needs else "needs: nothing beyond the core"
    for option, default, text in describe(cls.Options):
        yield _option_line(option, default, text)


def weights_gib(cls: type[System], width: int = 2) -> float:
    """Return the memory of the weights of a system in GiB, without loading them; 0 for small systems.

    Args:
        cls: The system, with the defaults of its options.
        width: Bytes per number, 2 in bfloat16.

    Raises:
        UserError: An option is required.
    """
    from ..generative.memory import Memory
    from ..generative.system import Generative

    if not issubclass(cls, Generative):
        return 0.0
    limits = cls(cls.Options(), Context(modality=cls.declaration.modalities[0])).language_model.limits
    return Memory.of(limits, 0, width=width).weights


def _option_line(option: str, default: str, text: str) -> str:
    if default != "None":
        return f"option {option} ({default}): {text}"
    effective = _EFFECTIVE.search(text)
    return f"option {option} ({effective[1]}): {text[: effective.start()]}" if effective else f"option {option}: {text}"


def _packages(declared: Declaration) -> str:
    missing = missing_packages(declared)
    return f"lacks {', '.join(missing)}" if missing else "installed"
