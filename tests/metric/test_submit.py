"""`submit`: a run goes to a board that is served, or to the inbox of its repository; each refusal is told."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.errors import UserError
from musicrs_metric.runs.run_card import write_run_card
from musicrs_metric.submit.bundle import Bundle
from musicrs_metric.submit.leaderboard import LeaderboardClient, leaderboard_url
from musicrs_metric.submit.repo import inbox_files
from space.board.board import Board as Ranking
from space.board.cache import Cache
from space.intake import SubmissionForm, take
from space.recompute import recompute
from space.service import LeaderboardService
from space.settings import LeaderboardSettings, Limits
from space.store.local import LocalStore

from ..fakehub import ONLINE, READER, FakeHub
from ..space.toy import POOLS, card, jsonl, lines, ranked, references, toy_data
from .support import Outcome, columns_of, run_cli, write_repo

Cli = Callable[..., Outcome]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return lambda *arguments: run_cli(capsys, monkeypatch, "submit", *arguments)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, LocalStore]]:
    """The address of a small board with its endpoints, and its store."""
    import gradio

    from space.web.api import expose

    folder = tmp_path_factory.mktemp("board")
    store = LocalStore(folder / "submissions")
    settings = LeaderboardSettings(results=folder, limits=Limits(submissions=0, calls=0))
    service = LeaderboardService(settings, Ranking(toy_data(), store, folder / "cache"))
    with gradio.Blocks(analytics_enabled=False) as blocks:
        expose(service)
    _, address, _ = blocks.launch(prevent_thread_lock=True, quiet=True)
    yield address.rstrip("/"), store
    blocks.close()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder on the data of the board."""
    write_run_card(tmp_path / "run" / "run.json", card())
    (tmp_path / "run" / "predictions.jsonl").write_bytes(jsonl(lines()))
    return tmp_path / "run"


def test_a_run_is_ranked(cli: Cli, served: tuple[str, LocalStore], run: Path) -> None:
    """It is stored as it was sent, and the second time nothing is new; it has a rank once there are two to rank."""
    address, store = served
    done = cli(run, "--space", f"{address}/", "--link", "https://example.org/x", "--description", "A toy.")
    (entry,) = store.entries()
    assert (done.code, done.out.strip()) == (0, f"stored: {address}/?row={entry.key}"), done.err
    kept = store.get(entry.key)
    assert kept is not None
    receipt = re.search(r"^receipt, to edit or withdraw the row later: (\S{32})$", done.err, re.MULTILINE)
    assert receipt is not None
    assert hashlib.sha256(receipt[1].encode()).hexdigest() == kept.receipt_hash
    assert "chance is" in done.err
    assert (kept.card, kept.link, kept.description) == (card(pools="published"), "https://example.org/x", "A toy.")
    assert kept.predictions == tuple(ranked())
    assert "sent before, nothing new" in cli(run, "--space", address).out
    assert len(store.entries()) == 1
    copy = cli(run, "--space", address, "--name", "A copy").out
    assert copy.startswith(f"stored: {address}/?row=")  # identical predictions have no rank of their own
    reverse = [line | {"ranking": line["ranking"][::-1]} for line in lines()]
    (run / "predictions.jsonl").write_bytes(jsonl(reverse))
    other = cli(run, "--space", address, "--name", "Another").out
    assert other.startswith("stored; rank 1 of 2 that read their own thread, on recall@20: ")


def test_without_a_card(cli: Cli, served: tuple[str, LocalStore], tmp_path: Path) -> None:
    """A lone prediction file and a few options are enough; what nobody says is asked for."""
    address, store = served
    file = tmp_path / "mine.jsonl"
    file.write_bytes(jsonl(lines(ranked(seed=1))))
    done = cli(file, "--space", address, "--name", "Shell script", "--modality", "query_only")
    assert done.code == 2
    assert "give --paradigm --reads" in done.err
    options = ("--name", "Shell script", "--modality", "query_only", "--paradigm", "traditional", "--reads", "thread")
    assert cli(file, "--space", address, *options).code == 0
    assert "Shell script" in [entry.card.name for entry in store.entries()]


# A stranger's system: for each line of "thread candidate candidate ..." the candidates backwards.
AWK = """{
    printf "{\\"thread_id\\": \\"%s\\", \\"ranking\\": [", $1
    for (i = NF; i > 1; i--) printf "\\"%s\\"%s", $i, (i > 2 ? ", " : "]}\\n")
}"""


def test_a_strangers_path(cli: Cli, served: tuple[str, LocalStore], tmp_path: Path) -> None:
    """Predictions of another language are ranked at their right score, which computing all again does not change."""
    address, store = served
    pools = "".join(f"{thread} {pool}\n" for thread, (_, pool, _) in POOLS.items())
    written = subprocess.run(["awk", AWK], input=pools, capture_output=True, text=True, check=True).stdout
    (tmp_path / "predictions.jsonl").write_text(written, encoding="utf-8")
    options = ("--name", "awk", "--modality", "query_only", "--paradigm", "traditional", "--reads", "thread")
    assert cli(tmp_path / "predictions.jsonl", "--space", address, *options).code == 0
    rows = {row["name"]: row for row in LeaderboardClient(address).call("leaderboard", {"reported": False})}
    # Relevant at ranks 1 and 3 of 4, 3 of 4, none, 2 of 5, 1 and 4 of 4, 1 of 5: the first of them, inverted, over six.
    assert rows["awk"]["values"]["mrr"] == pytest.approx((1 + 1 / 3 + 0 + 1 / 2 + 1 + 1) / 6)
    again = recompute(toy_data(), store, Cache(store.folder.parent / "cache"))
    assert (again.differences, again.set_aside) == ((), ())
    assert again.n == len(store.entries())


def test_checked_before_it_is_sent(cli: Cli, run: Path, tmp_path: Path) -> None:
    """A fault in the file, other data and missing threads are found at home: nothing listens at that address."""
    nowhere = ("--space", "http://127.0.0.1:9")
    data = write_repo(tmp_path / "data", columns_of(references()))
    file = run / "predictions.jsonl"
    file.write_bytes(jsonl([*lines()[1:]]))
    done = cli(run, *nowhere, "--dataset", data)
    assert done.code == 2
    assert "no prediction for 1 thread of 6 (t3_a)" in done.err
    assert "cannot be reached" in cli(run, *nowhere, "--dataset", data, "--partial").err
    file.write_bytes(jsonl([{"thread_id": "t3_z", "ranking": ["Ash"]}]))
    assert "thread t3_z" in cli(run, *nowhere, "--dataset", data).err
    file.write_bytes(jsonl([{"thread_id": "t3_a", "ranking": "Ash"}]))
    assert "line 1: thread t3_a, field 'ranking'" in cli(run, *nowhere).err
    file.write_bytes(jsonl(lines()))
    write_run_card(run / "run.json", card(fingerprint="0" * 64))
    assert "score it against the data that it was made on" in cli(run, *nowhere, "--dataset", data).err


def test_the_board_refuses(cli: Cli, served: tuple[str, LocalStore], run: Path) -> None:
    """Every fault that the board finds is printed, and nothing is stored."""
    address, store = served
    before = len(store.entries())
    (run / "predictions.jsonl").write_bytes(jsonl([*lines(), {"thread_id": "t3_x", "ranking": ["Ash"]}]))
    done = cli(run, "--space", address, "--link", "javascript:alert(1)")
    assert done.code == 2
    assert "field 'link'" in done.err
    assert "thread t3_x" in done.err
    assert done.err.strip().endswith("refused: 2 faults")
    assert len(store.entries()) == before


def test_dry_run(cli: Cli, run: Path) -> None:
    """It prints what would be said of the system, and sends nothing."""
    done = cli(run, "--space", "http://127.0.0.1:9", "--name", "Another name", "--dry-run")
    assert done.code == 0
    assert json.loads(done.out)["name"] == "Another name"
    assert "6 predictions, no fault; nothing was sent" in done.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "expected one of --space"),
        (("--space", "http://127.0.0.1:9", "--repo", "org/x"), "expected one of --space"),
        (("--space", "http://127.0.0.1:9"), "cannot be reached"),
        (("--space", "ftp://x"), "expected the leaderboard's URL"),
        (("--repo", "results"), "--repo is 'results', expected owner/name"),
        (("--repo", "org/results"), "HF_HUB_OFFLINE is set"),
    ],
)
def test_one_line_for_each_mistake(cli: Cli, run: Path, arguments: tuple[str, ...], told: str) -> None:
    """Each ends in one line and code 2."""
    done = cli(run, *arguments)
    assert done.code == 2
    assert told in done.err
    assert len(done.err.strip().splitlines()) == 1


ANSWERS = {
    "no board": (404, b"", b""),
    "too large": (413, b"", b""),
    "broken": (500, b"", b""),
    "a page": (200, b"<html>", b""),
    "no event": (200, b'{"event_id": "../x"}', b""),
    "an end": (200, b'{"event_id": "1"}', b""),
    "no JSON": (200, b'{"event_id": "1"}', b"event: complete\ndata: {{\n\n"),
    "a deep start": (200, b"[" * 100_000, b""),
    "a deep end": (200, b'{"event_id": "1"}', b"event: complete\ndata: " + b"[" * 100_000 + b"\n\n"),
    "an error": (200, b'{"event_id": "1"}', b'event: error\ndata: {"error": "Too many\\ntry \\u001b[31m later"}\n\n'),
    "no words": (200, b'{"event_id": "1"}', b"event: error\ndata: null\n\n"),
    "a beat": (200, b'{"event_id": "1"}', b"event: heartbeat\ndata: null\n\nevent: complete\ndata: [1]\n\n"),
}
TOLD = {
    "no board": "no leaderboard answers there",
    "too large": "larger than the leaderboard accepts",
    "broken": "answered 500; try again later",
    "a page": "no leaderboard answers there",
    "no event": "no leaderboard answers there",
    "an end": "without an answer",
    "no JSON": "no leaderboard answers there",
    "a deep start": "no leaderboard answers there",
    "a deep end": "no leaderboard answers there",
    "an error": "Too many; try ?[31m later",
    "no words": "failed without a reason",
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_what_a_server_may_answer(kind: str) -> None:
    """Whatever stands at the address is read as gradio writes it, or told in one line that is safe for a terminal."""
    status, start, events = ANSWERS[kind]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._answer(status, start)

        def do_GET(self) -> None:
            self._answer(200, events)

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    client = LeaderboardClient(f"http://127.0.0.1:{server.server_port}", timeout_s=5)
    try:
        if kind == "a beat":
            assert client.call("submit", {}) == 1
            return
        with pytest.raises(UserError) as raised:
            client.call("submit", {})
        assert TOLD[kind] in str(raised.value)
        assert str(raised.value).isprintable()
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"state": ["stored"]}, "no state of the submission"),
        ({"state": "refused", "faults": ["x", {"text": 5}], "n_faults": "\x1b"}, "refused: 2 faults"),
        ({"state": "refused", "faults": 5}, "refused: 0 faults"),
        ({"state": "stored", "row": "x", "warnings": 5}, "stored: "),
        ({"state": "stored", "row": {"standings": {"recall@20": 5}, "reads": []}}, "stored: "),
        ({"state": "stored", "row": {"standings": {"recall@20": {"rank": "\x1b"}}, "reads": []}}, "stored; rank ?"),
        ({"state": "\x1b[31m"}, "?[31m: "),
    ],
)
def test_a_judgement_of_another_form(
    answer: Any, told: str, cli: Cli, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a board says of a submission is told in words that are safe for a terminal."""
    monkeypatch.setattr(LeaderboardClient, "call", lambda *_: answer)
    done = cli(run, "--space", "http://127.0.0.1:1")
    assert told in done.out + done.err
    assert all(line.isprintable() for line in (done.out + done.err).splitlines())


def test_addresses() -> None:
    """A Space has its own host; an address is taken without what follows it."""
    assert leaderboard_url("MusiCRS-Team/leader_board.v2") == "https://musicrs-team-leader-board-v2.hf.space"
    assert leaderboard_url("http://127.0.0.1:7860/?tab=submit") == "http://127.0.0.1:7860"


def test_pull_request_to_the_repository(run: Path, tmp_path: Path) -> None:
    """A stranger's run arrives by pull request in the form that the board's intake takes from its inbox."""
    with FakeHub() as hub:
        hub.repos["datasets/org/results"] = {}
        variables = {"HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": hub.endpoint, "HF_TOKEN": READER, **ONLINE}
        command = [sys.executable, "-m", "musicrs_metric", "submit", str(run), "--repo", "org/results", "--link"]
        done = subprocess.run(
            [*command, "https://example.org"],
            capture_output=True, text=True, check=False, env={**os.environ, **variables},
        )  # fmt: skip
        address = f"{hub.endpoint}/datasets/org/results/discussions/1"
        assert done.stdout.strip() == f"waiting for the owner of org/results to merge it: {address}", done.stderr
        files = hub.commits[0].files
    (predictions, about) = (files[path] for path in sorted(files))
    taken = take(predictions, SubmissionForm(), toy_data(), Limits(), card=about).submission
    assert (taken.card.name, taken.link, taken.predictions) == (card().name, "https://example.org", tuple(ranked()))


def test_places_in_the_inbox() -> None:
    """The same run has the same place, and no name leads out of the inbox."""
    folders = {
        path.rpartition("/")[0]
        for name in ("../../x", "..", "Ünï", "a" * 500)
        for path in inbox_files(Bundle(b"", {"name": name}, 0, ()))
    }
    assert all(folder.count("/") == 1 and folder.startswith("inbox/") and len(folder) < 80 for folder in folders)
    assert not any("." in folder for folder in folders)
