"""The processes that share a run: one, or those that `accelerate launch` or `torchrun` started."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from musicrs_metric.errors import UserError, show

if TYPE_CHECKING:
    import torch

# At the end of a run, processes wait for the slowest one, which may take hours longer. The default of 30 minutes would
# end the run.
_TIMEOUT = timedelta(days=1)


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
        """True if this process prints, merges and writes the result."""
        return self.rank == 0

    def wait(self) -> None:
        """Wait until every process makes this call."""
        if self.world > 1:
            _state().wait_for_everyone()

    def leave(self) -> None:
        """Leave the group of processes. Do not call `wait` afterwards."""
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
    """Return the processes that the launcher started. A single process does not import torch.

    Raises:
        UserError: The environment names several processes, but no launcher started them, or they do not find each
            other.
    """
    world = launched_world()
    if world <= 1:
        return Processes()
    _check_launch(world)
    try:
        state = _state()
    except UserError:
        raise
    except (RuntimeError, ValueError, OSError) as error:  # no connection, a port in use
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"the {world} processes do not find each other at {_meeting_point()}: {reason}") from None
    if state.num_processes != world:  # otherwise each process would do the whole run
        raise UserError(f"the launcher started {world} processes, accelerate sees {state.num_processes}; try torchrun")
    return Processes(state.process_index, world)


def device() -> torch.device:
    """Return the device of this process."""
    assigned: torch.device = _state().device
    return assigned


def launched_world() -> int:
    """Return the number of processes that the launcher started.

    Raises:
        UserError: `WORLD_SIZE` is not a number of processes, or `RANK` is not below it.
    """
    world = _number("WORLD_SIZE", 1, 1)
    rank = _number("RANK", 0, 0) if "WORLD_SIZE" in os.environ else 0
    if rank >= world:
        raise UserError(f"{_values('RANK', 'WORLD_SIZE')}: expected a RANK below WORLD_SIZE; {_REMEDY}")
    return world


_LAUNCHER = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
# With any of these, accelerate assumes several processes, whatever WORLD_SIZE is.
_FOREIGN = (
    "RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK",
)  # fmt: skip
_REMEDY = (
    "a cluster or a container may have set them: `unset RANK WORLD_SIZE LOCAL_RANK` for a single process, or "
    "start several with torchrun or accelerate launch"
)


def _check_launch(world: int) -> None:
    """Refuse variables that no launcher set, before a process waits for others that do not exist."""
    missing = [name for name in _LAUNCHER if not os.environ.get(name)]
    if missing:
        raise UserError(f"{_values('RANK', 'WORLD_SIZE')}, but {', '.join(missing)} not set; {_REMEDY}")
    local, port = _number("LOCAL_RANK", 0, 0), _number("MASTER_PORT", 0, 1)
    if local >= world or port >= 2**16:
        raise UserError(f"{_values(*_LAUNCHER)}: expected a LOCAL_RANK below WORLD_SIZE and a port; {_REMEDY}")
    if "TORCHELASTIC_RUN_ID" not in os.environ:  # torchrun and accelerate launch set it; a batch script may not
        print(
            f"process {os.environ['RANK']} waits for {world} processes at {_meeting_point()} (WORLD_SIZE={world}); if "
            f"you started only one: {_REMEDY}",
            file=sys.stderr,
        )


def _meeting_point() -> str:
    return f"MASTER_ADDR={os.environ.get('MASTER_ADDR')} MASTER_PORT={os.environ.get('MASTER_PORT')}"


def _number(name: str, default: int, least: int) -> int:
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):
        raise UserError(f"{name}={show(text)} in the environment: expected a number from {least}; {_REMEDY}")
    return int(text)


def _values(*names: str) -> str:
    return ", ".join(f"{name}={os.environ[name]}" if name in os.environ else f"{name} not set" for name in names)


@contextmanager
def _alone() -> Iterator[None]:
    """Hide variables of a launcher or a cluster from a single process."""
    hidden = {name: os.environ.pop(name) for name in _FOREIGN if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(hidden)


def _state() -> Any:
    try:
        import torch
        from accelerate import PartialState
        from accelerate.utils import parse_flag_from_env
    except ImportError as error:
        raise UserError(f"accelerate is not installed ({error}); pip install 'musicrs[baselines]'") from error
    is_alone = launched_world() <= 1
    # Without `cpu`, accelerate does not form a group of several processes on CPUs.
    no_device = not is_alone and not (torch.cuda.is_available() or torch.xpu.is_available())
    with _alone() if is_alone else nullcontext():
        return PartialState(cpu=no_device or parse_flag_from_env("ACCELERATE_USE_CPU"), timeout=_TIMEOUT)
