"""Names of repositories on the Hub, commits to them, and errors of the client as messages for users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

from ..errors import UserError, show
from .paths import REPO_NAME

_OFFLINE = "HF_HUB_OFFLINE is set, so the Hub is not contacted; unset it for this command"
_LONGEST = 200


def repo_id(text: str, option: str) -> str:
    """Check the name of a repository on the Hub.

    Args:
        text: The name.
        option: The option that it came from, for the message.

    Returns:
        The name.

    Raises:
        UserError: It is no `owner/name`.
    """
    if not REPO_NAME.fullmatch(text):
        raise UserError(f"{option} is {show(text)}, expected owner/name")
    return text


@contextmanager
def explain_hub_errors(repo: str) -> Iterator[None]:
    """Turn an error of the Hub's client into a message of one line. The token is never part of the message.

    Args:
        repo: The repository of the request.

    Raises:
        UserError: There is no token, no right, no such repository, or no network.
    """
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
        raise UserError(f"{repo}: {_OFFLINE}") from error
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status == 401:
            raise UserError(f"{repo}: the Hub does not accept the token, or there is none; {log_in}") from error
        if status == 403:
            raise UserError(f"{repo}: the token has no right to write there; use one with write access") from error
        if status == 404:
            raise UserError(f"{repo}: not found on the Hub, or the token may not see it; check the name") from error
        reason = str(error).strip().splitlines()[-1]
        raise UserError(f"{repo}: the Hub answered {status} ({reason}); try again later") from error
    except (http_error, OSError) as error:
        if "Bearer" in str(error):  # some HTTP libraries quote a header that cannot be sent, with the token
            raise UserError(f"{repo}: the token contains invalid characters, such as a line break; {log_in}") from None
        raise UserError(f"{repo}: the Hub cannot be reached ({error}); check the network") from error


def commit_files(
    repo: str,
    files: Mapping[str, bytes],
    message: str,
    *,
    repo_type: Literal["model", "dataset"],
    description: str | None = None,
    pull_request: bool = True,
) -> str:
    """Commit files to a repository on the Hub.

    Args:
        repo: The repository.
        files: Path in the repository to content.
        message: Title of the commit.
        repo_type: Kind of the repository.
        description: Text below the title.
        pull_request: Whether to open a pull request instead.

    Returns:
        The URL of the commit or of the pull request.

    Raises:
        UserError: See `explain_hub_errors`.
    """
    from huggingface_hub import CommitOperationAdd, HfApi

    with explain_hub_errors(repo):
        commit = HfApi().create_commit(
            repo,
            [CommitOperationAdd(path, content) for path, content in files.items()],
            repo_type=repo_type,
            commit_message=message,
            commit_description=description,
            create_pr=pull_request,
        )
    return str(commit.pr_url or commit.commit_url)


def missing_file_reason(error: Exception) -> str:
    """Return the reason why the Hub's client did not return a file, in whole sentences for use in brackets.

    Args:
        error: The error of the client.
    """
    from huggingface_hub.constants import HF_HUB_OFFLINE
    from huggingface_hub.errors import LocalEntryNotFoundError, OfflineModeIsEnabled

    if HF_HUB_OFFLINE and isinstance(error, LocalEntryNotFoundError | OfflineModeIsEnabled):
        return _OFFLINE
    text = " ".join(str(error).split()) or type(error).__name__
    first, stop, _ = text[:_LONGEST].rpartition(". ")
    return text if len(text) <= _LONGEST else first if stop else f"{text[:_LONGEST].rpartition(' ')[0]} ..."
