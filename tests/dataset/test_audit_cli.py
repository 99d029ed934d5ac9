"""The commands `pools` and `audit`, from a built dataset to files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from musicrs_dataset.cli import app, main
from musicrs_dataset.mini import load_mini
from musicrs_dataset.pools import read_pools
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import About


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("dataset")
    build(load_mini(clips=False), out, about=About("mini", "cc0-1.0", "invented", toy=True), configs=["query_only"])
    return str(out)


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


def test_pools_are_written_with_their_manifest_and_can_be_audited(dataset: str, tmp_path: Path) -> None:
    file = tmp_path / "pools.jsonl"
    made = run("pools", dataset, "--design", "balanced", "--seed", 3, "--distractors", 6, "--out", file)
    assert "28 pools of" in made.stderr
    assert len(read_pools(file)) == 28
    manifest = json.loads((tmp_path / "pools.manifest.json").read_text(encoding="utf-8"))
    assert (manifest["design"], manifest["seed"]) == ("balanced", 3)
    found = json.loads(run("audit", dataset, "--pools", file, "--seeds", 2, "--json").stdout)
    assert found["fingerprint"] == manifest["fingerprint"]
    assert found["pools"] == str(file)
    assert all(low == high for low, high in (entry["count"] for entry in found["evenness"]))


def test_fresh_pools_take_a_corpus(dataset: str, tmp_path: Path) -> None:
    corpus, file = tmp_path / "corpus.jsonl", tmp_path / "fresh.jsonl"
    subreddits = {row.subreddit for row in load_mini(clips=False)}
    rows = [{"subreddit": name, "entity": f"{name} {i}"} for name in subreddits for i in range(40)]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run("pools", dataset, "--design", "fresh", "--corpus", corpus, "--distractors", 5, "--out", file)
    drawn = [name for pool in read_pools(file).values() for name in pool if name.split()[0] in subreddits]
    assert len(drawn) == len(set(drawn)) == 28 * 5


def test_the_audit_prints_tables_and_writes_three_files(dataset: str, tmp_path: Path) -> None:
    shown = run("audit", dataset, "--seeds", 2, "--out", tmp_path / "report")
    assert "Routes that leak" in shown.stdout or "No route leaks" in shown.stdout
    assert sorted(file.name for file in (tmp_path / "report").iterdir()) == ["audit.html", "audit.json", "audit.md"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["pools", "{dataset}", "--design", "fresh", "--out", "x.jsonl"], "the design fresh needs --corpus FILE"),
        (["pools", "{dataset}", "--corpus", "c.jsonl", "--out", "x.jsonl"], "--corpus is for the design fresh only"),
        (["pools", "./nowhere", "--out", "x.jsonl"], "nowhere: no such directory"),
        (["audit", "{dataset}", "--config", "query_only_balanced"], "no configuration 'query_only_balanced'"),
        (["audit", "{dataset}", "--pools", "nowhere.jsonl"], "nowhere.jsonl: cannot be read"),
    ],
)
def test_a_mistake_ends_in_one_line_and_exit_code_2(
    dataset: str,
    arguments: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["musicrs-dataset", *(word.format(dataset=dataset) for word in arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
