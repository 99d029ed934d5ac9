"""The one runner: it distributes threads over processes, keeps finished predictions, and writes one run folder."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import Prediction
from musicrs_metric.runs.run_card import RunCard

from ..data import Data
from ..system import System
from .answer_log import AnswerLogWriter, AnswerRecord, finish_answer_log, read_records, sum_ledgers
from .card import carry_changes, complete_card, draft_card, passing_settings, record_changes
from .folder import RunFolder
from .guard import FAILURES, SafeRanker, attribute_errors
from .missing_audio import AudioCoverage, check_clips
from .processes import Processes
from .reporter import Reporter
from .shards import ShardWriter, in_dataset_order, positions_of
from .thread_access import ThreadAccess
from .usage import Prices, usage_facts


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The system, data and folder of a run.

    Attributes:
        system: The system. Its weights are not loaded yet.
        system_name: Name of the system on the command line.
        data: The whole dataset, labels included. `ThreadAccess` decides what the system gets of it.
        out: The run folder.
        name: Name of the run in tables; None for the name of the system.
        limit: Rank only the first threads, this many; None for all. A later run without it ranks the rest.
        batch_size: Threads per batch; None for the number that the system declares.
        retry_failed: Whether to rank threads again on which an earlier session failed.
    """

    system: System
    system_name: str
    data: Data
    out: Path
    name: str | None = None
    limit: int | None = None
    batch_size: int | None = None
    retry_failed: bool = False

    def wanted(self, finished: Mapping[str, Prediction]) -> list[str]:
        """Return the thread ids of the result: those up to the limit, and all finished ones."""
        ids = self.data.references.thread_ids
        limit = len(ids) if self.limit is None else self.limit
        return [thread_id for index, thread_id in enumerate(ids) if index < limit or thread_id in finished]


@dataclass(frozen=True)
class RunResult:
    """A finished run.

    Attributes:
        predictions: One per thread, in dataset order.
        card: The run card.
        reused: Number of threads that an earlier session had ranked.
    """

    predictions: list[Prediction]
    card: RunCard
    reused: int


def run(plan: Plan, processes: Processes, reporter: Reporter) -> RunResult | None:
    """Run a system on a dataset, or resume such a run.

    Args:
        plan: The run.
        processes: The processes that share the run. Each of them makes this call.
        reporter: Shows progress to the user.

    Returns:
        The result in the main process, None in the others.

    Raises:
        UserError: The folder holds another run, was changed by hand, or is in use, the system is broken, the dataset is
            empty, or a thread without clips must have some.
    """
    if not plan.data.threads:
        raise UserError(f"{plan.data.references.name}: holds no threads, expected at least one")
    check_clips(plan.data.threads, plan.system.context.missing_audio)
    inspect_threads(plan)
    position = plan.data.references.position
    folder = RunFolder(plan.out, draft_card(plan.system, plan.system_name, plan.data, plan.name), position)
    stored, set_aside = folder.read_finished()
    finished = _reusable(plan, folder, stored)
    wanted = plan.wanted(stored)
    if folder.is_complete and finished.keys() == set(wanted):
        if not processes.is_main:
            return None
        return RunResult(in_dataset_order(wanted, finished), folder.read_card(), len(finished))

    if set_aside and processes.is_main:
        reporter.say(set_aside)
    if folder.earlier is not None:
        folder.card = carry_changes(folder.card, folder.earlier)
        _record(folder, processes, reporter, passing_settings(folder.earlier), passing_settings(folder.card))
    started = time.monotonic()
    processes.wait()  # every process has read the folder before one of them changes it
    with folder.held(finished) if processes.is_main else nullcontext():
        processes.wait()
        left = [position[thread_id] for thread_id in wanted if thread_id not in finished]
        left.sort(key=lambda index: plan.system.cost(plan.data.threads[index]), reverse=True)
        has_answered = any(prediction.outcome != "failed" for prediction in finished.values())
        positions = positions_of(left, processes.rank, processes.world)
        try:
            close_error = _rank(plan, folder, positions, processes, reporter, has_answered)
        except UserError:
            if processes.world == 1:  # the answers before the stop may show its reason
                finish_answer_log(plan.out, folder.parts, list(position))
            raise
        processes.wait()
        if not processes.is_main:
            return None
        seconds = None if finished else round(time.monotonic() - started, 3)
        result = _finish(plan, folder, processes, wanted, len(finished), seconds)
        if close_error is not None:
            raise UserError(f"{close_error}; the run is finished, and the same command shows its scores")
        return result


def inspect_threads(plan: Plan) -> None:
    """Let the system inspect the whole dataset, before its card is drafted.

    Raises:
        UserError: The user must act, or the code of the system raised an error.
    """
    with attribute_errors(plan.system.declaration.name, "inspect_threads"):
        plan.system.inspect_threads([thread.without_labels() for thread in plan.data.threads])


def _reusable(plan: Plan, folder: RunFolder, stored: dict[str, Prediction]) -> dict[str, Prediction]:
    """Select the predictions to keep: not those of failed threads that must be ranked again."""
    if plan.retry_failed:
        return {thread_id: p for thread_id, p in stored.items() if p.outcome != "failed"}
    if plan.system.failures_are_temporary:  # an unreadable answer stays; a failed request is sent again
        answered = read_records(plan.out, folder.parts)
        return {thread_id: p for thread_id, p in stored.items() if p.outcome != "failed" or thread_id in answered}
    return stored


def _finish(
    plan: Plan, folder: RunFolder, processes: Processes, wanted: list[str], reused: int, seconds: float | None
) -> RunResult:
    """Merge the files of all processes, complete the card, and write the result."""
    predictions = in_dataset_order(wanted, folder.read_shards())
    failed = {prediction.thread_id for prediction in predictions if prediction.outcome == "failed"}
    if len(failed) == len(predictions) and not read_records(plan.out, folder.parts):  # not just unreadable answers
        raise UserError(
            f"{folder.card.name} failed on every thread; tracebacks are in {plan.out / FAILURES}, and "
            "--retry-failed tries again"
        )
    records = finish_answer_log(plan.out, folder.parts, wanted)
    # A thread with an unreadable answer has failed, too, but its clips were used.
    audio = _audio_coverage(plan, predictions, failed - {record["thread_id"] for record in records})
    card = complete_card(folder.card, predictions, processes, seconds, None if audio is None else audio.coverage())
    card = replace(card, extra=card.extra | _answer_facts(records, card.settings))
    folder.end(predictions, card, audio)
    return RunResult(predictions, card, reused)


def _audio_coverage(plan: Plan, predictions: Sequence[Prediction], unused: set[str]) -> AudioCoverage | None:
    if plan.system.context.missing_audio is None:
        return None
    position = plan.data.references.position
    ranked = (plan.data.threads[position[prediction.thread_id]] for prediction in predictions)
    with attribute_errors(plan.system.declaration.name, "audio_used", plan.out / FAILURES):
        return AudioCoverage(plan.system, ranked, unused)


def _answer_facts(records: Sequence[AnswerRecord], settings: Mapping[str, Any]) -> dict[str, Any]:
    if not records:
        return {}
    ledger = sum_ledgers(record.get("ledger") for record in records)
    return ({"ledger": ledger} if ledger else {}) | usage_facts(records, Prices.of(settings))


def _rank(
    plan: Plan,
    folder: RunFolder,
    positions: Sequence[int],
    processes: Processes,
    reporter: Reporter,
    has_answered: bool,
) -> UserError | None:
    """Rank the share of one process, batch by batch. Return the error of `close`, if it raised one."""
    system = plan.system
    size = plan.batch_size or system.declaration.batch_size
    access = ThreadAccess(plan.data.threads, system.reads, plan.data.clips if system.uses_audio else None)
    ranker = SafeRanker(system, plan.out / FAILURES, reporter.say, has_answered=has_answered)
    process = f" (process {processes.rank + 1} of {processes.world})" if processes.world > 1 else ""
    try:
        with ShardWriter(folder.parts, processes.rank, folder.config) as shard:
            with processes.main_first(), attribute_errors(system.declaration.name, "prepare", plan.out / FAILURES):
                system.prepare(access.for_prepare())
            if processes.is_main:
                with attribute_errors(system.declaration.name, "findings", plan.out / FAILURES):
                    _record_findings(plan, folder, processes, reporter)
            answers = AnswerLogWriter(folder.parts, processes.rank)
            with reporter.progress(folder.card.name + process, len(positions)) as advance:
                for start in range(0, len(positions), size):
                    batch = [access.task(position) for position in positions[start : start + size]]
                    try:
                        predictions = ranker.rank(batch)
                    finally:  # keep the answers even if the run stops here
                        answers.append(system.take_answer_records())
                    shard.append(predictions)
                    for line in system.warnings():
                        reporter.say(line)
                    advance(len(batch), system.throughput())
    finally:
        close_error = _close(plan)
    if close_error is not None and not processes.is_main:
        reporter.say(str(close_error))  # an exception here would end the other processes
    return close_error


def _record_findings(plan: Plan, folder: RunFolder, processes: Processes, reporter: Reporter) -> None:
    """Add the findings of `prepare` to the card, and report differences from an earlier session."""
    findings = plan.system.findings()
    if findings:
        before = {} if folder.earlier is None else folder.earlier.extra
        _record(folder, processes, reporter, before, findings)
        folder.update(replace(folder.card, extra=folder.card.extra | findings))


def _record(
    folder: RunFolder, processes: Processes, reporter: Reporter, before: Mapping[str, Any], now: Mapping[str, Any]
) -> None:
    folder.card, lines = record_changes(folder.card, before, now)
    for line in lines if processes.is_main else ():
        reporter.say(line)


def _close(plan: Plan) -> UserError | None:
    """Close the system. An error must not hide the reason of a stop, nor lose predictions, so it is returned."""
    try:
        with attribute_errors(plan.system.declaration.name, "close", plan.out / FAILURES):
            plan.system.close()
    except UserError as error:
        return error
    return None
