"""What `list` and `show` tell of the systems, from their declarations alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from musicrs_metric.errors import UserError

from ..options import describe
from ..registry import SYSTEMS, missing_packages, system_class
from ..system import Context, Declaration, System

if TYPE_CHECKING:
    from rich.table import Table

# An option without a value of its own says in brackets at the end of its help what it then comes to.
_STANDS_FOR = re.compile(r"[;,]? *\[(.+)\]$")


def systems_table() -> Table:
    """One row per system."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE)
    for heading in ("system", "paradigm", "modalities", "reads", "needs", "packages", "how it ranks"):
        table.add_column(heading, no_wrap=heading == "system")
    for name in SYSTEMS:
        try:
            declared = system_class(name).declaration
        except UserError as error:  # one that is broken must not hide the others
            table.add_row(name, "", "", "", "", "broken", str(error))
            continue
        needs = ", ".join(declared.needs) or "–"
        modalities = ", ".join(declared.modalities)
        row = (name, declared.paradigm, modalities, declared.reads, needs, _packages(declared), declared.description)
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
    with suppress(UserError):  # an option that has to be given
        gib = weights_gib(cls)
        if gib:
            yield f"memory: {gib:.1f} GiB for the weights in bfloat16, and more for what is heard and written"
    needs = ", ".join(declared.needs)
    yield f"needs: packages {needs}; {_packages(declared)}" if needs else "needs: nothing beyond the core"
    for option, default, text in describe(cls.Options):
        yield _option_line(option, default, text)


def weights_gib(cls: type[System], width: int = 2) -> float:
    """What the weights of a system take, in GiB; 0 where it declares nothing, as small ones. No weights are loaded.

    Args:
        cls: The system, of which the defaults are looked at.
        width: Bytes of a number, 2 in bfloat16.

    Raises:
        UserError: An option has to be given.
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
    found = _STANDS_FOR.search(text)
    return f"option {option} ({found[1]}): {text[: found.start()]}" if found else f"option {option}: {text}"


def _packages(declared: Declaration) -> str:
    missing = missing_packages(declared)
    return f"lacks {', '.join(missing)}" if missing else "installed"
