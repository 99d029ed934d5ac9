"""The last step: the release is loaded as users load it, and a system is run on it and scored, each in a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from musicrs_metric.base.files import strict_json, to_json, write_text
from musicrs_metric.errors import UserError

from ..layout import Work
from ..manifest import Counts, StageManifest, hash_files, is_done, versions_of

STAGE = "baseline"
_ROOT = Path(__file__).parents[2]
_HEADLINES = ("recall@20", "ndcg@20", "mrr")


@dataclass(frozen=True)
class Baseline:
    """What is run; see `python -m baselines run --help`.

    Attributes:
        model: The system.
        modality: What it is given.
        pools: Which pools it ranks.
        seed: Of everything random.
        options: Its own options, by name.
    """

    model: str
    modality: str
    pools: str = "published"
    seed: int = 0
    options: Mapping[str, str | int | float] = field(default_factory=dict)


def run(work: Work, dataset: Path, system: Baseline, home: Path) -> tuple[StageManifest, bool]:
    """Load the release, run a system on it and score the run, unless that is done: -> `baseline/score.json`.

    Args:
        work: The work folder.
        dataset: The folder of the release.
        system: What to run.
        home: `HF_HOME` of the processes.

    Returns:
        The manifest, and whether anything had to be done.

    Raises:
        UserError: A process ended with an error.
    """
    began = perf_counter()
    inputs = hash_files((dataset / "manifest.json",), below=dataset)
    parameters = asdict(system)
    if is_done(work.baseline, STAGE, parameters, inputs):
        return StageManifest.read(work.baseline, STAGE), False
    # Another system, or other data, has another folder, so that a run that was stopped may go on.
    key = sha256(to_json([inputs[0].sha256, parameters]).encode()).hexdigest()[:12]
    folder = work.baseline / f"{system.model.rpartition(':')[2]}-{key}"
    loaded: dict[str, int] = strict_json(_python(home, "builder_scripts.pipeline.loading", str(dataset.resolve())))
    own = [f"--{name}={value}" for name, value in system.options.items()]
    _python(
        home, "baselines", "run", "--model", system.model, "--modality", system.modality, "--pools", system.pools,
        "--seed", str(system.seed), "--dataset", str(dataset.resolve()), "--out", str(folder.resolve()), *own,
    )  # fmt: skip
    where = ("--predictions", str(folder.resolve()), "--dataset", str(dataset.resolve()))
    score = strict_json(_python(home, "musicrs_metric", "score", *where, "--json"))
    write_text(work.baseline / "score.json", [to_json(score, indent=2), "\n"])
    rows = next(iter(loaded.values()))
    manifest = StageManifest(
        stage=STAGE,
        inputs=inputs,
        outputs=hash_files((work.baseline / "score.json", folder / "predictions.jsonl"), below=work.baseline),
        parameters=parameters,
        counts={"threads": Counts(rows, rows)},
        wall_s=perf_counter() - began,
        notes=[_told(system, score), f"loaded: {', '.join(f'{name} ({n})' for name, n in loaded.items())}"],
        versions=versions_of(("datasets",)),
    )
    manifest.write(work.baseline)
    return manifest, True


def _told(system: Baseline, score: Mapping[str, Any]) -> str:
    told = [
        f"{name} {100 * score[name]:.2f} %, {verdict} chance ({100 * score['chance'][name]:.2f} %)"
        for name in _HEADLINES
        for verdict in [score["verdict"][name]]
    ]
    return f"{system.model}, {system.modality}: {', '.join(told)}. Rule for {score['verdict_rule']}"


def _python(home: Path, module: str, *arguments: str) -> str:
    """Run a module and return what it prints; what it has to tell people goes to the terminal."""
    environment = {name: value for name, value in os.environ.items() if name not in _CACHES}
    environment |= {"HF_HOME": str(home.resolve()), "PYTHONPATH": os.pathsep.join(_search_path())}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=environment, cwd=_ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        told = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1].removeprefix("error: ")
        raise UserError(f"`python -m {module} {' '.join(arguments)}` ended with code {done.returncode}: {told}")
    return done.stdout


# What would take the place of folders in the home.
_CACHES = ("HF_DATASETS_CACHE", "HF_HUB_CACHE", "HF_MODULES_CACHE", "HF_ASSETS_CACHE")


def _search_path() -> Sequence[str]:
    given = os.environ.get("PYTHONPATH")
    return [str(_ROOT), *([given] if given else [])]
