"""Downloads from a server on the loopback address: what each video comes to, when a run stops, what is asked again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Lock
from time import monotonic

import pytest
from filelock import FileLock

from musicrs_dataset.audio.download_ledger import LEDGER, DownloadLedger, known_statuses
from musicrs_dataset.audio.fetch.cache import AudioCache, is_video_id
from musicrs_dataset.audio.fetch.client import Downloader, youtube
from musicrs_dataset.audio.fetch.failures import Failure, classify
from musicrs_dataset.audio.fetch.options import FetchOptions
from musicrs_dataset.audio.fetch.run import HOUR, Outcome, due, fetch
from musicrs_metric.errors import UserError

from .standin import Server, Video, client_of, wav

QUICK = FetchOptions(sleep_s=0, retry_s=0, timeout_s=1, retries=2)
OK, DASH = "okokokokokA", "-lrVO3pPDP4"


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.time = 1e9

    def __call__(self) -> float:
        return self.time


def run(
    server: Server, cache: Path, *, options: FetchOptions = QUICK, now: Clock | None = None, retry: bool = False
) -> list[Outcome]:
    """Fetch whatever is due of the server's videos."""
    clock = now or Clock()
    todo = due(server.videos, cache, retry_failed=retry, now=clock)
    return list(fetch(todo, cache, options, client_of(server.port), now=clock))


def test_every_link_ends_in_its_status(tmp_path: Path) -> None:
    """Each way to fail has its status and reason; what can be had lies in the cache, as it was sent."""
    cut_twice, slow = Video(sound=wav(60.0), halves=2), Video(pause_s=0.02)
    expected = {
        OK: (Video(), "ok", ""),
        DASH: (Video(), "ok", ""),
        "halfhalfhaA": (cut_twice, "ok", ""),
        "slowslowslA": (slow, "ok", ""),
        "privprivprA": (Video("Private video. Sign in if you've been granted access to this video"), "gone", "private"),
        "removedremA": (Video("Video unavailable. This video has been removed by the uploader"), "gone", "removed"),
        "copyrcopyrA": (Video("Video unavailable. X, who has blocked it on copyright grounds"), "gone", "copyright"),
        "regionregiA": (Video("The uploader has not made it available in your country"), "restricted", "region"),
        "ageageageaA": (Video("Sign in to confirm your age. This video may be inappropriate"), "restricted", "age"),
        "livelivel0A": (Video(live=True), "retry", "not yet"),
        "n403n403n4A": (Video(media=403), "retry", "forbidden"),
        "n404n404n4A": (Video(media=404), "retry", "not found"),
        "n503n503n5A": (Video(page=503), "retry", "network"),
        "alwayshalfA": (Video(sound=wav(60.0), halves=99), "retry", "network"),
        "silentsil0A": (Video(pause_s=3), "retry", "network"),
        "htmlhtmlhtA": (Video(sound=b"<html>sorry</html>"), "retry", "no sound"),
        "shortshortA": (Video(sound=wav(0.01)), "retry", "no sound"),
    }
    with Server({video_id: video for video_id, (video, _, _) in expected.items()}) as server:
        outcomes = {outcome.video_id: outcome.failure for outcome in run(server, tmp_path)}
    came_to = {
        video_id: (failure.kind.status, failure.kind.why) if failure else ("ok", "")
        for video_id, failure in outcomes.items()
    }
    assert came_to == {video_id: (status, why) for video_id, (_, status, why) in expected.items()}
    assert known_statuses(tmp_path) == {video_id: status for video_id, (_, status, _) in expected.items()}
    files = AudioCache(tmp_path).videos()
    assert {video_id: file.read_bytes() for video_id, file in files.items()} == {
        video_id: video.sound for video_id, (video, status, _) in expected.items() if status == "ok"
    }
    assert files[DASH] == tmp_path / "audio" / "-l" / f"{DASH}.m4a"
    about = json.loads(files[DASH].with_suffix(".json").read_text(encoding="utf-8"))
    assert about["title"] == f"Song {DASH} ?"
    assert about["sha256"] == hashlib.sha256(wav()).hexdigest()
    assert about["duration"] == 2


def test_nothing_is_fetched_twice(tmp_path: Path) -> None:
    """A second run asks for nothing that is there, gone or not yet due; a file that was deleted is fetched anew."""
    videos = {OK: Video(), "gonegonegoA": Video("This video is private"), "n403n403n4A": Video(media=403)}
    with Server(videos) as server:
        run(server, tmp_path)
        asked = server.asked.copy()
        assert run(server, tmp_path) == []
        assert server.asked == asked
        AudioCache(tmp_path).videos()[OK].unlink()
        assert run(server, tmp_path) == [Outcome(OK, None)]


@pytest.mark.parametrize(
    "video",
    [Video("Video unavailable. This content isn't available, try again later"), Video(page=429), Video(media=429)],
)
def test_a_rate_limit_stops_the_run(tmp_path: Path, video: Video) -> None:
    """A rate limit ends the run at once; the video is not blamed, and is due again after an hour, after the others."""
    clock = Clock()
    with Server({OK: Video(), "stopstopstA": video, "neveraskedA": Video()}) as server:
        outcomes = run(server, tmp_path, now=clock)
        assert [outcome.video_id for outcome in outcomes] == [OK, "stopstopstA"]
        assert outcomes[1].failure is not None
        assert (outcomes[1].failure.kind.why, outcomes[1].failure.kind.stops) == ("rate limit", True)
        assert server.asked["page", "neveraskedA"] == 0
        with DownloadLedger(tmp_path) as ledger:
            assert ledger.entries()["stopstopstA"].tries == 0
        assert due(server.videos, tmp_path, now=clock) == ["neveraskedA"]
        clock.time += HOUR
        assert due(server.videos, tmp_path, now=clock) == ["neveraskedA", "stopstopstA"]


def test_a_dead_network_stops_the_run(tmp_path: Path) -> None:
    """When five connections in a row break, the others are not burnt; one that holds starts the count anew."""
    dead = {f"dead{i}dead0A": Video(page=503) for i in range(4)}
    with Server({**dead, OK: Video(), **{f"dead{i}dead1A": Video(page=503) for i in range(6)}}) as server:
        outcomes = run(server, tmp_path)
        assert len(outcomes) == 4 + 1 + 5
        assert outcomes[-1].failure is not None
        assert outcomes[-1].failure.kind.stops
        assert server.asked["page", "dead5dead1A"] == 0


def test_back_off(tmp_path: Path) -> None:
    """Each failure makes the pause before the next try longer, up to a day; a success ends the matter."""
    clock, pauses = Clock(), []
    with Server({OK: Video(media=403)}) as server:
        for _ in range(6):
            assert len(run(server, tmp_path, now=clock)) == 1
            with DownloadLedger(tmp_path) as ledger:
                pause = (ledger.entries()[OK].next_try or 0) - clock.time
            pauses.append(pause / HOUR)
            clock.time += pause - 1
            assert run(server, tmp_path, now=clock) == []
            clock.time += 1
        assert pauses == [0.25, 1, 4, 16, 24, 24]
        server.videos[OK] = Video()
        assert run(server, tmp_path, now=clock) == [Outcome(OK, None)]
        assert known_statuses(tmp_path) == {OK: "ok"}
        with DownloadLedger(tmp_path) as ledger:
            assert ledger.entries() == {}


def test_what_is_not_found_is_asked_for_again(tmp_path: Path) -> None:
    """No number of failures makes a video gone: a proxy or a client may be the reason for each of them."""
    clock = Clock()
    with Server({OK: Video(media=404)}) as server:
        for _ in range(5):
            assert len(run(server, tmp_path, now=clock)) == 1
            assert known_statuses(tmp_path) == {OK: "retry"}
            clock.time += 24 * HOUR


def test_restricted_videos_are_asked_for_again_after_a_week(tmp_path: Path) -> None:
    """Restrictions are lifted now and then; rows of earlier versions, which name no time, are due as well."""
    clock = Clock()
    with Server({OK: Video("Sign in to confirm your age")}) as server:
        run(server, tmp_path, now=clock)
        with DownloadLedger(tmp_path) as ledger:
            for entry in (ledger.entries()[OK], replace(ledger.entries()[OK], next_try=None)):
                ledger.put(entry)
                clock.time = 1e9 + 7 * 24 * HOUR - 1
                assert due(server.videos, tmp_path, now=clock) == []
                clock.time += 1
                assert due(server.videos, tmp_path, now=clock) == [OK]


def test_retry_failed(tmp_path: Path) -> None:
    """On demand every video that failed is asked for again; those that are gone come last."""
    videos = {
        "gonegonegoA": Video("This video is private"),
        "ageageageaA": Video("Sign in to confirm your age"),
        "n403n403n4A": Video(media=403),
    }
    with Server(videos) as server:
        run(server, tmp_path)
        server.videos |= dict.fromkeys(videos, Video())
        order = ["ageageageaA", "n403n403n4A", "gonegonegoA"]
        assert run(server, tmp_path, retry=True) == [Outcome(video_id, None) for video_id in order]


@pytest.mark.parametrize("workers", [1, 3])
def test_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    """As many downloads at the same time as there are workers, each video once."""
    lock, at_once, seen = Lock(), 0, set()
    get = Downloader.get

    def counted(downloader: Downloader, video_id: str) -> Failure | None:
        nonlocal at_once
        with lock:
            at_once += 1
            seen.add(at_once)
        failure = get(downloader, video_id)
        with lock:
            at_once -= 1
        return failure

    monkeypatch.setattr(Downloader, "get", counted)
    videos = {f"video{i}vid0A": Video(sound=wav(5.0), pause_s=0.02) for i in range(6)}
    with Server(videos) as server:
        options = FetchOptions(sleep_s=0, retry_s=0, workers=workers)
        assert {outcome.video_id for outcome in run(server, tmp_path, options=options)} == set(videos)
        assert {n for (kind, _), n in server.asked.items() if kind == "media"} == {1}
    assert max(seen) == workers


def test_pause_between_videos(tmp_path: Path) -> None:
    """Between two videos there is the pause asked for."""
    with Server({f"video{i}vid0A": Video() for i in range(3)}) as server:
        start = monotonic()
        run(server, tmp_path, options=FetchOptions(sleep_s=0.4, retry_s=0))
        assert monotonic() - start > 0.8


def test_rate(tmp_path: Path) -> None:
    """A download takes as long as its rate says."""
    with Server({OK: Video(sound=wav(4.0))}) as server:  # 64 kB
        start = monotonic()
        run(server, tmp_path, options=FetchOptions(sleep_s=0, bytes_per_s=50_000))
        assert monotonic() - start > 1


def test_cookies(tmp_path: Path) -> None:
    """Cookies from the file go to the server that they are for."""
    file = tmp_path / "cookies.txt"
    file.write_text("# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tvisitor\tme\n")
    with Server({OK: Video()}) as server:
        run(server, tmp_path / "cache", options=FetchOptions(sleep_s=0, cookies=file))
        assert server.cookies == {"visitor=me"}


def test_breaking_off(tmp_path: Path) -> None:
    """Whoever stops in the middle waits for no download, and what arrived of it is kept."""
    with Server({OK: Video(), "slowslowslA": Video(sound=wav(60.0), pause_s=0.02)}) as server:
        outcomes = fetch(list(server.videos), tmp_path, QUICK, client_of(server.port))
        assert next(outcomes) == Outcome(OK, None)
        start = monotonic()
        while not list(tmp_path.glob("partial/slowslowslA/*")):
            assert monotonic() - start < 10
        assert isinstance(outcomes, Iterator)
        outcomes.close()  # type: ignore[attr-defined]
        assert monotonic() - start < 3
        assert known_statuses(tmp_path) == {OK: "ok"}
        server.videos["slowslowslA"].pause_s = 0
        assert run(server, tmp_path) == [Outcome("slowslowslA", None)]
        assert AudioCache(tmp_path).videos()["slowslowslA"].read_bytes() == wav(60.0)
        assert server.asked["rest", "slowslowslA"] == 1


def test_one_process_at_a_time(tmp_path: Path) -> None:
    """A second process in the same cache is told so, before it asks for anything."""
    with Server({OK: Video()}) as server, FileLock(tmp_path / ".lock"):
        with pytest.raises(UserError, match="another process downloads into this cache"):
            run(server, tmp_path)
        assert not server.asked


def test_a_ledger_that_is_none(tmp_path: Path) -> None:
    """A file in the place of the ledger is not written over."""
    (tmp_path / LEDGER).write_text("my notes on this, long enough to be taken for a file of its own kind\n" * 30)
    with pytest.raises(UserError, match="not a ledger of this program"):
        due([OK], tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "short",
        "../../../etc",
        "okokokokok",
        "okokokokokAA",
        "okokokokokB",
        "ok/kokokokA",
        "videoseries",
        "ok kokokokA",
    ],
)
def test_what_is_no_video_id(tmp_path: Path, text: str) -> None:
    """Text that is not the id of a video touches no path."""
    assert not is_video_id(text)
    with pytest.raises(ValueError, match="no video id"):
        AudioCache(tmp_path).partial(text)
    assert not list(tmp_path.iterdir())


def test_odd_folder(tmp_path: Path) -> None:
    """A cache may lie in a folder with a name that looks like a pattern."""
    cache = tmp_path / "50% of %(id)s #1?"
    with Server({OK: Video()}) as server:
        assert run(server, cache) == [Outcome(OK, None)]
    assert AudioCache(cache).videos()[OK].read_bytes() == wav()


def test_the_client_for_youtube(tmp_path: Path) -> None:
    """The real client takes the link to YouTube's extractor; where there is no network, that is the reason told."""
    outcomes = fetch([DASH], tmp_path, QUICK, lambda parameters: youtube({**parameters, "proxy": "http://127.0.0.1:9"}))
    [outcome] = outcomes
    assert outcome.failure is not None
    assert outcome.failure.kind.why == "network", outcome.failure.detail


def test_a_full_disk_stops_the_run() -> None:
    """A disk without room is nobody's fault but the disk's."""
    from yt_dlp.utils import DownloadError

    full = OSError(28, "No space left on device")
    failure = classify(DownloadError("unable to write data", (OSError, full, None)))
    assert (failure.kind.why, failure.kind.stops) == ("disk", True)
