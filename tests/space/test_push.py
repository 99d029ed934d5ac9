"""The Space: what is pushed is complete, says rightly how it is run, holds no secret, and runs by itself."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from configparser import ConfigParser
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import RepoCard, SpaceCardData
from packaging.requirements import Requirement

from musicrs_dataset.repo.build import build
from musicrs_metric.errors import UserError
from musicrs_metric.submit.leaderboard import LeaderboardClient
from space.push import ROOM, push

from ..dataset.support import ABOUT, TINY, environment, evaluate, run
from ..fakehub import ONLINE, READER, TOKEN, FakeHub

PAGE = "spaces/org/board"
PUSH = "from space.push import push; import json; print(json.dumps(push('org/board')))"
CHECKOUT = ROOM.parent


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with FakeHub() as hub:
        yield hub


def online(hub: FakeHub, token: str = TOKEN) -> dict[str, str]:
    return {**ONLINE, "HF_ENDPOINT": hub.endpoint, "HF_TOKEN": token}


def requirements() -> list[Requirement]:
    return [Requirement(line) for line in (ROOM / "requirements.txt").read_text(encoding="utf-8").splitlines()]


def test_push(hub: FakeHub, tmp_path: Path) -> None:
    """The three rooms, the entry, the card and the requirements arrive; a second push takes away what is gone."""
    address, to_do = evaluate(PUSH, tmp_path / "home", cwd=CHECKOUT, **online(hub))
    assert address == f"{hub.endpoint}/spaces/org/board"
    assert "MUSICRS_DATASET" in to_do[0]
    assert "RESULTS_REPO" in to_do[1]
    files = hub.repos[PAGE]
    assert {"README.md", "requirements.txt", "app.py", "space/app.py", "space/page.css"} <= set(files)
    assert {"musicrs_metric/scoring.py", "musicrs_metric/paper/table1.csv", "musicrs_dataset/loading.py"} <= set(files)
    assert {path.split("/")[0] for path in files if "/" in path} == {"musicrs_metric", "musicrs_dataset", "space"}
    assert not [path for path in files if "__pycache__" in path or path.endswith(".pyc")]
    assert not [path for path, content in files.items() if TOKEN.encode() in content]
    files["space/of_an_earlier_version.py"] = b""
    evaluate(PUSH, tmp_path / "home", cwd=CHECKOUT, **online(hub))
    assert "space/of_an_earlier_version.py" not in hub.repos[PAGE]
    assert set(hub.repos[PAGE]) == set(files) - {"space/of_an_earlier_version.py"}


@pytest.mark.parametrize(("token", "told"), [(READER, "no right to write there"), ("", "log in with `hf auth login`")])
def test_refusals(hub: FakeHub, tmp_path: Path, token: str, told: str) -> None:
    """No right and no token are told in words, and nothing is uploaded."""
    done = run("-c", PUSH, home=tmp_path / "home", cwd=CHECKOUT, **online(hub, token))
    assert told in done.stderr.strip().splitlines()[-1]
    assert hub.repos == {}
    with pytest.raises(UserError, match="expected owner/name"):
        push("board")


def test_card() -> None:
    """The Hub's own parser reads the card: the sdk at the version that is required, a Python that fits, and sign-in."""
    text = (ROOM / "README.md").read_text(encoding="utf-8")
    data = SpaceCardData(**yaml.safe_load(text.split("---")[1]))
    assert RepoCard(text).text.startswith("\n# MusiCRS leaderboard")
    (gradio,) = [one for one in requirements() if one.name == "gradio"]
    assert (data.sdk, data.app_file, data.license) == ("gradio", "app.py", "apache-2.0")
    assert f"=={data.sdk_version}" == str(gradio.specifier)
    assert data.python_version == "3.11"  # text: YAML would read 3.10 as 3.1
    assert data.get("hf_oauth") is True
    assert gradio.extras == {"oauth", "mcp"}
    assert len(data.get("short_description")) <= 60  # more is refused by the Hub


def test_requirements() -> None:
    """Each is pinned to what the tests ran with, and all that the room declares is among them."""
    pinned = {one.name.lower().replace("_", "-"): one for one in requirements()}
    assert {name: str(one.specifier) for name, one in pinned.items()} == {name: f"=={version(name)}" for name in pinned}
    declared = ConfigParser(interpolation=None)
    declared.read(CHECKOUT / "setup.cfg")
    lines = declared["options"]["install_requires"] + declared["options.extras_require"]["space"]
    needed = {Requirement(line).name.lower().replace("_", "-") for line in lines.strip().splitlines() if line}
    # The metric's own Space needs evaluate; this one does not.
    assert needed - set(pinned) == {"evaluate"}


@pytest.mark.figures
def test_runs_by_itself(hub: FakeHub, tmp_path: Path) -> None:
    """The pushed Space starts from its own folder and answers, with no module of this checkout."""
    evaluate(PUSH, tmp_path / "home", cwd=CHECKOUT, **online(hub))
    for path, content in hub.repos[PAGE].items():
        file = tmp_path / "space" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    build(TINY, tmp_path / "data", about=ABOUT)
    own = """
import json, sys
import space.app, space.cli, space.factory, musicrs_metric.cli
names = [name for name in sys.modules if name.split(".")[0] in ("space", "musicrs_metric", "musicrs_dataset")]
print(json.dumps(sorted(sys.modules[name].__file__ for name in names)))
"""
    folder = tmp_path / "space"
    files = evaluate(own, tmp_path / "home", cwd=folder)
    assert files
    assert all(Path(file).is_relative_to(folder) for file in files)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = {"PORT": str(port), "MUSICRS_DATASET": str(tmp_path / "data"), "GRADIO_ANALYTICS_ENABLED": "False"}
    process = subprocess.Popen(
        [sys.executable, "app.py"], cwd=folder, env=environment(tmp_path / "home", **variables),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        rows = _ask(LeaderboardClient(f"http://127.0.0.1:{port}", timeout_s=20), process)
        process.terminate()
        assert process.wait(20) == 0  # an orderly end, at which a store commits what waits
    finally:
        process.kill()
        process.communicate()
    assert rows[0]["kind"] == "chance"
    # Of four threads three have a right answer, and each pool is shorter than 20: all are found.
    assert rows[0]["values"]["recall@20"] == pytest.approx(3 / 4)


def _ask(board: LeaderboardClient, process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    end = time.monotonic() + 90
    while time.monotonic() < end and process.poll() is None:
        try:
            rows: list[dict[str, Any]] = board.call("leaderboard", {})
        except UserError:
            time.sleep(0.3)
        else:
            return rows
    process.kill()
    raise AssertionError(f"the Space does not answer: {process.communicate()[0]}")
