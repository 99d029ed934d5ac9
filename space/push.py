"""Push the leaderboard to the Hub as a Space: its code, the two packages that it needs, and an entry file."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import musicrs_dataset
import musicrs_metric
from musicrs_metric.base.hub_errors import explain_hub_errors, repo_id

ROOM = Path(__file__).parent
PACKAGES = (Path(musicrs_metric.__file__).parent, Path(musicrs_dataset.__file__).parent, ROOM)
_AT_THE_ROOT = ("README.md", "requirements.txt")
_ENTRY = '''"""Entry of the Space."""

import os
import signal
import sys

from space.cli import main

# The Hub stops a Space by this signal and deletes its disk, so queued submissions are committed before the end.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
sys.argv[1:] = ["--host", "0.0.0.0", "--port", os.environ.get("PORT", "7860")]
main()
'''
# Code and its data files only; no compiled files and no leftovers of editors.
_SUFFIXES = {".py", ".css", ".js", ".j2", ".csv", ".jsonl", ".txt", ".md", ".toml", ".typed"}


class Pushed(NamedTuple):
    """A new or updated Space.

    Attributes:
        address: URL of the Space.
        to_do: Settings that the leaderboard owner must make there, because no token leaves this machine.
    """

    address: str
    to_do: tuple[str, ...]


def push(repo: str, *, token: str | None = None, private: bool = False) -> Pushed:
    """Upload the leaderboard as a Space. Files of an earlier version that no longer exist are deleted there.

    Args:
        repo: `owner/name`. A missing Space is created.
        token: Token with write access; None for that of `hf auth login` or HF_TOKEN.
        private: True to create a new Space as private.

    Returns:
        URL of the Space, and the settings left to make.

    Raises:
        UserError: There is no token, no write access, or no network.
    """
    from huggingface_hub import HfApi

    api = HfApi(token=token)
    with tempfile.TemporaryDirectory() as folder, explain_hub_errors(repo_id(repo, "--repo")):
        stage(Path(folder))
        api.create_repo(repo, repo_type="space", space_sdk="gradio", private=private, exist_ok=True)
        api.upload_folder(
            folder_path=folder,
            repo_id=repo,
            repo_type="space",
            commit_message="The leaderboard",
            delete_patterns=[f"{package.name}/*" for package in PACKAGES],
        )
    address = f"{api.endpoint}/spaces/{repo}"
    to_do = (
        f"in {address}/settings set the variable MUSICRS_DATASET to the id of the dataset on the Hub",
        "set the variable RESULTS_REPO to a dataset repository for submissions, and the secret HF_TOKEN to a token "
        "that may write to it; without them every submission is lost when the Space restarts",
    )
    return Pushed(address, to_do)


def stage(folder: Path) -> None:
    """Copy the files of the Space into a folder.

    Args:
        folder: An empty folder.
    """
    for package in PACKAGES:
        for file in sorted(package.rglob("*")):
            inside = file.relative_to(package)
            if (
                file.is_file()
                and file.suffix in _SUFFIXES
                and not any(part.startswith((".", "_")) for part in inside.parts[:-1])
            ):
                target = folder / package.name / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
    for name in _AT_THE_ROOT:
        (folder / ROOM.name / name).replace(folder / name)
    (folder / "app.py").write_text(_ENTRY, encoding="utf-8")
