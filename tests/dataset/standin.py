"""A stand-in for YouTube on the loopback address, with as many ways to fail, and an extractor that asks it.

Run as a program, it downloads: `python standin.py [--workers N] PORT CACHE VIDEO...`; tests kill it.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

RATE = 8_000


def wav(seconds: float = 2.0) -> bytes:
    """A tone as a WAV file."""
    import numpy as np
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, 0.5 * np.sin(np.arange(int(seconds * RATE))), RATE, format="WAV")
    return file.getvalue()


@dataclass
class Video:
    """What the server does when asked for a video.

    Attributes:
        says: Error that the page of the video shows; "" for none.
        page: HTTP status of that page.
        media: HTTP status of its sound, 200 and 206 apart.
        sound: The file.
        halves: How often the connection breaks off in the middle of it.
        pause_s: Pause after every 4 kB.
        live: Whether it is a live stream.
        duration: Its length in seconds, as the page says.
    """

    says: str = ""
    page: int = 200
    media: int = 200
    sound: bytes = field(default_factory=wav)
    halves: int = 0
    pause_s: float = 0.0
    live: bool = False
    duration: int = 2


class Server:
    """Serves the videos.

    Attributes:
        videos: Id to what is to happen; may be changed while it runs.
        asked: Requests so far for (kind, id); kinds are "page", "media", "rest" for sound from its middle on, and
            "whole" for sound sent to its end.
        cookies: What came as cookies.
    """

    def __init__(self, videos: dict[str, Video]) -> None:
        self.videos = videos
        self.asked: Counter[tuple[str, str]] = Counter()
        self.cookies: set[str] = set()
        self.lock = Lock()

    @property
    def port(self) -> int:
        return self._http.server_port

    def count(self, kind: str, video_id: str) -> None:
        with self.lock:
            self.asked[kind, video_id] += 1

    def __enter__(self) -> Server:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                kind, video_id = self.path.strip("/").split("/")
                server.count(kind, video_id)
                server.cookies |= {self.headers.get("Cookie", "")}
                video = server.videos[video_id]
                with suppress(BrokenPipeError, ConnectionResetError):
                    if kind == "page":
                        self._page(video)
                    else:
                        self._media(video_id, video)

            def _page(self, video: Video) -> None:
                page = json.dumps({"says": video.says, "live": video.live, "duration": video.duration}).encode()
                self._head(video.page, len(page))
                self.wfile.write(page)

            def _media(self, video_id: str, video: Video) -> None:
                if video.media != 200:
                    self._head(video.media, 0)
                    return
                whole, first = video.sound, 0
                if found := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")):
                    first = int(found[1])
                    server.count("rest", video_id)
                if first >= len(whole) > 0:
                    self._head(416, 0, {"Content-Range": f"bytes */{len(whole)}"})
                    return
                place = {"Content-Range": f"bytes {first}-{len(whole) - 1}/{len(whole)}"}
                self._head(206 if first else 200, len(whole) - first, place if first else {})
                ends = len(whole)
                if video.halves:
                    video.halves -= 1
                    ends = (first + ends) // 2
                for start in range(first, ends, 4096):
                    self.wfile.write(whole[start : min(start + 4096, ends)])
                    time.sleep(video.pause_s)
                if ends == len(whole):
                    server.count("whole", video_id)

            def _head(self, status: int, length: int, more: dict[str, str] | None = None) -> None:
                self.send_response(status)
                for name, value in {
                    "Content-Length": str(length),
                    "Accept-Ranges": "bytes",
                    "Connection": "close",
                    **(more or {}),
                }.items():
                    self.send_header(name, value)
                self.end_headers()

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()


def client_of(port: int) -> Any:
    """Maker of a yt-dlp client that takes links to YouTube to the server on `port`."""
    from yt_dlp import YoutubeDL
    from yt_dlp.extractor.common import InfoExtractor
    from yt_dlp.utils import ExtractorError

    class StandIn(InfoExtractor):  # type: ignore[misc]
        IE_NAME = "youtube"
        _VALID_URL = r"https://www\.youtube\.com/watch\?v=(?P<id>[\w-]{11})$"

        def _real_extract(self, url: str) -> dict[str, Any]:
            video_id = self._match_id(url)
            page = self._download_json(f"http://127.0.0.1:{port}/page/{video_id}", video_id)
            if "country" in page["says"]:
                self.raise_geo_restricted(page["says"])
            if page["says"]:
                raise ExtractorError(page["says"], expected=True)
            sound = {"format_id": "140", "url": f"http://127.0.0.1:{port}/media/{video_id}", "ext": "m4a"}
            return {
                "id": video_id,
                "title": f"Song {video_id} \ud83d",  # a character cut in half
                "duration": page["duration"],
                "is_live": page["live"],
                "formats": [{**sound, "vcodec": "none", "acodec": "mp4a"}],
            }

    def make(parameters: dict[str, Any]) -> Any:
        client = YoutubeDL({**parameters, "proxy": ""}, auto_init=False)
        client.add_info_extractor(StandIn())
        return client

    return make


def main() -> None:
    """Download what is due, as the command line does."""
    from musicrs_dataset.audio.fetch.options import FetchOptions
    from musicrs_dataset.audio.fetch.run import due, fetch

    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("port", type=int)
    parser.add_argument("cache", type=Path)
    parser.add_argument("videos", nargs="+")
    given = parser.parse_args()
    options = FetchOptions(sleep_s=0, retry_s=0, timeout_s=5, workers=given.workers)
    for outcome in fetch(due(given.videos, given.cache), given.cache, options, client_of(given.port)):
        print(outcome, flush=True)


if __name__ == "__main__":
    main()
