"""The path of a researcher: two communities that the paper does not have, a new genre, servers that fail, one file."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from builder_scripts.cli import app
from builder_scripts.layout import Work
from builder_scripts.pools.options import PoolsOptions
from builder_scripts.pools.run import run as draw
from builder_scripts.refine.schema import read_corpus, write_corpus
from musicrs_dataset.cli import app as dataset_app
from musicrs_dataset.pools import Design
from musicrs_dataset.validate import validate
from musicrs_metric.cli import app as metric_app

from .llm_stub import Reply, stub_server
from .small_world import NEW_SUBREDDITS, OUTSIDE, THREADS, answer, write_dumps
from .test_llm_failures import FAULTS

ALL = len(NEW_SUBREDDITS) * (THREADS + OUTSIDE)


def started(folder: Path, url: str, **more: Any) -> tuple[int, str]:
    """Run `all` with the settings that docs/building.md shows, as far as they have no default."""
    settings: dict[str, Any] = {
        "work": "work", "home": "hf",
        "mine": {"dumps": ["../dumps"], "subreddits": ["Country", "r/folk"], "workers": 1},
        "extract": {"model": "m", "url": url, "retries": 0}, "queries": {"model": "m", "url": url, "retries": 0},
        "refine": {"genres": {"country": "Country", "folk": "Folk"}, "macro_genres": {"Country": "MM"}},
        "audio": {"fetch": False}, "annotate": {"skip": True}, "release": {"name": "country-and-folk"},
    }  # fmt: skip
    (folder / "run.yaml").write_text(yaml.safe_dump(settings | more), encoding="utf-8")
    done = CliRunner().invoke(app, ["all", "--config", str(folder / "run.yaml")])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return 2, f"{done.output}\n{done.exception}"
    return done.exit_code, done.output


def data(folder: Path) -> dict[str, bytes]:
    """The files of a release that hold its data, not the times of its making."""
    release = folder / "work" / "release" / "country-and-folk"
    return {
        str(path.relative_to(release)): path.read_bytes()
        for path in release.rglob("*")
        if path.suffix == ".parquet" or path.name in ("merges.csv", "authors.jsonl", "takedown.txt")
    }


@pytest.mark.figures
def test_from_dumps_to_a_score_with_a_new_genre(tmp_path: Path) -> None:
    """Servers fail at extract and at queries, others take their place; the release is that of an undisturbed run."""
    write_dumps(tmp_path / "dumps", NEW_SUBREDDITS)
    ill, well = tmp_path / "ill", tmp_path / "well"
    ill.mkdir()
    rng = random.Random(1)

    def unwell(prompt: str, before: int) -> Reply:
        return rng.choice(list(FAULTS.values()))[0] if rng.random() < 0.5 else answer(prompt, before)

    def refuses_requests(prompt: str, before: int) -> Reply:
        return FAULTS["null"][0] if "Put its request into words" in prompt else answer(prompt, before)

    with stub_server(unwell) as stub:
        code, told = started(ill, stub.url)
        assert code in (1, 2), told
        assert "queries:" not in told
    shutil.copytree(ill, well, ignore=shutil.ignore_patterns("cache"))
    with stub_server(refuses_requests) as stub:
        code, told = started(ill, stub.url)
        assert (code, "queries: none of the first 20 answers of m can be used: empty" in told) == (1, True), told
        assert "refine:" not in told
    for folder in (ill, well):
        with stub_server(answer) as stub:
            code, told = started(folder, stub.url)
            assert code == 0, told
            assert len(stub.bodies) == (ALL if folder is ill else 6 * ALL)
    assert data(ill) == data(well)
    assert any(name.startswith("query_only_balanced/") for name in data(ill))
    assert not any("fresh" in name for name in data(ill))
    assert "fresh: skipped, r/country: the corpus has 0 titles" in told.replace("\n", " ")
    # The server is gone, and nothing is left to do.
    assert started(ill, stub.url)[1].endswith("nothing to do: all of it was there\n")

    release = ill / "work" / "release" / "country-and-folk"
    assert validate(release).is_valid
    answers = [json.loads(line) for line in (release / "making" / "answers.jsonl").read_text().splitlines()]
    assert "no answer" not in {row.get("failure") for row in answers}
    score = json.loads((ill / "work" / "baseline" / "score.json").read_text())
    assert score["n"] == ALL
    card, sheet = (release / "README.md").read_text(), (release / "datasheet.md").read_text()
    assert "| Country | MM | 14 | 50.0 % |" in card
    assert "| Folk | other | 14 | 50.0 % |" in card
    assert "| Folk | 14 | 50.0 % |" in sheet
    run_folder = next(path for path in (ill / "work" / "baseline").iterdir() if path.is_dir())
    scored = ["score", "-p", str(run_folder), "-d", str(release), "--json"]
    for by, groups in (("genre", ["Country", "Folk"]), ("macro", ["MM", "other"])):
        done = CliRunner().invoke(metric_app, [*scored, "--by", by])
        assert list(json.loads(done.stdout)[f"by_{by}"]) == groups
    report = CliRunner().invoke(metric_app, ["report", str(run_folder), "-d", str(release), "-o", str(tmp_path / "r")])
    assert report.exit_code == 0, report.output
    assert "| Country | mainstream (MM) | 14 |" in (tmp_path / "r" / "report.md").read_text()
    assert CliRunner().invoke(dataset_app, ["audit", str(release), "--seeds", "2"]).exit_code == 0


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_default_designs_always_succeed(tmp_path: Path, n_threads: int) -> None:
    """Even one thread of one subreddit has pools; what cannot be drawn is left out with a note."""
    work = Work(tmp_path / "work")
    write_dumps(tmp_path / "dumps", ("country",))
    with stub_server(answer) as stub:
        for command in (
            ["mine", str(tmp_path / "dumps"), "--subreddit", "country", "--workers", "1"], ["threads"],
            *([stage, "--model", "m", "--url", stub.url] for stage in ("extract", "queries")),
            ["refine", "--genre", "country=Country"],
        ):  # fmt: skip
            done = CliRunner().invoke(app, [*command, "--work", str(work.root)])
            assert done.exception is None, done.output
    write_corpus(work.corpus, read_corpus(work.corpus)[:n_threads])
    manifest, _ = draw(work, PoolsOptions(), unjudged=True)
    assert manifest.counts["threads"].kept == n_threads
    assert {path.stem for path in work.pools.glob("*.jsonl")} >= {Design.PAPER, Design.BALANCED}
