"""Options of yt-dlp that users may pass on: `--yt-dlp KEY=VALUE`, read by yt-dlp's own parser.

`KEY` is a long option of yt-dlp without its dashes. Only options for clients, networks, accounts and retries are
passed on. The others would change the files and their places, or start programs. `Redactor` removes the secrets in
these options from messages and from the ledger.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from difflib import get_close_matches
from io import StringIO
from typing import Any
from urllib.parse import unquote, urlsplit

from musicrs_metric.errors import UserError, show

OPTION = "--yt-dlp"
# Option to parameter of the Python interface.
_WITH_VALUE = {
    "add-headers": "http_headers",
    "cache-dir": "cachedir",
    "concurrent-fragments": "concurrent_fragment_downloads",
    "cookies-from-browser": "cookiesfrombrowser",
    "extractor-args": "extractor_args",
    "extractor-retries": "extractor_retries",
    "file-access-retries": "file_access_retries",
    "format": "format",
    "format-sort": "format_sort",
    "fragment-retries": "fragment_retries",
    "geo-verification-proxy": "geo_verification_proxy",
    "http-chunk-size": "http_chunk_size",
    "impersonate": "impersonate",
    "js-runtimes": "js_runtimes",
    "max-sleep-interval": "max_sleep_interval",
    "proxy": "proxy",
    "referer": "http_headers",
    "remote-components": "remote_components",
    "retries": "retries",
    "retry-sleep": "retry_sleep_functions",
    "sleep-interval": "sleep_interval",
    "sleep-requests": "sleep_interval_requests",
    "socket-timeout": "socket_timeout",
    "source-address": "source_address",
    "throttled-rate": "throttledratelimit",
    "user-agent": "http_headers",
}
_FLAGS = {
    "check-formats": "check_formats",
    "force-ipv4": "source_address",
    "force-ipv6": "source_address",
    "legacy-server-connect": "legacyserverconnect",
    "no-cache-dir": "cachedir",
    "no-check-certificates": "nocheckcertificate",
    "no-js-runtimes": "js_runtimes",
    "no-remote-components": "remote_components",
}
_OF_YOUTUBE = ("player-client", "po-token")  # short for extractor-args=youtube:player_client=...
_INSTEAD = {
    "cookies": "--cookies FILE",
    "max-filesize": "--max-megabytes",
    "limit-rate": "--rate",
    "rate-limit": "--rate",
}
_PROXY_SCHEMES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")

_HIDDEN = "***"
_LOGIN_IN_URL = re.compile(r"(?<=://)[^/\s@'\"]+(?=@)")
_SHORTEST = 4  # characters; hiding shorter texts would hide words
_SHORTEST_COOKIE = 8  # characters; cookies also hold settings, such as "en"


def parse_yt_dlp_options(entries: Sequence[str]) -> dict[str, Any]:
    """Read the options that a user passes on.

    Args:
        entries: `KEY=VALUE`, or `KEY` alone for an option without a value. Keys may start with dashes, and may have
            underscores in place of dashes.

    Returns:
        The matching parameters of yt-dlp's Python interface.

    Raises:
        UserError: The option is not passed on, or its value is wrong. The message names the key and never shows the
            value, which may hold a password.
    """
    if not entries:
        return {}
    pairs = [_pair(entry) for entry in entries]
    for key, value in pairs:
        _check(key, value)
    try:
        import yt_dlp  # noqa: F401
    except ImportError as error:
        raise UserError(f"{OPTION} needs yt_dlp ({error}); run `pip install 'musicrs[audio]'`") from error
    joined = list(_joined(pairs))
    arguments = [f"--{key}" if value is None else f"--{key}={value}" for key, value in joined]
    for (key, value), argument in zip(joined, arguments, strict=True):  # one at a time, so that an error names its key
        try:
            _parse([argument])
        except ValueError as error:
            raise UserError(f"{OPTION} {key}: {_without(str(error), value)}; see `yt-dlp --help`") from None
    parsed = _parse(arguments)
    parameters = {name: parsed.get(name) for name in ((_WITH_VALUE | _FLAGS)[key] for key, _ in joined)}
    _check_start(parameters)
    return parameters


class Redactor:
    """Replaces passwords, tokens and cookies in texts by `***`.

    Args:
        parameters: Parameters of yt-dlp's Python interface.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._secrets = {text for text in _secrets_of(parameters) if len(text) >= _SHORTEST}

    def hide(self, cookies: Iterable[str]) -> None:
        """Add the values of cookies to the secrets."""
        self._secrets |= {value for value in cookies if len(value) >= _SHORTEST_COOKIE}

    def __call__(self, text: str) -> str:
        """Return the text without secrets."""
        text = _LOGIN_IN_URL.sub(_HIDDEN, text)
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, _HIDDEN)
        return text


def _pair(entry: str) -> tuple[str, str | None]:
    name, equals, value = entry.partition("=")
    key = name.strip().lstrip("-").replace("_", "-").lower()
    if key in _WITH_VALUE or key in _OF_YOUTUBE:
        if not equals or (not value.strip() and key != "proxy"):  # an empty proxy is a direct connection
            raise UserError(f"{OPTION} {key}: no value; expected {OPTION} {key}=VALUE")
        return key, value.strip()
    if key in _FLAGS:
        if equals:
            raise UserError(f"{OPTION} {key}: takes no value; expected {OPTION} {key}")
        return key, None
    if not re.fullmatch(r"[a-z0-9-]{1,40}", key):  # may be a value without its key, so the message does not show it
        raise UserError(f"{OPTION}: expected KEY=VALUE, such as {OPTION} proxy=socks5://127.0.0.1:1080")
    if key in _INSTEAD:
        raise UserError(f"{OPTION} {key}: use {_INSTEAD[key]}")
    known = sorted([*_WITH_VALUE, *_FLAGS, *_OF_YOUTUBE])
    close = get_close_matches(key, known, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    raise UserError(f"{OPTION} {key}: this option is not passed on; {hint}expected one of {', '.join(known)}")


def _check(key: str, value: str | None) -> None:
    """Refuse values that yt-dlp accepts at first and fails on later."""
    if key in ("proxy", "geo-verification-proxy") and value:
        try:
            parts = urlsplit(value if "://" in value else f"http://{value}")
            is_valid = (
                parts.scheme.lower() in _PROXY_SCHEMES
                and bool(parts.hostname)
                and (parts.port is None or parts.port > 0)
            )
        except ValueError:
            is_valid = False
        if not is_valid:
            raise UserError(
                f"{OPTION} {key}: expected a URL such as socks5://127.0.0.1:1080, "
                f"with one of the schemes {', '.join(_PROXY_SCHEMES)}"
            )
    if key == "source-address" and value:
        try:
            ipaddress.ip_address(value)
        except ValueError:
            raise UserError(f"{OPTION} {key}: expected an IP address of this machine, such as 192.0.2.7") from None
    if key == "extractor-args" and not re.match(r"[\w+-]+:\s*[\w-]+=", value or ""):
        raise UserError(f"{OPTION} {key}: expected SITE:NAME=VALUE, such as youtube:player_client=tv,web")
    if key == "add-headers" and ":" not in (value or ""):
        raise UserError(f"{OPTION} {key}: expected NAME:VALUE")


def _check_start(parameters: Mapping[str, Any]) -> None:
    """Refuse values that yt-dlp parses, and refuses when it starts."""
    from yt_dlp import YoutubeDL
    from yt_dlp.globals import supported_js_runtimes

    unknown = sorted(set(parameters.get("js_runtimes") or ()) - set(supported_js_runtimes.value))
    if unknown:
        names = ", ".join(sorted(supported_js_runtimes.value))
        raise UserError(f"{OPTION} js-runtimes: no runtime {show(unknown[0])}; expected one of {names}")
    for key in ("format", "format-sort", "impersonate"):
        if parameters.get(_WITH_VALUE[key]):
            try:
                with redirect_stderr(StringIO()):
                    YoutubeDL({_WITH_VALUE[key]: parameters[_WITH_VALUE[key]], "quiet": True}, auto_init=False)
            except Exception as error:
                raise UserError(f"{OPTION} {key}: {_in_one_line(str(error))}; see `yt-dlp --help`") from None


def _joined(pairs: Sequence[tuple[str, str | None]]) -> Iterator[tuple[str, str | None]]:
    """Join all arguments of one extractor into one pair, because yt-dlp keeps only the last."""
    arguments: dict[str, list[str]] = {}
    for key, value in pairs:
        if key in _OF_YOUTUBE:
            arguments.setdefault("youtube", []).append(f"{key.replace('-', '_')}={value}")
        elif key == "extractor-args" and value:
            site, _, rest = value.partition(":")
            arguments.setdefault(site.lower(), []).append(rest)
        else:
            yield key, value
    yield from (("extractor-args", f"{site}:{';'.join(rest)}") for site, rest in arguments.items())


def _parse(arguments: list[str]) -> dict[str, Any]:
    """Run yt-dlp's parser without its settings files; raises `ValueError` if it refuses the arguments."""
    from optparse import OptParseError

    from yt_dlp import parse_options

    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            parameters: dict[str, Any] = parse_options(["--ignore-config", *arguments]).ydl_opts
    except (OptParseError, SystemExit, ValueError) as error:
        raise ValueError(str(error).strip().rpartition("error: ")[2] or "yt-dlp refuses its value") from error
    return parameters


def _without(message: str, value: str | None) -> str:
    """Remove the value, and quoted parts of it, from a message."""
    if value:
        message = message.replace(value, "its value")
    return _in_one_line(re.sub(r"\"[^\"]*\"|'[^']*'", "its value", message))


def _in_one_line(message: str) -> str:
    return " ".join(message.split()).removesuffix(".")[:200]


def _secrets_of(parameters: Mapping[str, Any]) -> Iterator[str]:
    for name in ("proxy", "geo_verification_proxy"):
        if login := _LOGIN_IN_URL.search(str(parameters.get(name) or "")):
            for part in (login[0], *login[0].split(":", 1)[1:]):
                yield from (part, unquote(part))
    yield from map(str, (parameters.get("http_headers") or {}).values())
    for arguments in (parameters.get("extractor_args") or {}).values():
        for name, values in arguments.items():
            if name in ("po_token", "visitor_data", "data_sync_id"):
                # "CLIENT.CONTEXT+TOKEN": a message may repeat the token alone
                yield from (part for value in values for part in (value, value.rpartition("+")[2]))
