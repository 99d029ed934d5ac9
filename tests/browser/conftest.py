"""A browser and a server for tests that use pages as people do; they skip where Chromium or Playwright is absent."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Nothing may leave the machine, and a container has neither a graphics card nor a sandbox of its own.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The browser."""
    pytest.importorskip("playwright", reason="no Playwright: pip install playwright")
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no Chromium: apt-get install --no-install-recommends chromium, or set CHROMIUM to its path")
    return Path(found)


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    """One browser for all tests of a file."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield started
        started.close()


class Server:
    """A page server in a process of its own, on a port that stays the same when it is started anew.

    Args:
        arguments: Command line of the Python interpreter; `PORT` in it stands for the port.
    """

    def __init__(self, *arguments: object) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self._command = [sys.executable, *(str(part).replace("PORT", str(self.port)) for part in arguments)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False"}
        self._process = subprocess.Popen(self._command, env=environment, start_new_session=True)
        for _ in range(1_200):
            if self._process.poll() is not None:
                raise RuntimeError(f"the server ended with code {self._process.returncode}")
            try:
                urllib.request.urlopen(self.url, timeout=5).close()
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise TimeoutError("the server did not answer within a minute")

    def kill(self) -> None:
        """Kill it on the spot, as a power cut would."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    """Servers put in here are killed at the end."""
    started: list[Server] = []
    yield started
    for server in started:
        server.kill()
