"""`eval.yaml`, the file that makes a dataset on the Hub a benchmark with its own leaderboard.

Format: https://huggingface.co/docs/hub/eval-results
"""

from __future__ import annotations

from ..base.hub_errors import commit_files
from .results import HEADLINE, TASKS
from .yaml_edit import yaml_of

FILE = "eval.yaml"
FRAMEWORK = "musicrs"
NOTE = (
    f"The Hub checks {FILE} when it is committed and takes an `evaluation_framework` from its own list only; "
    f"{FRAMEWORK!r} has to be added to it (huggingface.js, packages/tasks/src/eval.ts), and Hugging Face has to put "
    "the dataset on its list of benchmarks (beta). Until then the file may be refused, and no leaderboard appears."
)


def eval_yaml() -> str:
    """Return the content of `eval.yaml`: one leaderboard per configuration."""
    return yaml_of(
        {
            "name": "MusiCRS",
            "description": (
                "Conversational music recommendation from audio: in each of 477 Reddit threads a system ranks about "
                f"100 named songs, artists and albums. One number a task, {HEADLINE} in percent over all threads; a "
                "random order of the published pools scores 20.42."
            ),
            "evaluation_framework": FRAMEWORK,
            "tasks": [{"id": task, "config": task, "split": "test"} for task in TASKS],
        }
    )


def push_benchmark(repo: str, *, pull_request: bool = False) -> str:
    """Commit `eval.yaml` to a dataset repository.

    Args:
        repo: The dataset.
        pull_request: Whether to open a pull request instead of a commit.

    Returns:
        The URL of the commit or of the pull request.

    Raises:
        UserError: The Hub refuses it, or cannot be reached.
    """
    files = {FILE: eval_yaml().encode()}
    return commit_files(repo, files, "Benchmark: tasks and framework", repo_type="dataset", pull_request=pull_request)
