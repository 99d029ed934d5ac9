"""Options of `pools`."""

from __future__ import annotations

from pydantic import Field

from musicrs_dataset.pools.poolset import DESIGNS, DISTRACTORS, Design
from musicrs_metric.errors import UserError

from ..pipeline.option_command import StageOptions


class PoolsOptions(StageOptions):
    """Pool designs and the random choice of distractors."""

    designs: list[Design] = Field(
        default=list(Design),
        min_length=1,
        description=" ".join(f"{name}: {rule.help}." for name, rule in DESIGNS.items())
        + " May be repeated. The first design makes the pools of the plain configurations. Another design that the "
        "threads cannot fill is skipped with a note. Default: all, in this order.",
    )
    seed: int = Field(default=0, ge=0, description="Seed of the pools.")
    distractors: int = Field(default=DISTRACTORS, ge=1, description="Distractors per pool, as far as titles suffice.")

    def check(self) -> None:
        """Check that the designs differ.

        Raises:
            UserError: A design appears twice.
        """
        if len(set(self.designs)) < len(self.designs):
            raise UserError(
                f"designs of pools: found {', '.join(self.designs)}, expected different ones of {', '.join(Design)}"
            )
