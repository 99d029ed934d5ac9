"""Client of a leaderboard over HTTP, as gradio serves it: a call of an endpoint returns an event.

It uses the standard library only, so that every installation of this package can submit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from ..base.files import strict_json
from ..base.paths import REPO_NAME
from ..errors import UserError, show

_API = "/gradio_api"
_LONGEST_LINE = 50_000_000
_SHOWN = 2_000


def leaderboard_url(space: str) -> str:
    """Return the URL of a leaderboard.

    Args:
        space: A URL, or the id of a Space on the Hub, `owner/name`.

    Returns:
        The URL without a slash at its end.

    Raises:
        UserError: It is neither.
    """
    if REPO_NAME.fullmatch(space):
        return f"https://{re.sub('[^a-z0-9]+', '-', space.lower())}.hf.space"
    if not space.startswith(("https://", "http://")):
        raise UserError(
            f"--space is {show(space)}, expected the leaderboard's URL, https://..., or owner/name of a Space"
        )
    return space.split("?")[0].rstrip("/")


class LeaderboardClient:
    """Client of one leaderboard.

    Args:
        url: As `leaderboard_url` returns it.
        timeout_s: Longest wait for an answer, in seconds.
    """

    def __init__(self, url: str, timeout_s: float = 300.0) -> None:
        self.url, self.timeout_s = url, timeout_s

    def call(self, endpoint: str, arguments: Mapping[str, Any]) -> Any:
        """Call an endpoint and wait for its result.

        Args:
            endpoint: Its name.
            arguments: Name to value, plain JSON types.

        Raises:
            UserError: The leaderboard refuses the call, with its message, or cannot be reached.
        """
        event = self._start(endpoint, arguments)
        with self._open(Request(f"{self.url}{_API}/call/{endpoint}/{event}")) as answer:  # noqa: S310
            for kind, data in self._events(answer):
                if kind == "complete":
                    return data[0] if isinstance(data, list) and data else None
                if kind == "error":
                    raise UserError(f"{self.url}: {_message(data)}")
        raise UserError(f"{self.url}: the leaderboard ended the call without an answer; try again")

    def _events(self, answer: HTTPResponse) -> Iterator[tuple[str, Any]]:
        kind = ""
        try:
            while line := answer.readline(_LONGEST_LINE).decode():
                name, _, value = line.strip().partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    yield kind, strict_json(value)
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from error
        except ValueError as error:
            raise self._not_a_leaderboard() from error

    def _start(self, endpoint: str, arguments: Mapping[str, Any]) -> str:
        url, body = f"{self.url}{_API}/call/v2/{endpoint}", json.dumps(arguments).encode()
        with self._open(Request(url, body, {"Content-Type": "application/json"})) as answer:  # noqa: S310
            try:
                event = str(strict_json(answer.read(_LONGEST_LINE).decode())["event_id"])
            except (OSError, HTTPException) as error:
                raise self._unreachable(error) from error
            except (ValueError, LookupError, TypeError) as error:
                raise self._not_a_leaderboard() from error
        if not re.fullmatch(r"[\w-]{1,100}", event):
            raise self._not_a_leaderboard()
        return event

    def _open(self, request: Request) -> HTTPResponse:
        try:
            answer: HTTPResponse = urlopen(request, timeout=self.timeout_s)  # noqa: S310 - the URL was checked
        except HTTPError as error:
            raise self._refused(error.code) from error
        except (URLError, OSError, HTTPException, ValueError) as error:
            raise self._unreachable(error) from error
        return answer

    def _refused(self, status: int) -> UserError:
        reasons = {413: "the file is larger than the leaderboard accepts", 429: "too many calls; try again later"}
        if status in reasons:
            return UserError(f"{self.url}: {reasons[status]}")
        if status >= 500:
            return UserError(f"{self.url}: the leaderboard answered {status}; try again later")
        return self._not_a_leaderboard()

    def _not_a_leaderboard(self) -> UserError:
        return UserError(f"{self.url}: no leaderboard answers there; check the URL")

    def _unreachable(self, error: Exception) -> UserError:
        return UserError(f"{self.url}: cannot be reached ({getattr(error, 'reason', error)}); check the URL")


def _message(data: Any) -> str:
    """Return the message of a refusal in one line that is safe for a terminal."""
    message = data.get("error") if isinstance(data, dict) else data
    if not isinstance(message, str) or not message.strip():
        return "the leaderboard failed without a reason; try again later"
    line = "; ".join(part.strip() for part in message.splitlines() if part.strip())
    return "".join(char if char.isprintable() else "?" for char in line)[:_SHOWN]
