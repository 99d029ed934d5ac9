"""The endpoints for programs, over a real connection: gradio_client and plain HTTP."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from gradio_client import Client

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import read_prediction_lines
from musicrs_metric.runs.read import score_predictions
from space.board.board import Board
from space.service import LeaderboardService
from space.settings import LeaderboardSettings, Limits
from space.store.local import LocalStore
from space.web.api import caller_at, expose
from space.web.errors import handlers
from space.web.public import PublicRoutes
from space.web.rate_limits import TryLaterError

from .toy import card, gzipped, jsonl, lines, ranked, references, toy_data

FIELDS = {"name": "Toy system", "modality": "query_only", "paradigm": "retrieval", "reads": "thread"}
TEXT = jsonl(lines()).decode()


def service_in(folder: Path, **changes: Any) -> LeaderboardService:
    settings = LeaderboardSettings(results=folder, **changes)
    return LeaderboardService(settings, Board(toy_data(), LocalStore(folder / "submissions"), None))


class Server:
    """A board that listens.

    Attributes:
        service: The leaderboard.
        url: Its address.
        client: A client of it.
    """

    def __init__(self, service: LeaderboardService) -> None:
        self.service = service
        with gr.Blocks(analytics_enabled=False) as self.blocks:
            expose(service)
        options: dict[str, Any] = {"prevent_thread_lock": True, "quiet": True, "server_name": "127.0.0.1"}
        wired = {"routes": PublicRoutes(service).routes(), "exception_handlers": handlers()}
        _, self.url, _ = self.blocks.launch(**options, app_kwargs=wired)
        self.client = Client(self.url, verbose=False)

    def call(self, endpoint: str, /, **values: Any) -> Any:
        return self.client.predict(api_name=f"/{endpoint}", **values)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests, which send different predictions."""
    server = Server(service_in(tmp_path_factory.mktemp("results"), limits=Limits(submissions=0, calls=0)))
    yield server
    server.blocks.close()


def test_a_submission_appears(server: Server) -> None:
    """It is answered with its row, which the leaderboard then has, and the second time it is there already."""
    first = server.call("submit", predictions=TEXT, **FIELDS)
    again = server.call("submit", predictions=TEXT, **FIELDS)
    assert (first["state"], again["state"]) == ("stored", "already")
    expected = score_predictions(ranked(), references()).scores
    assert first["row"]["values"] == again["row"]["values"] == expected.values
    found = server.call("leaderboard", sort="received")
    assert [line["kind"] for line in found][:2] == ["chance", "submitted"]
    assert first["key"] in {line["key"] for line in found}
    assert set(found[1]["values"]) == {"recall@20", "ndcg@20", "mrr"}
    assert server.call("leaderboard", details=True)[1]["values"].keys() == expected.values.keys()
    assert first["row"]["standings"]["mrr"]["to_chance"] in ("above", "at", "below")


def test_plain_http(server: Server) -> None:
    """Two requests without any library: names and values in, an event stream out."""
    values = {"predictions": jsonl(lines(ranked(1))).decode(), **FIELDS, "link": "https://example.org"}
    asked = urllib.request.Request(
        f"{server.url}gradio_api/call/v2/submit",
        data=json.dumps(values).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(asked) as answer:
        event = json.load(answer)["event_id"]
    with urllib.request.urlopen(f"{server.url}gradio_api/call/submit/{event}") as answer:
        stream = answer.read().decode()
    assert stream.startswith("event: complete\n")
    (made,) = json.loads(stream.partition("data: ")[2])
    assert made["state"] == "stored"
    assert made["row"]["link"] == "https://example.org"


def read(server: Server, address: str, body: Any = None) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(f"{server.url}{address}", data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(asked) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.mark.parametrize(
    ("endpoint", "body", "status", "words"),
    [
        ("submit", {"preds": "x"}, 400, r"'preds', expected predictions, name, modality, .*, card, .*$"),
        ("score", {"pools": "x"}, 400, r"predictions is missing"),
        ("predictions", {}, 400, r"key is missing$"),
        ("sumbit", {"predictions": "x"}, 404, r"'sumbit', expected submit, submit_repo, score, "),
    ],
)
def test_names_that_there_are_not(endpoint: str, body: Any, status: int, words: str, server: Server) -> None:
    """A field or an endpoint that somebody got wrong is answered with those that there are."""
    code, answer = read(server, f"gradio_api/call/v2/{endpoint}", body)
    assert code == status
    assert re.search(words, answer["error"])


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_documented_lines_for_curl(server: Server, tmp_path: Path) -> None:
    """They submit a file as they are printed, but for the board's address."""
    text = (Path(__file__).parents[2] / "docs" / "leaderboard.md").read_text(encoding="utf-8")
    code, edit = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    address = f"BOARD={server.url.rstrip('/')}"
    code = re.sub(r"^BOARD=.*", address, code)
    (tmp_path / "predictions.jsonl").write_bytes(jsonl(lines(ranked(6))))
    done = subprocess.run(["bash", "-euc", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    (made,) = json.loads(done.stdout.partition("data: ")[2])
    assert (made["state"], made["row"]["modality"]) == ("stored", "query_only")
    edit = edit.replace('"KEY"', f'"{made["key"]}"').replace('"RECEIPT"', f'"{made["receipt"]}"')
    done = subprocess.run(
        ["bash", "-euc", f"{address}\n{edit}"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    (changed,) = json.loads(done.stdout.partition("data: ")[2])
    assert (changed["state"], changed["row"]["name"]) == ("changed", "New name")
    server.call("withdraw", key=made["key"], receipt=made["receipt"])
    code, said = read(server, f"predictions.jsonl?key={made['key']}")
    assert (code, "was withdrawn" in said["error"]) == (410, True)


def test_predictions_by_address(server: Server, tmp_path: Path) -> None:
    """One GET gives what the score command reads, with the scores of the row."""
    made = server.call("submit", predictions=jsonl(lines(ranked(5))).decode(), **FIELDS)
    with urllib.request.urlopen(f"{server.url}predictions.jsonl?key={made['key']}") as answer:
        (tmp_path / "p.jsonl").write_bytes(answer.read())
        assert f"predictions-{made['key'][:12]}.jsonl" in answer.headers["Content-Disposition"]
    assert score_predictions(tmp_path / "p.jsonl", references()).scores.values == made["row"]["values"]
    code, said = read(server, "predictions.jsonl?key=gone")
    assert (code, "no row 'gone'" in said["error"]) == (404, True)


def test_the_table_at_an_address(server: Server) -> None:
    """The same as the endpoint gives, also right after a submission; a mistake is told as such."""
    for seed in (6, 7):
        server.call("submit", predictions=jsonl(lines(ranked(seed))).decode(), **FIELDS)
        for asked in ({}, {"sort": "mrr", "ascending": True}, {"genre": "Jazz", "details": True}):
            query = "&".join(
                f"{name}={str(value).lower() if value is True else value}" for name, value in asked.items()
            )
            assert read(server, f"leaderboard.json?{query}") == (200, server.call("leaderboard", **asked))
    for query, words in {"genre=Polka": "Jazz", "beauty=1": "'beauty'", "reported=maybe": "true or false"}.items():
        status, told = read(server, f"leaderboard.json?{query}")
        assert (status, words in told["error"]) == (400, True)


def test_packed_predictions_and_a_card(server: Server) -> None:
    """Base64 of a gzip file; the card says the rest."""
    packed = base64.b64encode(gzipped(jsonl(lines(ranked(2))))).decode()
    made = server.call("submit", predictions=packed, card=json.dumps({**FIELDS, "name": "By card"}))
    assert (made["state"], made["row"]["name"]) == ("stored", "By card")


def test_a_refusal_is_data(server: Server) -> None:
    """A program gets every fault with its place, and nothing is kept."""
    before = len(server.service.board.store.entries())
    made = server.call("submit", predictions=TEXT + "nonsense\n", **{**FIELDS, "name": " "})
    assert (made["state"], made["n_faults"]) == ("refused", 2)
    assert [(fault["file"], fault["line"], fault["field"]) for fault in made["faults"]] == [
        ("form", None, "name"),
        ("predictions.jsonl", 7, None),
    ]
    assert made["faults"][1]["text"].startswith("predictions.jsonl, line 7: not JSON")
    assert len(server.service.board.store.entries()) == before


def test_scores_without_a_submission(server: Server) -> None:
    """As the command line has them; what is missing counts, and nothing is kept."""
    before = len(server.service.board.store.entries())
    made = server.call("score", predictions=jsonl(lines(ranked(3)[:4])).decode())
    expected = score_predictions(ranked(3)[:4], references(), by=["genre"]).to_dict()
    assert made == json.loads(json.dumps(expected | {"dataset": "musicrs", "pools": "published"}))
    assert len(server.service.board.store.entries()) == before
    assert server.call("score", predictions="nonsense")["state"] == "refused"


def test_predictions_go_home(server: Server) -> None:
    """From what is downloaded anybody computes the same scores."""
    made = server.call("submit", predictions=jsonl(lines(ranked(4))).decode(), **FIELDS)
    with urllib.request.urlopen(server.url.rstrip("/") + server.call("predictions", key=made["key"])) as answer:
        text = answer.read().decode()
    found = read_prediction_lines(text.encode().splitlines(keepends=True), "here", references())
    assert score_predictions(found, references()).scores.values == made["row"]["values"]


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("leaderboard", {"genre": "Polka"}, "expected one of Jazz, Metal"),
        ("leaderboard", {"pools": "deep"}, "expected published or wider"),
        ("leaderboard", {"sort": "beauty"}, "expected one of name"),
        ("predictions", {"key": "../../etc/passwd"}, "found no row '../../etc/passwd'"),
        ("score", {"predictions": "x", "pools": "deep"}, "expected published or wider"),
        ("score", {"predictions": "H4sI*"}, "base64"),
        ("submit_repo", {"repo": "https://huggingface.co/a/b"}, ""),
    ],
)
def test_other_mistakes_are_one_sentence(name: str, values: dict[str, Any], words: str, server: Server) -> None:
    """They reach the client as its own error, without a traceback."""
    if not words:
        assert "expected owner/name" in server.call(name, **values)["message"]
        return
    with pytest.raises(ValueError, match=re.escape(words)) as error:
        server.call(name, **values)
    assert "Traceback" not in str(error.value)


@pytest.mark.parametrize("value", [None, 3, ["a"], {"a": 1}, True])
def test_values_of_another_type(value: Any, server: Server) -> None:
    """Whatever a program sends, it is told what was expected."""
    for field in ("predictions", *FIELDS, "link", "description", "card", "pools", "partial"):
        sent = {"predictions": TEXT, **FIELDS} | {field: value}
        made = server.call("submit", **sent)
        assert made["state"] in ("refused", "stored", "already"), field


def test_our_own_faults_stay_with_us(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log has them; the answer holds neither a path nor a secret."""

    def broken(*_: object) -> None:
        raise RuntimeError("/home/board/hf_secret")

    monkeypatch.setattr(server.service, "leaderboard", broken)
    with pytest.raises(ValueError, match="the server failed") as error:
        server.call("leaderboard")
    assert "secret" not in str(error.value)


def test_a_share_for_each_caller(tmp_path: Path) -> None:
    """Refused submissions count towards a limit of their own; the answer says when to come again."""
    service = service_in(tmp_path, limits=Limits(submissions=2, calls=1))
    from space.intake import IntakeError, SubmissionForm

    form = SubmissionForm(**FIELDS)
    service.submit(TEXT.encode(), form, caller="a")
    with pytest.raises(IntakeError):
        service.submit(b"", form, caller="a")
    service.submit(TEXT.encode(), form, caller="a")
    with pytest.raises(UserError, match=r"2 submissions within 60 minutes is the limit; try again in \d+ s"):
        service.submit(TEXT.encode(), form, caller="a")
    assert service.submit(TEXT.encode(), form, caller="b").receipt.state == "already"
    for _ in range(10):
        with pytest.raises(UserError, match="expected owner/name"):
            service.submit_repo("", "dataset", form, caller="b")
    with pytest.raises(UserError, match="10 refused submissions within"):
        service.submit_repo("", "dataset", form, caller="b")
    service.score(TEXT.encode(), caller="a")
    with pytest.raises(UserError, match="1 call within"):
        service.score(TEXT.encode(), caller="a")


def test_costly_calls_take_turns(tmp_path: Path) -> None:
    """Whoever finds the queue full is told when to come again, whichever costly call it was."""
    from space.intake import SubmissionForm

    service = service_in(tmp_path, limits=Limits(at_once=1, queue=0))
    calls = (
        lambda: service.submit(TEXT.encode(), SubmissionForm(**FIELDS), caller="a"),
        lambda: service.submit_repo("org/run", "dataset", SubmissionForm(), caller="a"),
        lambda: service.score(TEXT.encode(), caller="a"),
    )
    with service._turns.turn():
        for call in calls:
            with pytest.raises(TryLaterError, match="the queue is full"):
                call()
    assert not service.board.snapshot().rows


def test_who_calls(tmp_path: Path) -> None:
    """The signed-in name counts only where people can sign in, and as long as the sign-in is valid."""
    later = 4e9

    def request(expires: float) -> Any:
        session = {"oauth_info": {"expires_at": expires, "userinfo": {"preferred_username": "ada"}}}
        raw = SimpleNamespace(
            headers={"X-Forwarded-For": "6.6.6.6, 1.2.3.4"},
            scope={"session": session},
            client=SimpleNamespace(host="10.0.0.1"),
        )
        return SimpleNamespace(request=raw)

    local_service = service_in(tmp_path)
    space = LeaderboardService(replace(local_service.settings, sign_in=True, behind_proxy=True), local_service.board)
    assert caller_at(local_service, request(later)) == "address 10.0.0.1"
    assert caller_at(space, request(later)) == "user ada"
    assert caller_at(space, request(1.0)) == "address 1.2.3.4"


def test_a_card_that_is_complete_needs_no_form(server: Server) -> None:
    """As `run.json` of a run folder is."""
    known = {name: value for name, value in asdict(card(name="Complete")).items() if value is not None}
    made = server.call("submit", predictions=jsonl(lines(ranked(5))).decode(), card=json.dumps(known))
    assert (made["state"], made["row"]["name"]) == ("stored", "Complete")
