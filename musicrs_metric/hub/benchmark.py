"""`eval.yaml`, the file that makes a dataset on the Hub a benchmark with its own leaderboard.

Format: https://huggingface.co/docs/hub/eval-results
"""

from __future__ import annotations

from ..base.hub_errors import explain_hub_errors
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
    from huggingface_hub import CommitOperationAdd, HfApi

    with explain_hub_errors(repo):
        commit = HfApi().create_commit(
            repo,
            [CommitOperationAdd(FILE, eval_yaml().encode())],
            repo_type="dataset",
            commit_message="Benchmark: tasks and framework",
            create_pr=pull_request,
        )
    return str(commit.pr_url or commit.commit_url)
