"""A run put into the inbox of a results repository on the Hub, from which its board takes what the owner has merged."""

from __future__ import annotations

import hashlib
import re

from ..base.files import to_json
from ..base.hub_errors import explain_hub_errors
from ..runs.predictions import PREDICTIONS
from ..runs.run_card import RUN_CARD
from .bundle import Parcel

INBOX = "inbox"


def inbox_files(parcel: Parcel) -> dict[str, bytes]:
    """The files of a run in the inbox; the same run has the same place.

    Args:
        parcel: The run.

    Returns:
        Path to content.
    """
    card = f"{to_json(parcel.card, indent=2)}\n".encode()
    digest = hashlib.sha256(card + parcel.predictions).hexdigest()[:12]
    name = re.sub("[^a-z0-9]+", "-", str(parcel.card["name"]).lower()).strip("-")[:40]
    folder = f"{INBOX}/{name or 'run'}-{digest}"
    return {f"{folder}/{PREDICTIONS}": parcel.predictions, f"{folder}/{RUN_CARD}": card}


def open_pull_request(repo: str, parcel: Parcel) -> str:
    """Ask the owner of a results repository to take a run in.

    Args:
        repo: The dataset repository.
        parcel: The run.

    Returns:
        The address of the pull request.

    Raises:
        UserError: The Hub refuses, or cannot be reached.
    """
    from huggingface_hub import CommitOperationAdd, HfApi

    with explain_hub_errors(repo):
        commit = HfApi().create_commit(
            repo,
            [CommitOperationAdd(path, content) for path, content in inbox_files(parcel).items()],
            repo_type="dataset",
            commit_message=f"Submission: {parcel.card['name']}"[:80],
            create_pr=True,
        )
    return str(commit.pr_url or commit.commit_url)
