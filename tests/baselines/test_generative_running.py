"""Runs of audio language models: memory that runs out, several processes, kills, and the output before and after."""

from __future__ import annotations

import json
import shutil
import time
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from baselines.cli import app
from baselines.data import PoolOrder, load_data
from baselines.generative.language_model import Completion, Prompt
from baselines.generative.memory import Memory, is_out_of_memory
from baselines.run.answer_log import AnswerLogWriter, finish_answer_log, sum_ledgers
from baselines.run.processes import Processes
from baselines.run.reporter import Reporter
from baselines.run.runner import Plan
from baselines.run.shuffles import reorder_pools, run_shuffles
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from musicrs_metric.runs.predictions import read_predictions
from musicrs_metric.runs.run_card import read_run_card
from tests.baselines import forked
from tests.baselines.family_checks import family_data, make_system
from tests.baselines.test_generative_protocols import EARS, Asker, Scripted
from tests.baselines.test_launch import n_on_disk
from tests.baselines.tiny_lm import save_qwen2_audio
from tests.baselines.tiny_towers import few_threads
from tests.baselines.toys import run_toy, toy_data

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("soundfile")

NAME = "qwen2_audio"
SHORT = ("--modality", "audio_query", "--answer-tokens", "24")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_qwen2_audio(tmp_path_factory.mktemp(NAME))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four threads with two clips each."""
    out = tmp_path_factory.mktemp("data")
    build(few_threads(), out, about=resolve_source("mini", clips=False).about, configs=("audio_query",))
    return out


@pytest.fixture(scope="module")
def straight(
    folder: Path, dataset: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of an undisturbed run in this process."""
    out = tmp_path_factory.mktemp("straight") / "run"
    system = make_system(NAME, "audio_query", "--weights", folder, *SHORT[2:])
    run_toy(system, load_data(str(dataset), "audio_query"), out, system_name=NAME)
    return out


class Cramped(Scripted):
    """Has memory for so many prompts at once, and for none at all of one thread."""

    def __init__(self, most: int, never: str = "no such thread") -> None:
        super().__init__("[2]")
        self.most, self.never, self.batches = most, never, list[int]()

    def complete(self, prompts: Sequence[Prompt], budget: int) -> list[Completion]:
        self.batches.append(len(prompts))
        if len(prompts) > self.most or any(self.never in prompt.text for prompt in prompts):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return super().complete(prompts, budget)


@pytest.mark.figures
def test_where_memory_runs_out_the_batch_is_halved_for_good(tmp_path: Path) -> None:
    """Seven threads, six at once, memory for two: six and three are tried once, and every thread is answered."""
    language_model = Cramped(2)
    result = run_toy(Asker(language_model, "listwise"), toy_data(7), tmp_path / "run", batch_size=6)
    assert language_model.batches == [6, 3, 1, 1, 1, 1, 1, 1, 1]
    assert [p.ranking[0] for p in result.predictions] == [f"B{i}" for i in range(7)]
    assert {p.outcome for p in result.predictions} == {"repaired"}


def test_a_thread_that_does_not_fit_alone_fails_alone(tmp_path: Path) -> None:
    """Its outcome is failed, the log says why, and the others are answered."""
    language_model = Cramped(3, never="query of t4")
    result = run_toy(Asker(language_model, "listwise"), toy_data(7), tmp_path / "run", batch_size=3)
    assert [p.outcome for p in result.predictions] == ["repaired"] * 4 + ["failed"] + ["repaired"] * 2
    assert "CUDA out of memory" in (tmp_path / "run/failures.log").read_text()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (torch.OutOfMemoryError("CUDA out of memory."), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: not enough memory: you tried"), True),
        (RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("MPS backend out of memory (MPS allocated: 17 GB)"), True),
        (MemoryError(), True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        (ValueError("not enough memory"), False),
    ],
)
def test_what_counts_as_out_of_memory(error: Exception, expected: bool) -> None:
    """As a GPU, a CPU and Python say it."""
    assert is_out_of_memory(error) == expected


def test_what_this_machine_says_where_memory_runs_out() -> None:
    """The words differ between systems."""
    with pytest.raises(RuntimeError) as caught:
        torch.empty(10**17)
    assert is_out_of_memory(caught.value)


def test_memory_by_hand() -> None:
    """Qwen2-Audio's 8,192 tokens of 512 KiB are 4 GiB of cache; two rows, or four bytes a number, take twice that."""
    limits = replace(EARS, weights_gib=15.6, cache_kib_per_token=512)
    assert Memory.of(limits, 8192).cache == 4.0
    assert Memory.of(limits, 8192, rows=2, width=4).cache == 16.0
    assert Memory.of(limits, 8192, width=4).weights == 31.2
    assert Memory.of(replace(limits, float32_gib=2.0), 8192, width=4).weights == 33.2
    assert Memory.of(limits, 8192, rows=2).total == pytest.approx(15.6 + 8 + 1)
    assert Memory.of(limits, 0, scored=512).candidates == pytest.approx(0.76, abs=0.01)


def test_the_longest_threads_come_first(tmp_path: Path) -> None:
    """Whatever does not fit shows at once, and like is asked with like; the file is in dataset order all the same.

    What exceeds the context comes last: it fails whatever the memory.
    """
    language_model = Scripted("[1]")
    data = toy_data(6)
    words = {1: 300, 2: 2000, 3: 600, 4: 10}
    threads = [replace(one, query="word " * words.get(i, 1)) for i, one in enumerate(data.threads)]
    result = run_toy(Asker(language_model, "listwise"), data._replace(threads=threads), tmp_path / "run")
    *lengths, last = [len(prompt.text) for prompt, _ in language_model.asked]
    assert lengths == sorted(lengths, reverse=True)
    assert last > language_model.limits.context
    assert [p.thread_id for p in result.predictions] == [f"t{i}" for i in range(6)]


def test_a_clip_that_cannot_be_decoded_costs_its_own_thread_alone(folder: Path, tmp_path: Path) -> None:
    """In a batch of four it fails, and the others are scored to the last bit as in batches of one."""
    runs = []
    for size in (1, 4):
        system = make_system(NAME, "audio_query", "--weights", folder, "--protocol", "pointwise")
        runs.append(run_toy(system, family_data("audio_query"), tmp_path / f"{size}", batch_size=size).predictions)
    assert runs[0] == runs[1]
    assert [p.outcome for p in runs[1]] == ["ok", "ok", "no_audio", "failed"]


def test_a_thread_of_too_many_words_fails_alone(folder: Path, tmp_path: Path) -> None:
    """Its query exceeds the context; the others are ranked, and nothing is cut to make it fit."""
    data = family_data("query_only")
    threads = [replace(one, query="dreamy " * 9000) if one.thread_id == "t1" else one for one in data.threads]
    system = make_system(NAME, "query_only", "--weights", folder, "--protocol", "pointwise")
    result = run_toy(system, data._replace(threads=threads), tmp_path / "run")
    assert [p.outcome for p in result.predictions] == ["ok", "failed", "ok", "ok"]
    assert "of the model's context" in (tmp_path / "run/failures.log").read_text()


@pytest.mark.figures
def test_a_killed_run_taken_up_by_two_processes_is_that_of_one(
    straight: Path, folder: Path, dataset: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """kill -9 once a thread is on disk, then two processes: the same bytes, of rankings and of answers."""
    out, log = tmp_path / "run", tmp_path / "log"
    line = ["run", "--model", NAME, "-d", str(dataset), "--weights", str(folder), *SHORT, "--out", str(out)]
    (process,) = forked.start(line, environment, log)
    deadline = time.monotonic() + 120
    while n_on_disk(out) < 2:  # an answer and a prediction
        assert process.is_alive(), "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.join()
    forked.finish(forked.start(line, environment, log, world=2), log)
    assert read_run_card(out).extra["processes"] == 2
    for file in ("predictions.jsonl", "answers.jsonl", "audio.jsonl"):
        assert (out / file).read_bytes() == (straight / file).read_bytes()
    assert read_run_card(out).extra["ledger"] == read_run_card(straight).extra["ledger"]
    assert not (out / "parts").exists()


def test_the_card_tells_plan_prompt_and_account(straight: Path) -> None:
    """The audio used, the prompt, and the sums of the readings."""
    card = read_run_card(straight)
    assert card.clip_plan is not None
    assert "shared evenly by its clips" in card.clip_plan
    assert len(card.prompt_hash or "") == 64
    assert card.protocol == "listwise"
    predictions = read_predictions(straight / "predictions.jsonl").predictions
    pools = [len(one.candidates) for one in few_threads()]
    assert card.extra["ledger"]["named"] == sum(p.n_answered or 0 for p in predictions)
    assert card.extra["ledger"]["named"] + card.extra["ledger"]["filled"] == sum(pools)


def test_a_dry_run_loads_and_writes_nothing(folder: Path, dataset: Path, tmp_path: Path) -> None:
    """Plan, prompt and memory, from a checkpoint whose weights cannot be read."""
    copy = shutil.copytree(folder, tmp_path / "checkpoint")
    (copy / "model.safetensors").write_bytes(b"no weights")
    out = tmp_path / "run"
    line = ["run", "--model", NAME, "-d", dataset, "--weights", copy, *SHORT, "--dry-run", "--out", out]
    done = CliRunner().invoke(app, list(map(str, line)))
    assert done.exit_code == 0, done.output
    first = few_threads()[0]
    assert first.query is not None
    assert all(text in done.output for text in (first.query, *first.candidates))
    assert "memory, estimated for float32: " in done.output
    assert "clips: up to 300 s of a thread (the most that fits every thread)" in done.output
    assert not out.exists()


def test_orders_of_the_pool_are_fitted_alike(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every order uses the same audio, and shows its own order to the model."""
    data = load_data(str(dataset), "audio_query")
    plans, prompts = set(), set()
    for number in (1, 2, 3):
        threads = reorder_pools(data, PoolOrder(number, 3), seed=0).threads
        language_model = Scripted("[1]")
        language_model.limits = replace(EARS, context=2500)
        # As with real tokenizers, which merge across words, an order may take more tokens than another.
        monkeypatch.setattr(language_model, "n_tokens", lambda text: len(zlib.compress(text.encode())))
        system = Asker(language_model, "listwise", "audio_query")
        system.inspect_threads(threads)
        plans.add(system.run_facts().clip_plan)
        prompts.add(system.describe_run(threads[0], 1)[-1])
    assert len(plans) == 1
    assert len(prompts) == 3


def test_the_ledgers_of_several_orders_are_added_up(tmp_path: Path) -> None:
    """Three threads in two orders, one title of five read in each."""
    plan = Plan(system=Asker(Scripted("[2]"), "listwise"), system_name="asker", data=toy_data(3), out=tmp_path / "run")
    finished = run_shuffles(plan, 2, Processes(), Reporter())
    assert finished is not None
    ledger = finished.card.extra["ledger"]
    assert (ledger["named"], ledger["filled"], ledger["repeated"]) == (6, 24, 0)


def test_what_a_kill_left_of_the_notes_is_put_right(tmp_path: Path) -> None:
    """A note whose prediction was not written yet, and one that was cut: no later note is lost, none is of before."""
    out, data = tmp_path / "run", toy_data(4)
    run_toy(Asker(Scripted("[2]"), "listwise"), data, out, limit=2)
    (out / "parts").mkdir()
    shutil.copy(out / "run.json", out / "parts")  # the next session was killed
    stale = '{"thread_id": "t2", "answer": "of before", "ledger": {"named": 99}}\n{"thread_id": "t3", "ans'
    (out / "parts/answers0.jsonl").write_text(stale)
    run_toy(Asker(Cramped(1, never="query of t2"), "listwise"), data, out, limit=3)
    result = run_toy(Asker(Scripted("[2]"), "listwise"), data, out)
    records = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    assert [record["thread_id"] for record in records] == ["t0", "t1", "t3"]
    assert result.card.outcomes == {"failed": 1, "repaired": 3}
    assert result.card.extra["ledger"]["named"] == 3


def test_notes_survive_a_line_that_was_cut(tmp_path: Path) -> None:
    """Of two records of one thread the later counts. A torn line and an unwanted thread are skipped."""
    parts = tmp_path / "parts"
    parts.mkdir()
    (tmp_path / "answers.jsonl").write_text('{"thread_id": "a", "ledger": {"named": 1}}\n')
    AnswerLogWriter(parts, 0).append(
        [{"thread_id": "b", "ledger": {"named": 2}}, {"thread_id": "x", "ledger": {"named": 9}}]
    )
    AnswerLogWriter(parts, 0).append([{"thread_id": "b", "ledger": {"named": 5}}])
    with (parts / "answers0.jsonl").open("a") as file:
        file.write('{"thread_id": "a", "led')
    records = finish_answer_log(tmp_path, parts, ["b", "a", "c"])
    assert sum_ledgers(record.get("ledger") for record in records) == {"named": 6}
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert [(line["thread_id"], line["ledger"]["named"]) for line in lines] == [("b", 5), ("a", 1)]
    assert list(parts.iterdir()) == []
