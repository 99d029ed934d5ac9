"""A leaderboard over plain HTTP, as gradio serves every one: an endpoint is called, an event comes back.

The standard library does it, so that whoever installed this package can submit.
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
from ..errors import UserError, show

_API = "/gradio_api"
_SPACE = re.compile(r"([A-Za-z0-9][\w.-]*)/([A-Za-z0-9][\w.-]*)", re.ASCII)
_LONGEST_LINE = 50_000_000
_SHOWN = 2_000


def board_address(space: str) -> str:
    """The address of a board.

    Args:
        space: An address, or the id of a Space on the Hub, `owner/name`.

    Returns:
        An address without a slash at its end.

    Raises:
        UserError: It is neither.
    """
    found = _SPACE.fullmatch(space)
    if found is not None:
        return f"https://{re.sub('[^a-z0-9]+', '-', '-'.join(found.groups()).lower())}.hf.space"
    if not space.startswith(("https://", "http://")):
        raise UserError(
            f"--space is {show(space)}, expected the board's address, https://..., or owner/name of a Space"
        )
    return space.split("?")[0].rstrip("/")


class Board:
    """One leaderboard.

    Args:
        address: As `board_address` returns it.
        timeout_s: How long to wait for an answer.
    """

    def __init__(self, address: str, timeout_s: float = 300.0) -> None:
        self.address, self.timeout_s = address, timeout_s

    def call(self, endpoint: str, arguments: Mapping[str, Any]) -> Any:
        """Call an endpoint and wait for what it returns.

        Args:
            endpoint: Its name.
            arguments: Name to value, plain JSON types.

        Raises:
            UserError: The board refuses, with its own words, or is not there.
        """
        event = self._start(endpoint, arguments)
        with self._open(Request(f"{self.address}{_API}/call/{endpoint}/{event}")) as answer:  # noqa: S310
            for kind, data in self._events(answer):
                if kind == "complete":
                    return data[0] if isinstance(data, list) and data else None
                if kind == "error":
                    raise UserError(f"{self.address}: {_words(data)}")
        raise UserError(f"{self.address}: the board ended the call without an answer; try again")

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
            raise self._not_a_board() from error

    def _start(self, endpoint: str, arguments: Mapping[str, Any]) -> str:
        address, body = f"{self.address}{_API}/call/v2/{endpoint}", json.dumps(arguments).encode()
        with self._open(Request(address, body, {"Content-Type": "application/json"})) as answer:  # noqa: S310
            try:
                event = str(strict_json(answer.read(_LONGEST_LINE).decode())["event_id"])
            except (OSError, HTTPException) as error:
                raise self._unreachable(error) from error
            except (ValueError, LookupError, TypeError) as error:
                raise self._not_a_board() from error
        if not re.fullmatch(r"[\w-]{1,100}", event):
            raise self._not_a_board()
        return event

    def _open(self, request: Request) -> HTTPResponse:
        try:
            answer: HTTPResponse = urlopen(request, timeout=self.timeout_s)  # noqa: S310 - the address was checked
        except HTTPError as error:
            raise self._refused(error.code) from error
        except (URLError, OSError, HTTPException, ValueError) as error:
            raise self._unreachable(error) from error
        return answer

    def _refused(self, status: int) -> UserError:
        told = {413: "the file is larger than the board takes", 429: "too many calls; try again later"}
        if status in told:
            return UserError(f"{self.address}: {told[status]}")
        if status >= 500:
            return UserError(f"{self.address}: the board answered {status}; try again later")
        return self._not_a_board()

    def _not_a_board(self) -> UserError:
        return UserError(f"{self.address}: no leaderboard answers there; check the address")

    def _unreachable(self, error: Exception) -> UserError:
        return UserError(f"{self.address}: cannot be reached ({getattr(error, 'reason', error)}); check the address")


def _words(data: Any) -> str:
    """What a board says of a refusal, in one line that is safe for a terminal."""
    said = data.get("error") if isinstance(data, dict) else data
    if not isinstance(said, str) or not said.strip():
        return "the board failed and does not say why; try again later"
    line = "; ".join(part.strip() for part in said.splitlines() if part.strip())
    return "".join(char if char.isprintable() else "?" for char in line)[:_SHOWN]
