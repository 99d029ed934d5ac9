"""Submissions that lie on the Hub, against a stand-in: read as by a stranger, bounded, refused in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import huggingface_hub.constants
import pytest

from musicrs_metric.errors import UserError
from space.intake import IntakeError, take
from space.intake.repo import fetch
from space.settings import Limits

from ..fakehub import FakeHub, Fault
from .toy import FORM, card, gzipped, jsonl, lines, toy_data

LIMITS = Limits()
CARD = {name: value for name, value in asdict(card()).items() if value is not None}
GOOD = {"predictions.jsonl": jsonl(lines()), "run.json": json.dumps(CARD).encode(), "README.md": b"words"}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_board")
    with FakeHub() as hub:
        yield hub


def refusal(hub: FakeHub, repo: Any, kind: Any = "dataset", limits: Limits = LIMITS) -> str:
    with pytest.raises(IntakeError) as error:
        fetch(repo, kind, limits, endpoint=hub.endpoint)
    (fault,) = error.value.faults
    assert (fault.file, fault.field) == ("form", "repo")
    return fault.message


@pytest.mark.parametrize(("kind", "page"), [("dataset", "datasets/team/run"), ("model", "team/run")])
def test_both_files_are_read(kind: str, page: str, hub: FakeHub) -> None:
    """They are a submission without a form, linked to the commit that was read."""
    hub.repos[page] = GOOD
    found = fetch("team/run", kind, LIMITS, endpoint=hub.endpoint)
    assert found.link == f"https://huggingface.co/{page}/tree/{hub.commit_id(page)}"
    taken = take(found.predictions, FORM, toy_data(), LIMITS, card=found.card, link=found.link)
    assert (taken.submission.card.name, taken.submission.link) == ("Toy system", found.link)


def test_it_is_read_as_by_a_stranger(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """The board's own token, with which private repositories could be looked into, is never shown."""
    hub.repos["datasets/team/run"] = GOOD
    handler: Any = hub.server.RequestHandlerClass
    parse = handler.parse_request
    shown: list[str | None] = []

    def parse_request(request: Any) -> bool:
        parsed: bool = parse(request)
        shown.append(request.headers.get("Authorization"))
        return parsed

    monkeypatch.setattr(handler, "parse_request", parse_request)
    fetch("team/run", "dataset", LIMITS, endpoint=hub.endpoint)
    assert len(shown) > 3
    assert set(shown) == {None}


def test_a_packed_file_is_read(hub: FakeHub) -> None:
    """`predictions.jsonl.gz` stands for the other."""
    hub.repos["datasets/team/run"] = {"predictions.jsonl.gz": gzipped(GOOD["predictions.jsonl"]), "run.json": b"{}"}
    assert fetch("team/run", "dataset", LIMITS, endpoint=hub.endpoint).predictions.startswith(b"\x1f\x8b")


@pytest.mark.parametrize(
    "repo", ["", "run", "team/../run", "/etc/passwd", "a/b/c", "team/run?x", "-a/b", None, ["a/b"]]
)
def test_only_owner_and_name_are_asked_for(repo: Any, hub: FakeHub) -> None:
    """Everything else is refused before the Hub is asked."""
    assert "expected owner/name" in refusal(hub, repo)
    assert not hub.asked


def test_other_kinds(hub: FakeHub) -> None:
    """A Space holds no submission."""
    assert "dataset or model" in refusal(hub, "team/run", "space")


def test_what_lacks(hub: FakeHub) -> None:
    """The repository, or the file, is named."""
    hub.repos["datasets/team/run"] = {"run.json": b"{}"}
    hub.repos["datasets/team/bare"] = {"predictions.jsonl": b"", "folder/run.json": b"{}"}
    assert "no public dataset team/other" in refusal(hub, "team/other")
    assert "no predictions.jsonl" in refusal(hub, "team/run")
    assert "no run.json" in refusal(hub, "team/bare")


def test_sizes_are_looked_at_first(hub: FakeHub) -> None:
    """A file that is too large is not downloaded."""
    hub.repos["datasets/team/run"] = GOOD
    assert "predictions.jsonl of team/run has" in refusal(hub, "team/run", limits=Limits(upload_bytes=10))
    assert "run.json of team/run has" in refusal(hub, "team/run", limits=Limits(card_bytes=10))
    assert not any("/resolve/" in asked for asked in hub.asked)


@pytest.mark.parametrize(("status", "words"), [(500, "answered 500"), (429, "answered 429"), (0, "cannot be reached")])
def test_a_hub_that_fails(status: int, words: str, hub: FakeHub) -> None:
    """One sentence, and nothing of the board's token in it."""
    hub.repos["datasets/team/run"] = GOOD
    hub.faults.append(Fault("/api/datasets/team/run", status, times=20))
    with pytest.raises(UserError, match=words) as error:
        fetch("team/run", "dataset", LIMITS, endpoint=hub.endpoint)
    assert "hf_of_the_board" not in str(error.value)
