"""Puts a built dataset on the Hub: the repository, the data, the card."""

from __future__ import annotations

from pathlib import Path

from musicrs_metric.base.hub_errors import explain_hub_errors, repo_id
from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import dataset_folder

from ..schema import SPLIT


def push(dataset: str | Path, repo: str, *, private: bool = False, message: str = "The dataset") -> str:
    """Upload a dataset folder; what an earlier build left there is replaced.

    Args:
        dataset: The directory given to `build`, or the folder in it.
        repo: `owner/name`; made if it does not exist.
        private: Whether a repository that is made is private.
        message: Title of the commit.

    Returns:
        The address of the dataset.

    Raises:
        UserError: There is no such dataset, no token, no right to write there, or no network.
    """
    folder = dataset_folder(dataset)
    if folder is None:
        raise UserError(f"{dataset}: a name, expected the directory given to `musicrs_dataset build --out`")
    script = folder / f"{repo_id(repo, '--repo').split('/')[1]}.py"
    if script.exists():  # `datasets` refuses a dataset whose root holds a script of its name
        raise UserError(f"{script}: a loading script must not lie in the dataset folder; move it away")
    from huggingface_hub import HfApi

    api = HfApi()
    with explain_hub_errors(repo):
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        api.upload_folder(
            folder_path=folder,
            repo_id=repo,
            repo_type="dataset",
            commit_message=message,
            # Shards of another number would be read along with the new ones.
            delete_patterns=[f"*/{SPLIT}-*.parquet"],
        )
    return f"{api.endpoint}/datasets/{repo}"
