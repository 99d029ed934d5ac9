"""Upload of a folder to the Hub: a built dataset, or the tables of mteb."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from musicrs_metric.base.hub_errors import explain_hub_errors, repo_id
from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import dataset_folder

from ..schema import SPLIT
from .manifest import manifest_of

RIGHTS = (
    "Clips keep the terms of their videos. Share a folder with audio only if you have the rights to every clip; text "
    "tables need none of it."
)


class Uploaded(NamedTuple):
    """A finished upload.

    Attributes:
        url: Page of the repository.
        commit: The commit that holds the files.
    """

    url: str
    commit: str


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
    return upload(folder, repo, [f"*/{SPLIT}-*.parquet"], private=private, message=message).url


def has_audio(dataset: str | Path) -> bool:
    """Return whether a dataset folder has the clips of any configuration.

    Args:
        dataset: The directory given to `build`, or the folder in it.
    """
    folder = dataset_folder(dataset)
    manifest = None if folder is None else manifest_of(folder)
    return manifest is not None and bool(manifest.get("audio_sha256"))


def upload(
    folder: Path, repo: str, replaced: Sequence[str], *, private: bool = False, message: str = "The dataset"
) -> Uploaded:
    """Upload a folder in one commit.

    Args:
        folder: The folder.
        repo: `owner/name`; created if it does not exist.
        replaced: Patterns of the files of an earlier upload that must go. `datasets` would read old shards as well.
        private: True to make a new repository private.
        message: Title of the commit.

    Raises:
        UserError: The token, the right to write or the network is missing. Nothing was uploaded.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.utils.tqdm import disable_progress_bars

    if not sys.stderr.isatty():  # in a log, each update of a bar would be a line
        disable_progress_bars()
    api = HfApi()
    with explain_hub_errors(repo):
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        commit = api.upload_folder(
            folder_path=folder,
            repo_id=repo,
            repo_type="dataset",
            commit_message=message,
            delete_patterns=list(replaced),
        )
    return Uploaded(f"{api.endpoint}/datasets/{repo}", str(commit.oid))
