"""Submissions in a public repository on the Hub: `predictions.jsonl` and `run.json` at its root."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal, NamedTuple, TypeGuard, get_args

from musicrs_metric.base.paths import REPO_NAME
from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.predictions import PREDICTIONS
from musicrs_metric.runs.run_card import RUN_CARD

from ..settings import Limits
from .refusal import IntakeError, at_field
from .unpack import megabytes

Kind = Literal["dataset", "model"]

_LONGEST_PART = 96  # characters of an owner or a name on the Hub
_FIELD = "repo"
_PACKED = f"{PREDICTIONS}.gz"
_TIMEOUT_S = 20.0
_HUB = "https://huggingface.co"


class Fetched(NamedTuple):
    """Files of a repository.

    Attributes:
        predictions: Content of the prediction file, packed or not.
        card: Content of the run card.
        link: Page of the repository at the commit that was read.
    """

    predictions: bytes
    card: bytes
    link: str


def fetch(repo: object, kind: object, limits: Limits, *, endpoint: str | None = None) -> Fetched:
    """Read a submission from the Hub without a token.

    Args:
        repo: `owner/name` as it was sent.
        kind: "dataset" or "model".
        limits: Largest sizes, checked before a download.
        endpoint: URL of the Hub; None for HF_ENDPOINT or huggingface.co.

    Returns:
        Both files of the newest commit.

    Raises:
        IntakeError: There is no such public repository, a file is missing, or a file is too large.
        UserError: The Hub does not answer.
    """
    if not _is_repo_id(repo):
        raise _refused(f"found {show(repo)}, expected owner/name")
    if kind not in get_args(Kind):
        raise _refused(f"found the kind {show(kind)}, expected {' or '.join(get_args(Kind))}")
    from huggingface_hub import HfApi, RepoFile, errors, get_session
    from huggingface_hub.errors import HfHubHTTPError

    get_session().timeout = _TIMEOUT_S
    http_error: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
    # The leaderboard's own token could read private repositories of its owner.
    api = HfApi(endpoint=endpoint, token=False)
    try:
        commit = api.repo_info(repo, repo_type=str(kind)).sha
        files = api.get_paths_info(repo, [PREDICTIONS, _PACKED, RUN_CARD], revision=commit, repo_type=str(kind))
        sizes = {file.path: file.size for file in files if isinstance(file, RepoFile)}
        predictions = next((name for name in (PREDICTIONS, _PACKED) if name in sizes), None)
        if predictions is None or RUN_CARD not in sizes:
            raise _refused(f"found no {PREDICTIONS if predictions is None else RUN_CARD} at the root of {repo}")
        for name, most in ((predictions, limits.upload_bytes), (RUN_CARD, limits.card_bytes)):
            if sizes[name] > most:
                raise _refused(f"{name} of {repo} has {megabytes(sizes[name])}, expected at most {megabytes(most)}")
        with tempfile.TemporaryDirectory(prefix="musicrs-intake-") as folder:
            upload, card = (
                Path(
                    api.hf_hub_download(repo, name, revision=commit, repo_type=str(kind), local_dir=folder)
                ).read_bytes()
                for name in (predictions, RUN_CARD)
            )
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status in (401, 403, 404):
            raise _refused(f"found no public {kind} {repo} on the Hub; check its name, or make it public") from None
        raise UserError(f"{repo}: the Hub answered {status}; try again later") from None
    except (http_error, OSError) as error:
        raise UserError(f"{repo}: the Hub cannot be reached ({type(error).__name__}); try again later") from None
    page = f"{_HUB}/{'datasets/' if kind == 'dataset' else ''}{repo}/tree/{commit}"
    return Fetched(upload, card, page)


def _is_repo_id(repo: object) -> TypeGuard[str]:
    if not isinstance(repo, str) or not REPO_NAME.fullmatch(repo):
        return False
    return all(len(part) <= _LONGEST_PART for part in repo.split("/"))


def _refused(message: str) -> IntakeError:
    return IntakeError([at_field(_FIELD, message)])
