"""Runs in processes of their own that share one import of torch and transformers, which takes longer than a small run.

They come from multiprocessing's fork server: a process that has imported libraries and done nothing else, and so can be
forked safely. Launchers are tested in `test_launch`; here the environment that they make is written down.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
from collections.abc import Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path

PRELOADED = [
    "accelerate",
    "baselines.cli",
    "torch",
    "transformers.generation",
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.models.qwen2_audio.modeling_qwen2_audio",
]


def start(arguments: Sequence[str], environment: dict[str, str], log: Path, world: int = 1) -> list[ForkServerProcess]:
    """Start `python -m baselines` with some arguments in so many processes.

    Args:
        arguments: The command and its options.
        environment: Of the processes.
        log: Where their output goes; the number of a process is added to its name.
        world: How many.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)  # at the first start in a session; later ones find it running
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        group = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1]), "WORLD_SIZE": str(world)}
    processes = []
    for rank in range(world):
        own = {"RANK": str(rank), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(world)}
        launched = environment | group | own if world > 1 else environment
        file = log.with_name(f"{log.name}{rank}")
        process = context.Process(target=_run, args=(list(arguments), launched, file), daemon=True)
        process.start()
        processes.append(process)
    return processes


def finish(processes: Sequence[ForkServerProcess], log: Path, timeout: float = 180) -> None:
    """Wait for processes to end well; the output of one that does not is shown."""
    for rank, process in enumerate(processes):
        process.join(timeout)
        assert process.exitcode == 0, log.with_name(f"{log.name}{rank}").read_text()


def _run(arguments: list[str], environment: dict[str, str], file: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    with file.open("w") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    sys.argv = ["baselines", *arguments]
    from baselines.cli import main

    main()
