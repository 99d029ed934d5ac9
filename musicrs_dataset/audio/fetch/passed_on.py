"""Options of yt-dlp that are passed on: `--yt-dlp KEY=VALUE`, read by yt-dlp's own parser.

`KEY` is a long option of yt-dlp without its dashes. Only options about clients, networks, accounts and retries are
passed on. The others would change which files are written and where, or start programs.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from difflib import get_close_matches
from io import StringIO
from typing import Any
from urllib.parse import urlsplit

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


def parse_passed_on(entries: Sequence[str]) -> dict[str, Any]:
    """Read the options that a user passes on.

    Args:
        entries: `KEY=VALUE`, or `KEY` alone for an option without a value. Keys may be given with dashes in front, and
            with underscores in place of dashes.

    Returns:
        The parameters of yt-dlp's Python interface that they set.

    Raises:
        UserError: An option is not among those that are passed on, or its value is wrong. The message names the key and
            never shows the value, which may hold a password.
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
    if not re.fullmatch(r"[a-z0-9-]{1,40}", key):  # may be a value whose key was forgotten, so it is not shown
        raise UserError(f"{OPTION}: expected KEY=VALUE, such as {OPTION} proxy=socks5://127.0.0.1:1080")
    if key in _INSTEAD:
        raise UserError(f"{OPTION} {key}: use {_INSTEAD[key]}")
    known = sorted([*_WITH_VALUE, *_FLAGS, *_OF_YOUTUBE])
    close = get_close_matches(key, known, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    raise UserError(f"{OPTION} {key}: not an option that is passed on; {hint}expected one of {', '.join(known)}")


def _check(key: str, value: str | None) -> None:
    """Refuse values that yt-dlp takes without a look and stumbles over later."""
    if key in ("proxy", "geo-verification-proxy") and value:
        try:
            parts = urlsplit(value if "://" in value else f"http://{value}")
            right = (
                parts.scheme.lower() in _PROXY_SCHEMES
                and bool(parts.hostname)
                and (parts.port is None or parts.port > 0)
            )
        except ValueError:
            right = False
        if not right:
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
    """Refuse values that yt-dlp takes from its command line, and refuses when it starts."""
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
    """The pairs, with all arguments of one extractor in one: yt-dlp would keep the last of them alone."""
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
    """Run yt-dlp's parser without its files of settings.

    Raises:
        ValueError: It refuses the arguments.
    """
    from optparse import OptParseError

    from yt_dlp import parse_options

    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            parameters: dict[str, Any] = parse_options(["--ignore-config", *arguments]).ydl_opts
    except (OptParseError, SystemExit, ValueError) as error:
        raise ValueError(str(error).strip().rpartition("error: ")[2] or "yt-dlp refuses its value") from error
    return parameters


def _without(message: str, value: str | None) -> str:
    """The message without the value and without what it quotes of it, in one line."""
    if value:
        message = message.replace(value, "its value")
    return _in_one_line(re.sub(r"\"[^\"]*\"|'[^']*'", "its value", message))


def _in_one_line(message: str) -> str:
    return " ".join(message.split()).removesuffix(".")[:200]
