"""How many processes share a run: one, or as many as `accelerate launch` or `torchrun` started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from musicrs_metric.errors import UserError

if TYPE_CHECKING:
    import torch

# Processes wait for the slowest of them at the end of a run, and a model may take hours over its share; the usual 30
# minutes would end the run.
_PATIENCE = timedelta(days=1)


@dataclass(frozen=True)
class Processes:
    """The processes of a run, seen from one of them.

    Attributes:
        rank: Number of this process, from 0.
        world: Number of processes.
    """

    rank: int = 0
    world: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this process prints, merges and writes the result."""
        return self.rank == 0

    def wait(self) -> None:
        """Wait until every process has come here."""
        if self.world > 1:
            _state().wait_for_everyone()

    def leave(self) -> None:
        """Take leave of the others; nothing may be waited for afterwards."""
        if self.world > 1:
            _state().destroy_process_group()

    @contextmanager
    def main_first(self) -> Iterator[None]:
        """Let the main process run the block before the others, so that they find what it downloaded or cached."""
        if not self.is_main:
            self.wait()
        yield
        if self.is_main:
            self.wait()


def launched() -> Processes:
    """The processes that the launcher started; torch is imported only where there are several."""
    world = launched_world()
    if world <= 1:
        return Processes()
    state = _state()
    if state.num_processes != world:  # else each process would take the whole run for its own
        raise UserError(f"the launcher started {world} processes, accelerate sees {state.num_processes}; try torchrun")
    return Processes(state.process_index, world)


def device() -> torch.device:
    """The device of this process."""
    found: torch.device = _state().device
    return found


def launched_world() -> int:
    """Number of processes that the launcher started."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def _state() -> Any:
    try:
        import torch
        from accelerate import PartialState
        from accelerate.utils import parse_flag_from_env
    except ImportError as error:
        raise UserError(f"accelerate is not installed ({error}); pip install 'musicrs[baselines]'") from error
    # Told nothing, accelerate does not make a group of several processes on CPUs.
    no_device = launched_world() > 1 and not (torch.cuda.is_available() or torch.xpu.is_available())
    return PartialState(cpu=no_device or parse_flag_from_env("ACCELERATE_USE_CPU"), timeout=_PATIENCE)
