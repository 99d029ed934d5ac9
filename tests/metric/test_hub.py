"""Results on the Hub: computed from the predictions, read back by the Hub's own parsers, asked for by pull request."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import EvalResultEntry, ModelCard, parse_eval_result_entries
from huggingface_hub.errors import LocalEntryNotFoundError

from musicrs_metric.base.hub_errors import missing_file_reason
from musicrs_metric.errors import UserError
from musicrs_metric.hub.benchmark import eval_yaml
from musicrs_metric.hub.pull import ModelFiles, results_path, updated
from musicrs_metric.hub.results import HubResult, hub_result
from musicrs_metric.runs.read import read_run
from musicrs_metric.runs.run_card import RunCard, write_run_card

from ..fakehub import ONLINE, READER, FakeHub
from .support import TINY, columns_of, references_of, write_lines, write_repo

REFERENCES = references_of(TINY)
CARD = RunCard(
    name="CLAP, centred",
    paradigm="retrieval",
    modality="query_only",
    dataset="musicrs",
    config="query_only",
    fingerprint=REFERENCES.fingerprint,
    reads="pools",
    created_at="2026-03-01T10:00:00Z",
)
Tool = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Of three threads one is answered rightly, one is not answered, and one has no right answer."""
    write_run_card(tmp_path / "run" / "run.json", CARD)
    rankings = {"t3_a": ["Bop", "Ade", "Cool", "Dig"], "t3_c": ["Elm", "Fir"]}
    lines = [{"thread_id": thread, "ranking": ranking} for thread, ranking in rankings.items()]
    write_lines(tmp_path / "run" / "predictions.jsonl", lines)
    return tmp_path / "run"


@pytest.fixture
def result(run: Path) -> HubResult:
    files = read_run(run, REFERENCES)
    return hub_result(files, REFERENCES, benchmark="org/musicrs", revision="a" * 40, source="https://board.example/x")


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with FakeHub() as hub:
        hub.repos["datasets/org/musicrs"] = {"README.md": b"data"}
        hub.repos["other/clap"] = {}
        yield hub


@pytest.fixture
def tool(hub: FakeHub, tmp_path: Path) -> Tool:
    """`musicrs_metric hub ...` in a process that takes the stand-in for the Hub."""

    def tool(*arguments: object, **changes: str) -> subprocess.CompletedProcess[str]:
        variables = {"HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": hub.endpoint, "HF_TOKEN": READER, **ONLINE}
        command = [sys.executable, "-m", "musicrs_metric", "hub", *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, **variables, **changes}
        )

    return tool


def test_why_a_file_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """That nothing is asked offline is told as it is; what the client says otherwise ends with a sentence or a word."""
    absent = LocalEntryNotFoundError("Cannot find it on the local disk. Please check your connection.")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    assert missing_file_reason(absent) == "Cannot find it on the local disk. Please check your connection."
    assert missing_file_reason(OSError("No such thing.\n\nWhat you asked for is " + "very " * 99)) == "No such thing"
    assert missing_file_reason(OSError("very " * 99)) == "very " * 39 + "very ..."
    assert missing_file_reason(OSError()) == "OSError"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert (
        missing_file_reason(absent) == "HF_HUB_OFFLINE is set, so the Hub is not contacted; unset it for this command"
    )
    assert missing_file_reason(OSError("No space left on device")) == "No space left on device"


def entries(text: str | bytes | None) -> list[EvalResultEntry]:
    assert text is not None
    return parse_eval_result_entries(yaml.safe_load(text))


def front_matter(card: str | None) -> dict[str, Any]:
    """The front matter of a model card, after its way through the card's own parser."""
    values: dict[str, Any] = yaml.safe_load(ModelCard(card or "").data.to_yaml())
    return values


def test_entry_is_what_the_hub_reads(result: HubResult) -> None:
    """One of three threads has all its right answers: 33.33 %; a random order finds them in two of three, 66.67 %."""
    files = updated(ModelFiles(), result, "org/clap")
    (entry,) = entries(files.results)
    assert (entry.dataset_id, entry.task_id, entry.dataset_revision) == ("org/musicrs", "query_only", "a" * 40)
    assert entry.value == 33.33
    assert entry.date == "2026-03-01T10:00:00Z"  # text, which YAML would read as a time if it were not in quotes
    assert entry.source_url == "https://board.example/x"
    assert entry.notes is not None
    for told in (
        "recall@20 in %",
        "no interval (3 threads, an interval needs at least 5)",
        "chance 66.67",
        "n = 3 threads, 1 of them with an empty ground truth, counted as 0, 1 without a prediction, counted as 0",
        "system CLAP, centred, reads pools",
        f"published pools, fingerprint {REFERENCES.fingerprint}",
    ):
        assert told in entry.notes


def test_model_index_has_every_measure(result: HubResult) -> None:
    """The model card's own parser finds the measures of the benchmark's tables under the dataset and configuration."""
    (model,) = front_matter(updated(ModelFiles(), result, "org/clap").card)["model-index"]
    results = model["results"]
    found = {one["type"]: one["value"] for result in results for one in result["metrics"]}
    assert list(found) == [f"{name}@{k}" for name in ("recall", "ndcg") for k in (1, 5, 10, 20)] + ["mrr"]
    # The right answer of the one thread stands first, so every measure of it is 1.
    assert set(found.values()) == {33.33}
    name = "MusiCRS (query_only)"
    expected = {"name": name, "type": "org/musicrs", "config": "query_only", "split": "test", "revision": "a" * 40}
    assert results[0]["dataset"] == expected
    assert model["name"] == "clap"


def test_what_stands_there_stays(result: HubResult) -> None:
    """Other benchmarks, other tasks, unknown keys and the card's text survive; the same task is replaced."""
    other = {"dataset": {"id": "org/musicrs", "task_id": "audio_only"}, "value": 1.0, "later": "a key of tomorrow"}
    old = {"dataset": {"id": "org/musicrs", "task_id": "query_only"}, "value": 99.0}
    card = updated(ModelFiles(card="---\nlicense: mit\nmodel-index: []\n---\n\n# Mine\n"), result, "org/clap").card
    assert card is not None
    once = updated(ModelFiles(yaml.safe_dump([other, old]), card), result, "org/clap")
    assert yaml.safe_load(once.results or "")[0] == other
    assert [entry.value for entry in entries(once.results)] == [1.0, 33.33]
    assert once.card == card  # the second time it is the same
    assert "# Mine" in card
    assert "license: mit" in card
    assert updated(once, result, "org/clap") == once


def test_variants_do_not_overwrite_each_other(run: Path, result: HubResult) -> None:
    """Another way to use a model has a results file of its own and lines of its own in the card."""
    files = read_run(run, REFERENCES)
    variant = hub_result(files, REFERENCES, benchmark="org/musicrs", variant="centred")
    assert results_path(result) == ".eval_results/musicrs.yaml"
    assert results_path(variant) == ".eval_results/musicrs-centred.yaml"
    card = updated(updated(ModelFiles(), result, "org/clap"), variant, "org/clap").card
    assert len(ModelCard(card or "").data["eval_results"]) == 18


def test_refusals(run: Path) -> None:
    """No card, other pools, no address and no word are each told."""
    files = read_run(run, REFERENCES)
    other = files._replace(card=RunCard(**{**CARD.__dict__, "config": "query_only_balanced"}))
    with pytest.raises(UserError, match="expected a task of the benchmark"):
        hub_result(other, REFERENCES, benchmark="org/musicrs")
    with pytest.raises(UserError, match=r"found no run\.json in the same folder"):
        hub_result(files._replace(card=None), REFERENCES, benchmark="org/musicrs")
    with pytest.raises(UserError, match="starts with https"):
        hub_result(files, REFERENCES, benchmark="org/musicrs", source="javascript:alert(1)")
    with pytest.raises(UserError, match="expected a short word"):
        hub_result(files, REFERENCES, benchmark="org/musicrs", variant="../../x")
    for there in ("value: 3", "[" * 5_000 + "]" * 5_000):
        with pytest.raises(UserError, match="no list of results"):
            updated(ModelFiles(results=there), hub_result(files, REFERENCES, benchmark="org/musicrs"), "org/clap")


def test_pull_request(hub: FakeHub, tool: Tool, run: Path, tmp_path: Path) -> None:
    """A stranger opens one pull request with both files; once merged, the same results are not asked for again."""
    data = write_repo(tmp_path / "data", columns_of(REFERENCES))
    arguments = ("results", run, "--model", "other/clap", "--dataset", data, "--benchmark", "org/musicrs")
    done = tool(*arguments)
    assert (done.returncode, done.stdout.strip()) == (0, f"{hub.endpoint}/other/clap/discussions/1"), done.stderr
    (commit,) = hub.commits
    assert (commit.pull, sorted(commit.added)) == (1, [".eval_results/musicrs.yaml", "README.md"])
    (entry,) = entries(commit.files[".eval_results/musicrs.yaml"])
    assert (entry.value, entry.dataset_revision) == (33.33, hub.commit_id("datasets/org/musicrs"))
    assert hub.repos["other/clap"] == {}
    hub.merge(1)
    again = tool(*arguments)
    assert (again.returncode, again.stdout.strip()) == (0, "other/clap: these results are there already")


def test_a_card_in_another_encoding(hub: FakeHub, tool: Tool, run: Path, tmp_path: Path) -> None:
    """Front matter behind a byte order mark stays front matter; a card that is no UTF-8 is refused in one line."""
    data = write_repo(tmp_path / "data", columns_of(REFERENCES))
    hub.repos["other/marked"] = {"README.md": b"\xef\xbb\xbf---\nlicense: mit\n---\n# Mine\n"}
    hub.repos["other/latin"] = {"README.md": "# Caf\u00e9\n".encode("latin-1")}
    told = {}
    for model in ("other/marked", "other/latin"):
        told[model] = tool("results", run, "--model", model, "--dataset", data, "--benchmark", "org/musicrs")
    (commit,) = hub.commits
    card = ModelCard(commit.files["README.md"].decode())
    assert (card.data["license"], card.text.strip()) == ("mit", "# Mine")
    assert told["other/latin"].returncode == 2
    assert told["other/latin"].stderr.strip() == "error: other/latin: README.md is not UTF-8 (byte 6); repair it first"


@pytest.mark.parametrize(
    ("changes", "model", "told"),
    [
        ({"HF_TOKEN": ""}, "other/clap", "log in with `hf auth login`"),
        ({"HF_ENDPOINT": "http://127.0.0.1:9"}, "other/clap", "the Hub cannot be reached"),
        ({}, "other/none", "not found on the Hub"),
        ({}, "clap", "--model is 'clap', expected owner/name"),
    ],
)
def test_one_line_for_each_mistake(
    tool: Tool, run: Path, tmp_path: Path, changes: dict[str, str], model: str, told: str
) -> None:
    """No token, no network, no model and no name end in one line and code 2."""
    data = write_repo(tmp_path / "data", columns_of(REFERENCES))
    done = tool("results", run, "--model", model, "--dataset", data, "--benchmark", "org/musicrs", **changes)
    assert done.returncode == 2, done.stdout
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_folder_is_no_id(tool: Tool, run: Path, tmp_path: Path) -> None:
    """A dataset on disk does not tell what it is called on the Hub, also where its path looks like an id."""
    data = write_repo(tmp_path / "data", columns_of(REFERENCES))
    for name in (str(data), "musicrs"):
        done = tool("results", run, "--model", "other/clap", "--dataset", name, "--dry-run")
        assert (done.returncode, done.stderr.count("--benchmark is missing")) == (2, 1)


def test_benchmark_file(hub: FakeHub, tool: Tool) -> None:
    """`eval.yaml` names the framework and a task per configuration, and says what Hugging Face must still allow."""
    written: dict[str, Any] = yaml.safe_load(eval_yaml())
    assert written["evaluation_framework"] == "musicrs"
    tasks = [{"id": name, "config": name, "split": "test"} for name in ("audio_query", "query_only", "audio_only")]
    assert written["tasks"] == tasks
    done = tool("benchmark", "--repo", "org/musicrs", "--dry-run", HF_TOKEN="")
    assert yaml.safe_load(done.stdout) == written
    assert "has to be added to it" in done.stderr
    assert tool("benchmark", "--repo", "org/musicrs").returncode == 2  # a reader may not commit
    done = tool("benchmark", "--repo", "org/musicrs", "--pull-request")
    assert done.stdout.strip().endswith("/datasets/org/musicrs/discussions/1"), done.stderr
    assert yaml.safe_load(hub.commits[0].files["eval.yaml"]) == written
