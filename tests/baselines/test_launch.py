"""Runs in processes of their own, as users start them: several at once, killed, taken up again."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from musicrs_metric.runs.predictions import read_predictions
from musicrs_metric.runs.run_card import read_run_card
from tests.baselines.toys import ROOT

SLOW = "tests.baselines.toys:Toy"
# Without --multi_gpu accelerate starts one process where there is no GPU; with it, as many as asked for, on CPUs too.
ACCELERATE = [
    sys.executable, "-m", "accelerate.commands.launch", "--main_process_port", "0", "--multi_gpu", "--num_processes",
]  # fmt: skip
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node"]

pytest.importorskip("accelerate")


def command(
    out: Path, dataset: Path, model: str, *options: str, kind: list[str] = TORCHRUN, world: int = 1
) -> list[str]:
    """A run in that many processes, with an empty cache of its own."""
    start = [*kind, str(world)] if world > 1 else [sys.executable]
    where = ["--dataset", str(dataset), "--out", str(out), "--cache", str(out.parent / f"cache of {out.name}")]
    return [*start, "-m", "baselines", "run", "--model", model, *where, *options]


@contextmanager
def started(line: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A program that is killed with all the processes it started, whatever happens in the test."""
    with subprocess.Popen(
        line, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            with suppress(psutil.NoSuchProcess):  # launchers give each worker a process group of its own
                own = psutil.Process(process.pid)
                for each in [own, *own.children(recursive=True)]:
                    with suppress(psutil.NoSuchProcess):
                        each.kill()


def finish(line: list[str], environment: dict[str, str], code: int = 0) -> str:
    """Run a program to its end and return what it wrote to standard error."""
    with started(line, environment) as process:
        _, errors = process.communicate(timeout=180)
    assert process.returncode == code, errors
    return errors


def kill_in_the_middle(line: list[str], out: Path, environment: dict[str, str], lines: int) -> None:
    """Start a run, and kill all its processes once that many threads are on disk."""
    with started(line, environment) as process:
        deadline = time.monotonic() + 120
        while n_on_disk(out) < lines:
            assert process.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.01)


def n_on_disk(out: Path) -> int:
    return sum(file.read_bytes().count(b"\n") for file in out.glob("parts/*.jsonl"))


@pytest.fixture(scope="module")
def straight(mini: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The output of one undisturbed process."""
    out = tmp_path_factory.mktemp("straight") / "run"
    finish(command(out, mini, SLOW), environment)
    assert read_run_card(out).extra["processes"] == 1
    return (out / "predictions.jsonl").read_bytes()


@pytest.mark.figures
@pytest.mark.parametrize(("kind", "world"), [(TORCHRUN, 2), (ACCELERATE, 3)], ids=["torchrun-2", "accelerate-3"])
def test_several_processes_write_what_one_writes(
    kind: list[str], world: int, straight: bytes, mini: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """28 threads over 2 and 3 processes, batches of 3: the same bytes, and the processes were really that many."""
    finish(command(tmp_path / "run", mini, SLOW, kind=kind, world=world), environment)
    assert read_run_card(tmp_path / "run").extra["processes"] == world
    assert (tmp_path / "run/predictions.jsonl").read_bytes() == straight


@pytest.mark.figures
def test_embeddings_in_two_processes_rank_as_in_one(mini: Path, environment: dict[str, str], tmp_path: Path) -> None:
    """Another number of threads, other batches, an empty cache: rankings and scores agree to the last bit."""
    one, two = tmp_path / "one", tmp_path / "two"
    finish(command(one, mini, "minilm", "--limit", "9"), environment)
    finish(command(two, mini, "minilm", "--limit", "9", world=2), environment)
    assert read_run_card(two).extra["processes"] == 2
    assert (two / "predictions.jsonl").read_bytes() == (one / "predictions.jsonl").read_bytes()


@pytest.mark.figures
@pytest.mark.parametrize(("first", "then"), [(1, 1), (2, 1), (1, 3)])
def test_a_killed_run_goes_on(
    first: int, then: int, straight: bytes, mini: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """kill -9 in the middle and a line cut short; taken up by any number of processes, the file is the same."""
    out = tmp_path / "run"
    slow = command(out, mini, SLOW, "--delay", "0.1", "--batch-size", "1", world=first)
    kill_in_the_middle(slow, out, environment, lines=4)
    part = max(out.glob("parts/rank*.jsonl"), key=lambda file: file.stat().st_size)
    whole = part.read_bytes()
    part.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 40])  # the last line is cut
    kept = n_on_disk(out)
    assert kept >= 3
    finish(command(out, mini, SLOW, "--delay", "0.1", "--batch-size", "5", world=then), environment)
    assert (out / "predictions.jsonl").read_bytes() == straight
    assert read_run_card(out).extra["processes"] == then
    assert not (out / "parts").exists()


def test_a_killed_run_with_another_seed_is_refused(mini: Path, environment: dict[str, str], tmp_path: Path) -> None:
    """The identity is on disk from the start, not only at the end."""
    out = tmp_path / "run"
    slow = command(out, mini, SLOW, "--delay", "0.1", "--batch-size", "1")
    kill_in_the_middle(slow, out, environment, lines=1)
    errors = finish([*slow, "--seed", "5"], environment, code=2)
    assert errors.strip().endswith("seed was 0 and is now 5; name another folder, or remove this one")


@pytest.mark.figures
@pytest.mark.upstream
def test_477_threads_are_neither_padded_nor_dropped(
    upstream_file: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """477 is odd: with 2 processes and batches of 8, padding would give 480 rows, and recall .164924 for .165123."""
    from musicrs_dataset.repo.build import build
    from musicrs_dataset.sources import resolve_source
    from musicrs_metric.runs.read import score_predictions
    from musicrs_metric.runs.references import load_references

    threads, about = resolve_source(upstream_file)
    build(threads, tmp_path / "data", about=about, configs=("query_only",))
    out = tmp_path / "run"
    finish(command(out, tmp_path / "data", "popularity", "--batch-size", "8", world=2), environment)
    assert read_run_card(out).extra["processes"] == 2
    predictions = read_predictions(out / "predictions.jsonl").predictions
    assert [p.thread_id for p in predictions] == [t.thread_id for t in threads]
    scores = score_predictions(out, load_references(tmp_path / "data"), confidence=None).scores
    assert round(scores.values["recall@20"] or 0, 6) == 0.165123
    assert round(scores.values["mrr"] or 0, 6) == 0.177460
