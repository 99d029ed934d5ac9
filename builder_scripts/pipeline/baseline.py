"""Last step of a whole run: load the release as users load it, then run a system on it and score the run.

    python -m builder_scripts.pipeline.baseline FOLDER

loads every configuration of a dataset folder in a process of its own, and prints `{"configuration": rows}`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import strict_json, to_json, write_text
from musicrs_metric.errors import UserError

from ..layout import Work
from ..manifest import Counts, hash_files
from .config import BaselineOptions
from .stage import StageOutput, StageResult, run_stage

STAGE = "baseline"
_ROOT = Path(__file__).parents[2]
_HEADLINES = ("recall@20", "ndcg@20", "mrr")
# Variables that would take the place of folders in the home.
_CACHES = ("HF_DATASETS_CACHE", "HF_HUB_CACHE", "HF_MODULES_CACHE", "HF_ASSETS_CACHE")


def run(work: Work, dataset: Path, options: BaselineOptions, home: Path) -> StageResult:
    """Load the release, run a system on it and score the run: -> `baseline/score.json`.

    Args:
        work: The work folder.
        dataset: The folder of the release.
        options: The system.
        home: `HF_HOME` of the processes.

    Returns:
        The manifest, and whether it is new.

    Raises:
        UserError: A process ended with an error.
    """
    inputs = hash_files((dataset / "manifest.json",), below=dataset)
    parameters = options.model_dump(mode="json")
    # Another system, or other data, has another folder, so that a stopped run can resume.
    key = sha256(to_json([inputs[0].sha256, parameters]).encode()).hexdigest()[:12]
    name = f"{options.model.rpartition(':')[2]}-{key}"

    def body(folder: Path) -> StageOutput:
        predictions, source = folder / name, str(dataset.resolve())
        rows: dict[str, int] = strict_json(_python(home, "builder_scripts.pipeline.baseline", source))
        own = [f"--{option}={value}" for option, value in options.options.items()]
        _python(
            home, "baselines", "run", "--model", options.model, "--modality", options.modality, "--pools",
            options.pools, "--seed", str(options.seed), "--dataset", source, "--out", str(predictions.resolve()), *own,
        )  # fmt: skip
        where = ("--predictions", str(predictions.resolve()), "--dataset", source)
        score = strict_json(_python(home, "musicrs_metric", "score", *where, "--json"))
        write_text(folder / "score.json", [to_json(score, indent=2), "\n"])
        n_threads = next(iter(rows.values()))
        loaded = f"loaded: {', '.join(f'{config} ({n})' for config, n in rows.items())}"
        files = (folder / "score.json", predictions / "predictions.jsonl")
        return StageOutput(files, {"threads": Counts(n_threads, n_threads)}, [_summary(options, score), loaded])

    return run_stage(STAGE, work.baseline, inputs, parameters, body, packages=("datasets",))


def main() -> None:
    """Load every configuration of a folder, so that the cache under `HF_HOME` has it, and print the numbers of rows."""
    import datasets

    folder = sys.argv[1]
    datasets.disable_progress_bars()
    names = datasets.get_dataset_config_names(folder)
    sys.stdout.write(to_json({name: len(datasets.load_dataset(folder, name, split="test")) for name in names}) + "\n")


def _summary(options: BaselineOptions, score: Mapping[str, Any]) -> str:
    values = [
        f"{name} {100 * score[name]:.2f} %, {verdict} chance ({100 * score['chance'][name]:.2f} %)"
        for name in _HEADLINES
        for verdict in [score["verdict"][name]]
    ]
    return f"{options.model}, {options.modality}: {', '.join(values)}. Rule for {score['verdict_rule']}"


def _python(home: Path, module: str, *arguments: str) -> str:
    """Run a module and return its standard output."""
    environment = {name: value for name, value in os.environ.items() if name not in _CACHES}
    search_path = filter(None, (str(_ROOT), os.environ.get("PYTHONPATH")))
    environment |= {"HF_HOME": str(home.resolve()), "PYTHONPATH": os.pathsep.join(search_path)}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=environment, cwd=_ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        reason = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1].removeprefix("error: ")
        raise UserError(f"`python -m {module} {' '.join(arguments)}` ended with code {done.returncode}: {reason}")
    return done.stdout


if __name__ == "__main__":
    main()
