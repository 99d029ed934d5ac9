"""Connection to a server: URL, model, key, time limits, and extra fields of every request."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import UserError, show
from .files import strict_json
from .secret import Secret, check_url

if TYPE_CHECKING:
    from pathlib import Path

    import openai

_REDIRECTS = 2  # such as to https; a page that leads to itself is followed no further
_SECRET = re.compile(r"(?:^|[_-])(?:(?:api|access|secret)[_-]?key|secret|password|authorization)$", re.IGNORECASE)
# Fields that the run sets itself. A file of extra fields must not contain them.
_RESERVED = {
    "model": "--model-name", "messages": "the protocol", "max_tokens": "--answer-tokens",
    "max_completion_tokens": "--answer-tokens", "stream": "this client", "n": "this client",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ChatServer:
    """A server that speaks OpenAI's chat completions.

    Attributes:
        url: Up to and with `/v1`.
        model: What the server calls the model.
        key_variable: Environment variable that holds the key. It differs from OpenAI's own variable, so that the key
            of one service is never sent to another by mistake. If it is unset, the key is the word "none".
        timeout_s: How long one attempt may take, in seconds.
        retries: Further attempts after the first.
        extra_body: Further fields of every request, such as those that switch thinking off.
        url_option: The option that holds the URL, for messages.
        model_option: The option that holds the model, for messages.

    Raises:
        UserError: The URL is malformed or holds a secret, or the key cannot be one.
    """

    url: str
    model: str
    key_variable: str = "MUSICRS_LLM_KEY"
    timeout_s: float = 600.0
    retries: int = 6
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    url_option: str = "--base-url"
    model_option: str = "--model-name"

    def __post_init__(self) -> None:
        check_url(self.url, self.url_option, self.key_variable)
        Secret(self.key_variable)

    @property
    def secret(self) -> Secret:
        """The key."""
        return Secret(self.key_variable)


def read_extra_body(path: Path) -> dict[str, Any]:
    """Read the further fields of every request.

    Args:
        path: A JSON file that holds one object, such as `{"chat_template_kwargs": {"enable_thinking": false}}`.

    Raises:
        UserError: The file cannot be read, holds no JSON object, or a field that the run itself decides.
    """
    try:
        values = strict_json(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UserError(f"--extra-body {path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"--extra-body {path}: expected a JSON file, found no JSON ({error})") from None
    if not isinstance(values, dict):
        raise UserError(f"--extra-body {path}: found {show(values)}, expected a JSON object of fields")
    for name in values:
        if name in _RESERVED:
            raise UserError(f"--extra-body {path}: field {show(name)} is decided by {_RESERVED[name]}; remove it")
    secret = next(_secrets(values), None)
    if secret is not None:
        raise UserError(
            f"--extra-body {path}: field {show(secret)} holds a secret, and the run card shows these fields; put the "
            "key into the environment variable of the server"
        )
    return values


def _secrets(values: Any) -> Iterator[str]:
    """Names of fields that hold a key or a password, at any depth."""
    if isinstance(values, dict):
        yield from (name for name, value in values.items() if value and _SECRET.search(name))
    if isinstance(values, dict | list):
        for value in values.values() if isinstance(values, dict) else values:
            yield from _secrets(value)


def make_client(server: ChatServer) -> openai.OpenAI:
    """A client of the `openai` library that does not wait by itself; several threads may use it.

    Raises:
        UserError: No client can be made, for one because a proxy of the environment is no URL.
    """
    import httpx2
    from openai import DefaultHttpxClient, Omit, OpenAI

    key = server.secret.value or "none"
    # Headers in the environment of OpenAI's own client are not for this server.
    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    headers: dict[str, Any] = {name.strip(): Omit() for line in lines if (name := line.partition(":")[0]) != line}
    headers = {name: value for name, value in headers.items() if name.lower() != "authorization"}
    try:
        return OpenAI(
            base_url=server.url,
            api_key=key,
            organization="",
            project="",
            timeout=server.timeout_s,
            http_client=DefaultHttpxClient(max_redirects=_REDIRECTS),
            max_retries=0,  # `Chat` does the waiting, because errors also come with status 200
            default_headers=headers | {"Authorization": f"Bearer {key}"},
        )
    except (httpx2.InvalidURL, ValueError, ImportError) as error:  # such as a proxy that is no URL
        raise UserError(
            f"{server.url_option} {server.url}: no client can be made: {server.secret.words(error)}"
        ) from None
