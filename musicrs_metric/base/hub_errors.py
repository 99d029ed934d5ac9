"""What every command that talks to the Hub shares: names of repositories, and refusals in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import UserError, show
from .paths import REPO_NAME

_OFFLINE = "HF_HUB_OFFLINE is set, so the Hub is not asked; unset it for this command"
_LONGEST = 200


def repo_id(text: str, option: str) -> str:
    """Check the name of a repository on the Hub.

    Args:
        text: What was given.
        option: Where it was given, for the message.

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
    """Turn what the Hub's client raises into one line for a person; the token is never part of it.

    Args:
        repo: The repository that is asked for.

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
        if "Bearer" in str(error):  # a header that cannot be sent is quoted by some HTTP libraries, token and all
            raise UserError(f"{repo}: the token holds characters that no token has; {log_in}") from None
        raise UserError(f"{repo}: the Hub cannot be reached ({error}); check the network") from error


def missing_file_reason(error: Exception) -> str:
    """Say why the Hub's client did not give a file, in whole sentences that a message can hold in brackets.

    Args:
        error: What the client raised.
    """
    from huggingface_hub.constants import HF_HUB_OFFLINE
    from huggingface_hub.errors import LocalEntryNotFoundError, OfflineModeIsEnabled

    if HF_HUB_OFFLINE and isinstance(error, LocalEntryNotFoundError | OfflineModeIsEnabled):
        return _OFFLINE
    text = " ".join(str(error).split()) or type(error).__name__
    first, stop, _ = text[:_LONGEST].rpartition(". ")
    return text if len(text) <= _LONGEST else first if stop else f"{text[:_LONGEST].rpartition(' ')[0]} ..."
