"""Submissions as pull requests to the inbox of a results repository on the Hub.

The leaderboard takes the runs that the owner of the repository has merged.
"""

from __future__ import annotations

import hashlib
import re

from ..base.files import to_json
from ..base.hub_errors import commit_files
from ..runs.predictions import PREDICTIONS
from ..runs.run_card import RUN_CARD
from .bundle import Bundle

INBOX = "inbox"


def inbox_files(bundle: Bundle) -> dict[str, bytes]:
    """Return the files of a run in the inbox. The same run has the same path.

    Args:
        bundle: The run.

    Returns:
        Path to content.
    """
    card = f"{to_json(bundle.card, indent=2)}\n".encode()
    digest = hashlib.sha256(card + bundle.predictions).hexdigest()[:12]
    name = re.sub("[^a-z0-9]+", "-", str(bundle.card["name"]).lower()).strip("-")[:40]
    folder = f"{INBOX}/{name or 'run'}-{digest}"
    return {f"{folder}/{PREDICTIONS}": bundle.predictions, f"{folder}/{RUN_CARD}": card}


def open_pull_request(repo: str, bundle: Bundle) -> str:
    """Open a pull request that adds a run to a results repository.

    Args:
        repo: The dataset repository.
        bundle: The run.

    Returns:
        The URL of the pull request.

    Raises:
        UserError: The Hub refuses it, or cannot be reached.
    """
    return commit_files(repo, inbox_files(bundle), f"Submission: {bundle.card['name']}"[:80], repo_type="dataset")
