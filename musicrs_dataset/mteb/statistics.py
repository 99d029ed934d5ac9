"""Descriptive statistics of the tasks, in the files that mteb asks for with a new task. They hold counts, no texts.

python -m musicrs_dataset.mteb.statistics mteb_data musicrs_dataset/mteb/descriptive_stats
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from musicrs_metric.errors import UserError, front_door

from .tasks import TASKS, local


def write_statistics(layout: Path, out: Path) -> list[Path]:
    """Write `<type>/<task>.json` per task of a folder of tables, as in `mteb/descriptive_stats`.

    Args:
        layout: Folder of `python -m musicrs_dataset mteb`.
        out: Folder to write into.

    Returns:
        The files.

    Raises:
        UserError: The folder has no tables.
    """
    written = []
    for config, task_class in TASKS.items():
        if not (layout / f"{config}-queries").is_dir():
            continue
        task = local(task_class, str(layout))
        task.calculate_descriptive_statistics(overwrite_results=True)
        made = task.metadata.descriptive_stat_path  # in the folder of the installed mteb
        path = out / made.parent.name / made.name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, path)
        written.append(path)
    if not written:
        raise UserError(f"{layout}: no tables in it; expected the folder of `python -m musicrs_dataset mteb`")
    return written


def _main() -> None:
    if len(sys.argv) != 3:
        raise UserError("expected two folders: the tables of mteb, and the one to write into")
    for path in write_statistics(Path(sys.argv[1]), Path(sys.argv[2])):
        print(path)


if __name__ == "__main__":
    front_door(_main)
