"""Puts a built dataset on the Hub: the repository, the data, the card."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from musicrs_metric.errors import UserError
from musicrs_metric.references import dataset_folder

from .schema import SPLIT

_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


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
    if not _REPO.fullmatch(repo):
        raise UserError(f"--repo is {repo!r}, expected owner/name")
    script = folder / f"{repo.split('/')[1]}.py"
    if script.exists():  # `datasets` refuses a dataset whose root holds a script of its name
        raise UserError(f"{script}: a loading script must not lie in the dataset folder; move it away")
    from huggingface_hub import HfApi

    api = HfApi()
    with _in_words(repo):
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


@contextmanager
def _in_words(repo: str) -> Iterator[None]:
    from huggingface_hub import errors
    from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError, OfflineModeIsEnabled

    # The root of the errors of whichever HTTP library this version of the Hub's client uses.
    http_error: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]

    log_in = "log in with `hf auth login`, or set HF_TOKEN"
    try:
        yield
    except LocalTokenNotFoundError as error:
        raise UserError(f"{repo}: no token for the Hub was found; {log_in}") from error
    except OfflineModeIsEnabled as error:
        raise UserError(f"{repo}: HF_HUB_OFFLINE is set, so the Hub is not asked; unset it to push") from error
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status == 401:
            raise UserError(f"{repo}: the Hub does not accept the token, or there is none; {log_in}") from error
        if status == 403:
            raise UserError(f"{repo}: the token has no right to write there; use one with write access") from error
        reason = str(error).strip().splitlines()[-1]
        raise UserError(f"{repo}: the Hub answered {status} ({reason}); try again later") from error
    except (http_error, OSError) as error:
        raise UserError(f"{repo}: the Hub cannot be reached ({error}); check the network") from error
