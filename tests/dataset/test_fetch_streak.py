"""When a run stops, in which order videos are asked for, and when they are asked for again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from musicrs_dataset.audio.download_ledger import DownloadLedger, Entry, known_statuses, read_entries
from musicrs_dataset.audio.fetch.cache import AudioCache
from musicrs_dataset.audio.fetch.options import FetchOptions
from musicrs_dataset.audio.fetch.run import HOUR, Outcome, due, fetch

from .standin import wav

LETTERS = "AEIMQUYcgkosw048"
NO_BOT = "Sign in to confirm you’re not a bot."
FORBIDDEN = "unable to download video data: HTTP Error 403: Forbidden"


def ids(n: int, name: str = "video") -> list[str]:
    return [f"{name[:5]:x<5}{i:05}A" for i in range(n)]


class Site:
    """A stand-in of yt-dlp that fails as it is told: id to message, None for audio."""

    def __init__(self, says: Mapping[str, str | None], warns: str = "") -> None:
        self.says, self.warns = dict(says), warns
        self.asked: Counter[str] = Counter()

    def __call__(self, parameters: dict[str, Any]) -> Any:
        site = self

        class Client:
            params = parameters

            def __enter__(self) -> Any:
                return self

            def __exit__(self, *_: object) -> None:
                pass

            def extract_info(self, url: str) -> dict[str, Any]:
                from yt_dlp.utils import DownloadError, ExtractorError

                video = url.split("v=")[1]
                site.asked[video] += 1
                if site.warns:
                    parameters["logger"].warning(f"[youtube] {video}: {site.warns}")
                if (words := site.says[video]) is not None:
                    error = ExtractorError(words.format(video), expected=True)
                    raise DownloadError(f"ERROR: [youtube] {video}: {words}", (ExtractorError, error, None))
                path = Path(
                    str(parameters["outtmpl"]["default"]).replace("%%", "%") % {"format_id": "140", "ext": "wav"}
                )
                path.write_bytes(wav(1.0))
                return {"id": video, "requested_downloads": [{"filepath": str(path)}]}

        return Client()


def run(site: Site, cache: Path, now: float = 1e9, *, retry: bool = False) -> list[Outcome]:
    todo = due(site.says, cache, retry_failed=retry, now=lambda: now)
    return list(fetch(todo, cache, FetchOptions(sleep_s=0), site, now=lambda: now))


@pytest.mark.figures
@pytest.mark.parametrize(
    "words",
    [
        FORBIDDEN,
        "Requested format is not available. Use --list-formats",
        NO_BOT,
        "Video unavailable. This content isn’t available.",
        "{} took 17 s and has no player response",
        "Please sign in",
    ],
)
def test_ten_equal_failures_stop_the_run(tmp_path: Path, words: str) -> None:
    """Ten videos in a row that fail alike, but for their id and numbers, stop the run; none of them is given up."""
    site = Site(dict.fromkeys(ids(40), words), warns="nsig extraction failed: 3 formats are missing")
    outcomes = run(site, tmp_path)
    assert sum(site.asked.values()) == len(outcomes) == 10
    failure = outcomes[-1].failure
    assert failure is not None
    assert failure.kind.stops
    assert failure.in_a_row == 10
    assert failure.warnings == ("nsig extraction failed: 3 formats are missing",)
    assert {entry.status for entry in read_entries(tmp_path).values()} <= {"retry", "restricted"}
    # Nothing was ever downloaded, so the same failures stop later runs too, also when all videos were asked for.
    for day in range(1, 9):
        outcomes = run(site, tmp_path, 1e9 + 8 * day * 24 * HOUR)
        assert len(outcomes) == 10
    assert len(site.asked) == 40


def test_other_failures_do_not_stop_the_run(tmp_path: Path) -> None:
    """Nine equal failures, a download, nine equal failures, another failure: the run goes to its end."""
    nine, more, last = ids(9, "first"), ids(9, "secon"), ids(9, "third")
    says = dict.fromkeys(nine, FORBIDDEN) | {"goodgoodgoA": None} | dict.fromkeys(more, FORBIDDEN)
    says |= {"otherotherA": "The page needs to be reloaded."} | dict.fromkeys(last, FORBIDDEN)
    site = Site(says)
    assert len(run(site, tmp_path)) == 29


def test_final_reasons_neither_count_nor_interrupt(tmp_path: Path) -> None:
    """Removed videos say nothing about the set-up: they stop no run, and hide no wrong set-up."""
    gone = "This video has been removed by the uploader"
    assert len(run(Site(dict.fromkeys(ids(30), gone)), tmp_path / "a")) == 30
    mixed = {video: gone if place % 3 == 2 else FORBIDDEN for place, video in enumerate(ids(40))}
    assert len(run(Site(mixed), tmp_path / "b")) == 14  # ten of them forbidden


def test_videos_that_stay_unavailable_do_not_stop_later_runs(tmp_path: Path) -> None:
    """Where downloads work, dozens of videos may fail each day as they did before; a new kind of failure counts."""
    lost = ids(25, "lost")
    says: dict[str, str | None] = {}
    for place, video in enumerate(lost):
        says |= {video: "Video unavailable. This video is unavailable"}
        says |= {f"good{place:06}A": None} if place % 5 == 4 else {}
    site = Site(says)
    assert len(run(site, tmp_path)) == 30
    assert len(run(site, tmp_path, 1e9 + 24 * HOUR)) == 25
    site.says |= dict.fromkeys(lost, FORBIDDEN)
    assert len(run(site, tmp_path, 1e9 + 72 * HOUR)) == 10


@pytest.mark.parametrize("workers", [1, 4])
def test_a_bot_check_starves_nobody(tmp_path: Path, workers: int) -> None:
    """Videos that always meet a bot check are asked for last, and ever more rarely."""
    bad, good = ids(12, "bot"), ids(8, "good")
    site = Site(dict.fromkeys(bad, NO_BOT) | dict.fromkeys(good))
    rounds = 0
    for hour in range(30):
        now = 1e9 + 3601.0 * hour
        todo = due(site.says, tmp_path, now=lambda now=now: now)  # type: ignore[misc]
        options = FetchOptions(sleep_s=0, workers=workers)
        rounds += bool([*fetch(todo, tmp_path, options, site, now=lambda now=now: now)])  # type: ignore[misc]
    assert set(AudioCache(tmp_path).videos()) == set(good)
    assert all(site.asked[video] == 1 for video in good)
    assert all(1 <= site.asked[video] <= 8 for video in bad)


def test_order(tmp_path: Path) -> None:
    """New videos come first, then failed ones, then those that met a bot check, then on demand those that are gone."""
    with DownloadLedger(tmp_path) as ledger:
        for video, status, why, tries in [
            ("gonegonegoA", "gone", "private", 1),
            ("botbotbotbA", "retry", "bot check", 3),
            ("bot2bot2boA", "retry", "bot check", 1),
            ("n403n403n4A", "retry", "forbidden", 1),
        ]:
            ledger.put(Entry(video, status, why, "", tries, 0.0, None if status == "gone" else 1.0))  # type: ignore[arg-type]
        videos = [*ledger.entries(), "newnewnewnA"]
    assert due(videos, tmp_path) == ["newnewnewnA", "n403n403n4A", "bot2bot2boA", "botbotbotbA"]
    assert due(videos, tmp_path, retry_failed=True)[-1] == "gonegonegoA"


def test_a_ledger_of_earlier_versions(tmp_path: Path) -> None:
    """Videos that were given up on words that are not final are asked for again; the others stay gone."""
    stored = {
        "unavailablA": ("unavailable", "Video unavailable. This content isn't available."),
        "drmdrmdrmdA": ("protected", "This video is DRM protected"),
        "n404n404n4A": ("removed", "unable to download video data: HTTP Error 404: Not Found"),
        "longerlongA": ("removed", "Video unavailable. This video is no longer available"),
        "networknetA": ("private", "The playback of this video is not available from private networks"),
        "privatepriA": ("private", "Private video. Sign in if you've been granted access to this video"),
        "claimclaimA": ("copyright", "This video is no longer available due to a copyright claim by X"),
    }
    with DownloadLedger(tmp_path) as ledger:
        for video, (why, detail) in stored.items():
            ledger.put(Entry(video, "gone", why, detail, 1, 5.0, None))
    assert due(stored, tmp_path) == [*stored][:5]
    statuses = known_statuses(tmp_path)
    assert [video for video, status in statuses.items() if status == "gone"] == ["claimclaimA", "privatepriA"]
    site = Site(dict.fromkeys(stored))
    assert {outcome.video_id for outcome in run(site, tmp_path)} == {*stored} - {"privatepriA", "claimclaimA"}


def test_published_cases(cases: Path, tmp_path: Path) -> None:
    """R09 stops after a few equal failures, all to be tried again; R11 gets the four others in 30 runs."""
    forbidden = json.loads((cases / "r09_forbidden.json").read_text(encoding="utf-8"))
    site = Site(forbidden["videos"])
    assert 5 <= len(run(site, tmp_path / "r09")) <= 10
    assert {entry.status for entry in read_entries(tmp_path / "r09").values()} == {"retry"}
    starved = json.loads((cases / "r11_bot_check.json").read_text(encoding="utf-8"))
    site = Site(starved["videos"])
    for number in range(starved["rounds"]):
        run(site, tmp_path / "r11", 1e9 + 3600 * starved["hours"] * number)
    good = {video for video, says in starved["videos"].items() if says is None}
    assert set(AudioCache(tmp_path / "r11").videos()) == good
    [bad] = set(starved["videos"]) - good
    assert 1 < site.asked[bad] < starved["rounds"] / 2
