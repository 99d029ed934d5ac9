"""`eval.yaml`, by which a dataset on the Hub becomes a benchmark with a leaderboard of its own.

Format: https://huggingface.co/docs/hub/eval-results
"""

from __future__ import annotations

from ..base.hub_errors import explain_hub_errors
from .results import HEADLINE, TASKS, yaml_of

FILE = "eval.yaml"
FRAMEWORK = "musicrs"
NOTE = (
    f"The Hub checks {FILE} when it is committed and takes an `evaluation_framework` from its own list only; "
    f"{FRAMEWORK!r} has to be added to it (huggingface.js, packages/tasks/src/eval.ts), and Hugging Face has to put "
    "the dataset on its list of benchmarks (beta). Until then the file may be refused, and no leaderboard appears."
)


def eval_yaml() -> str:
    """The content of `eval.yaml`: one leaderboard for each of the three configurations."""
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
    """Put `eval.yaml` into a dataset repository.

    Args:
        repo: The dataset.
        pull_request: Whether to ask its owners, in place of a commit.

    Returns:
        The address of the commit or of the pull request.

    Raises:
        UserError: The Hub refuses, or cannot be reached.
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
