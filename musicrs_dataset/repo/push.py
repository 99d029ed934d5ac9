"""Upload a built dataset to the Hub: the repository, the data, the card."""

from __future__ import annotations

from pathlib import Path

from musicrs_metric.base.hub_errors import explain_hub_errors, repo_id
from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import dataset_folder

from ..schema import SPLIT


def push(dataset: str | Path, repo: str, *, private: bool = False, message: str = "The dataset") -> str:
    """Upload a dataset folder, and replace the files of an earlier build.

    Args:
        dataset: The directory given to `build`, or the folder in it.
        repo: `owner/name`; created if it does not exist.
        private: True to make a new repository private.
        message: Title of the commit.

    Returns:
        URL of the dataset.

    Raises:
        UserError: The dataset, the token, the right to write or the network is missing.
    """
    folder = dataset_folder(dataset)
    if folder is None:
        raise UserError(f"{dataset}: a name, expected the directory given to `musicrs_dataset build --out`")
    script = folder / f"{repo_id(repo, '--repo').split('/')[1]}.py"
    if script.exists():  # `datasets` refuses a dataset with a script of its name in its root
        raise UserError(f"{script}: found a loading script in the dataset folder, expected none; move it away")
    from huggingface_hub import HfApi

    api = HfApi()
    with explain_hub_errors(repo):
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        api.upload_folder(
            folder_path=folder,
            repo_id=repo,
            repo_type="dataset",
            commit_message=message,
            # `datasets` would read old shards together with the new ones.
            delete_patterns=[f"*/{SPLIT}-*.parquet"],
        )
    return f"{api.endpoint}/datasets/{repo}"
