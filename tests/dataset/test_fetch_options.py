"""Options of downloads: yt-dlp's own are checked early, limits hold, and no secret reaches a message or the ledger."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from musicrs_dataset.audio.fetch.advice import why_stopped
from musicrs_dataset.audio.fetch.client import Options, youtube
from musicrs_dataset.audio.fetch.failures import Failure
from musicrs_dataset.audio.fetch.kinds import BOT_CHECK, FORBIDDEN
from musicrs_dataset.audio.fetch.options import client_options
from musicrs_dataset.audio.fetch.passed_on import parse_passed_on
from musicrs_dataset.audio.fetch.run import Outcome, fetch
from musicrs_dataset.audio.fetch.secrets import Redactor
from musicrs_dataset.cli import app
from musicrs_metric.errors import UserError

from .standin import Server, Video, client_of, wav

OK = "okokokokokA"
SECRET = "hunter2-very-secret"


def test_options_reach_the_client() -> None:
    """yt-dlp's own parser reads the values; arguments of one extractor add up; keys may be spelt in several ways."""
    parameters = parse_passed_on(
        [
            "player_client=tv,web",
            "--po-token=web.gvs+ABC",
            "extractor-args=youtube:lang=de;player_skip=js",
            "extractor_args=youtubepot-bgutilhttp:base_url=http://127.0.0.1:4416",
            "proxy=socks5://127.0.0.1:1080",
            "Source-Address=127.0.0.1",
            "cookies-from-browser=firefox:default",
            "retries=10",  # also yt-dlp's default, but not ours
            "retry-sleep=http:exp=1:20",
            "no-js-runtimes",
            "js-runtimes=node:/usr/bin/node",
            "add-headers=X-Test: 1",
            "user-agent=me",
        ]
    )
    assert parameters.pop("retry_sleep_functions")["http"](1) == 2
    assert parameters == {
        "extractor_args": {
            "youtube": {
                "player_client": ["tv", "web"],
                "po_token": ["web.gvs+ABC"],
                "lang": ["de"],
                "player_skip": ["js"],
            },
            "youtubepot-bgutilhttp": {"base_url": ["http://127.0.0.1:4416"]},
        },
        "proxy": "socks5://127.0.0.1:1080",
        "source_address": "127.0.0.1",
        "cookiesfrombrowser": ("firefox", "default", None, None),
        "retries": 10,
        "js_runtimes": {"node": {"path": "/usr/bin/node"}},
        "http_headers": {"x-test": " 1", "User-Agent": "me"},
    }


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (f"http://me:{SECRET}@host", "expected KEY=VALUE"),
        (f"proxy=ftp://me:{SECRET}@host", "proxy: expected a URL"),
        (f"proxy=http://me:{SECRET}@host:port", "proxy: expected a URL"),
        ("proxy=http://", "proxy: expected a URL"),
        (f"proxi=http://me:{SECRET}@host", "did you mean proxy"),
        (f"retries={SECRET}", "retries: invalid"),
        (f"socket-timeout={SECRET}", "socket-timeout: "),
        (f"retry-sleep=http:{SECRET}", "retry-sleep: invalid"),
        (f"cookies-from-browser={SECRET}", "Supported browsers are"),
        ("cookies-from-browser", "no value; expected --yt-dlp cookies-from-browser=VALUE"),
        (f"source-address={SECRET}", "expected an IP address"),
        (f"extractor-args={SECRET}", "expected SITE:NAME=VALUE"),
        (f"add-headers={SECRET}", "expected NAME:VALUE"),
        (f"js-runtimes=perl:{SECRET}", "no runtime 'perl'; expected one of bun, deno"),
        ("impersonate=netscape", "not available"),
        ("format=best[", "Invalid format"),
        ("force-ipv4=yes", "takes no value"),
        (f"exec=echo {SECRET}", "exec: this option is not passed on"),
        ("output=/etc/passwd", "this option is not passed on"),
        ("config-locations=/tmp", "this option is not passed on"),
        ("cookies=file", "use --cookies FILE"),
        ("max-filesize=3M", "use --max-megabytes"),
        ("=x", "expected KEY=VALUE"),
        ("", "expected KEY=VALUE"),
    ],
)
def test_mistakes_are_told_early_and_without_the_value(entry: str, message: str) -> None:
    """One line that names the key and the remedy, and never shows a value that may be a password."""
    with pytest.raises(UserError) as error:
        parse_passed_on([entry])
    told = str(error.value)
    assert message in told
    assert told.startswith("--yt-dlp")
    assert "\n" not in told
    assert SECRET not in told


def test_the_command_line_tells_a_mistake_before_it_reads_the_dataset(tmp_path: Path) -> None:
    """Exit with a user error, before the dataset is opened and a cache made."""
    arguments = ["audio", "fetch", str(tmp_path), "--cache", str(tmp_path / "c"), "--yt-dlp", "proxy=nowhere://x"]
    with pytest.raises(UserError, match="--yt-dlp proxy: expected a URL"):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("text", ["", "[]", '[{"name": "SID"}]', "# Netscape HTTP Cookie File\n", "a\tb\tc\n"])
def test_a_file_without_cookies(tmp_path: Path, text: str) -> None:
    """A file that holds no cookie in Netscape format is refused before anything is asked for."""
    file = tmp_path / "cookies.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="found no cookie"):
        client_options(file)
    cookie = "#HttpOnly_.youtube.com\tTRUE\t/\tTRUE\t0\tSID\tabc"
    file.write_text(f"# Netscape HTTP Cookie File\n{text}\n{cookie}\n", encoding="utf-8")
    assert client_options(file).cookies == file


def test_no_secret_in_messages_and_ledger(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A proxy that is down and damaged cookies: no password and no cookie reaches the failure, ledger or screen."""
    cookies = tmp_path / "cookies.txt"
    good, damaged = f".youtube.com\tTRUE\t/\tTRUE\t0\tSID\t{SECRET}-1", f".youtube.com\tTRUE\tSID\t{SECRET}-2"
    cookies.write_text(f"# Netscape HTTP Cookie File\n{good}\n{damaged}\n", encoding="utf-8")
    passed_on = [f"proxy=http://me%40x:{SECRET}-3@127.0.0.1:9", "extractor-retries=0"]
    options = replace(client_options(cookies, 0.0, passed_on=passed_on), retry_s=0.0)
    assert SECRET not in repr(options)
    [outcome] = fetch([OK], tmp_path / "cache", options, youtube)
    assert outcome.failure is not None
    assert outcome.failure.kind.why == "network"
    written = b"".join(path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file())
    captured = capfd.readouterr()
    for text in (repr(outcome), captured.out, captured.err, written.decode("latin-1")):
        assert SECRET not in text
        assert "me%40x" not in text


def test_redaction() -> None:
    """Logins in URLs, tokens and headers are hidden wherever they appear; other text stays."""
    redact = Redactor(
        {
            "proxy": "http://u:p%2Fssword@host:1",
            "http_headers": {"Cookie": "SID=abcdef"},
            "extractor_args": {"youtube": {"po_token": ["web.gvs+TOKENTOKEN"], "player_client": ["web"]}},
        }
    )
    redact.hide(["cookie-value", "en"])
    text = "http://u:p%2Fssword@host p/ssword SID=abcdef TOKENTOKEN cookie-value en web https://a.b/c@d"
    assert redact(text) == "http://***@host *** *** *** *** en web https://a.b/c@d"


def test_options_that_yt_dlp_refuses_when_it_starts(tmp_path: Path) -> None:
    """A browser without cookies is a mistake of the user, told in one line, and nothing is asked for."""
    options = Options(yt_dlp={"cookiesfrombrowser": ("firefox", str(tmp_path / "none"), None, None)})
    with pytest.raises(UserError, match="yt-dlp does not start with these options"):
        list(fetch([OK], tmp_path / "cache", options, youtube))


def test_limits(tmp_path: Path) -> None:
    """A video that is too long, or a file that is too large, is not downloaded; a higher limit gets it."""
    videos = {OK: Video(), "longerlongA": Video(duration=7200), "largerlargA": Video(sound=wav(200.0), pause_s=0.001)}
    with Server(videos) as server:
        options = Options(sleep_s=0, retry_s=0, max_s=3600, max_bytes=1_000_000)
        outcomes = dict(fetch(list(videos), tmp_path, options, client_of(server.port)))
        assert outcomes[OK] is None
        for video, words in (
            ("longerlongA", "120.0 minutes, more than --max-minutes 60"),
            ("largerlargA", "MB, more than --max-megabytes 1"),
        ):
            failure = outcomes[video]
            assert failure is not None
            assert (failure.kind.status, failure.kind.why) == ("restricted", "limit")
            assert words in failure.detail
        assert server.asked["media", "longerlongA"] == server.asked["whole", "largerlargA"] == 0
        assert not list((tmp_path / "partial").iterdir())
        higher = Options(sleep_s=0, retry_s=0, max_s=7200, max_bytes=10_000_000)
        again = list(fetch(["longerlongA", "largerlargA"], tmp_path, higher, client_of(server.port)))
        assert again == [Outcome("longerlongA", None), Outcome("largerlargA", None)]


def test_what_is_said_when_a_run_stops() -> None:
    """The line names what may be wrong, with the option for each; yt-dlp's warnings follow, not more than ten."""
    warnings = tuple(f"warning {letter}" for letter in "abcdefghijkl")
    failure = Failure(FORBIDDEN._replace(stops=True), "HTTP Error 403", 10, warnings)
    first, *rest = why_stopped(OK, failure)
    assert first.startswith(f"stopped: 10 equal failures in a row, the last: forbidden at {OK} (HTTP Error 403); ")
    for word in ("client", "cookies", "PO token", "JavaScript runtime", "address"):
        assert word in first
    assert rest == [*(f"yt-dlp warns: {text}" for text in warnings[:10]), "yt-dlp gave 2 further warnings"]
    [line] = why_stopped(OK, Failure(BOT_CHECK._replace(stops=True), "not a bot", 10))
    assert "wait an hour or give --cookies" in line


def test_passed_on_options_replace_ours(tmp_path: Path) -> None:
    """An option of the user wins over the program's own value, but never over the files and hooks that it needs."""
    seen: dict[str, Any] = {}

    def make(parameters: dict[str, Any]) -> Any:
        seen.update(parameters)
        raise ValueError("enough")

    with pytest.raises(UserError, match="enough"):
        list(fetch([OK], tmp_path, client_options(passed_on=["format=18", "retries=1"]), make))
    assert (seen["format"], seen["retries"], seen["noprogress"]) == ("18", 1, True)
