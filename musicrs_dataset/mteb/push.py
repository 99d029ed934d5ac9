"""Upload of the tables of mteb to a repository of their own."""

from __future__ import annotations

from pathlib import Path

from musicrs_metric.base.hub_errors import explain_hub_errors, repo_id


def push_layout(folder: Path, repo: str, *, private: bool = False) -> str:
    """Upload a folder of `write_layout`, and replace the tables of an earlier upload.

    Args:
        folder: The folder.
        repo: `owner/name`; created if it does not exist. The dataset itself needs another repository.
        private: True to make a new repository private.

    Returns:
        URL of the repository.

    Raises:
        UserError: The token, the right to write or the network is missing.
    """
    from huggingface_hub import HfApi

    repo_id(repo, "--push")
    api = HfApi()
    with explain_hub_errors(repo):
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        api.upload_folder(
            folder_path=folder,
            repo_id=repo,
            repo_type="dataset",
            commit_message="Tables for mteb",
            # Audio of an earlier upload must not stay.
            delete_patterns=["*.parquet"],
        )
    return f"{api.endpoint}/datasets/{repo}"
