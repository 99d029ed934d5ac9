"""The one runner: deals the threads to the processes, keeps what is finished, and ends in one file per run."""

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
from .answer_log import AnswerLogWriter, answered_threads, finish_answer_log, read_answers, sum_ledgers
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
    """What to run and where.

    Attributes:
        system: The system; its weights are not loaded yet.
        system_name: What the user called it.
        data: The whole dataset, labels included; what the system sees of it is decided here.
        out: The run folder.
        name: What tables are to call the run; None for the system's own name.
        limit: Rank only that many threads, from the first; None for all. A later run without it finishes the rest.
        batch_size: Threads at once; None for what the system declares.
        retry_failed: Whether threads on which an earlier session failed are ranked again.
    """

    system: System
    system_name: str
    data: Data
    out: Path
    name: str | None = None
    limit: int | None = None
    batch_size: int | None = None
    retry_failed: bool = False

    def wanted(self, finished: dict[str, Prediction]) -> list[str]:
        """Thread ids that the result is to hold: up to the limit, and what is finished anyway."""
        ids = self.data.references.thread_ids
        limit = len(ids) if self.limit is None else self.limit
        return [thread_id for place, thread_id in enumerate(ids) if place < limit or thread_id in finished]


@dataclass(frozen=True)
class RunResult:
    """A finished run.

    Attributes:
        predictions: One per thread, in dataset order.
        card: The run card.
        reused: Threads that an earlier session had finished.
    """

    predictions: list[Prediction]
    card: RunCard
    reused: int


def run(plan: Plan, processes: Processes, reporter: Reporter) -> RunResult | None:
    """Run a system over a dataset, or go on with a run that was stopped.

    Args:
        plan: What to run.
        processes: The processes that share the run; each of them makes this call.
        reporter: Tells the user how it goes.

    Returns:
        The result in the main process, None in the others.

    Raises:
        UserError: The folder holds another run, one that was changed by hand, or is in use, the system is broken, the
            dataset is empty, or a thread has no clips and must have some.
    """
    if not plan.data.threads:
        raise UserError(f"{plan.data.references.name}: holds no threads, expected at least one")
    policy = plan.system.context.missing_audio
    check_clips(plan.data.threads, policy)
    inspect_threads(plan)
    position = plan.data.references.position
    folder = RunFolder(plan.out, draft_card(plan.system, plan.system_name, plan.data, plan.name), position)
    finished = folder.finished(plan.retry_failed)
    if (
        plan.system.failures_are_temporary
    ):  # an answer that could not be read stays; a request that failed is sent again
        kept = answered_threads(plan.out, folder.parts)
        finished = {name: p for name, p in finished.items() if p.outcome != "failed" or name in kept}
    wanted = plan.wanted(folder.finished())
    if folder.is_complete and finished.keys() == set(wanted):
        return (
            RunResult(in_dataset_order(wanted, finished), folder.read_card(), len(finished))
            if processes.is_main
            else None
        )

    set_aside = folder.set_aside()
    if set_aside and processes.is_main:
        reporter.say(set_aside)
    if folder.earlier is not None:
        folder.card = carry_changes(folder.card, folder.earlier)
        _note(folder, processes, reporter, passing_settings(folder.earlier), passing_settings(folder.card))
    started = time.monotonic()
    processes.wait()  # every process has read the folder before one of them changes it
    with folder.held(finished) if processes.is_main else nullcontext():
        processes.wait()
        left = [position[thread_id] for thread_id in wanted if thread_id not in finished]
        left.sort(key=lambda place: plan.system.cost(plan.data.threads[place]), reverse=True)
        has_answered = any(prediction.outcome != "failed" for prediction in finished.values())
        positions = positions_of(left, processes.rank, processes.world)
        try:
            trouble = _rank(plan, folder, positions, processes, reporter, has_answered)
        except UserError:
            if processes.world == 1:  # what the model wrote before the run stopped may say why
                finish_answer_log(plan.out, folder.parts, list(position))
            raise
        processes.wait()
        if not processes.is_main:
            return None
        predictions = in_dataset_order(wanted, folder.finished())
        unanswered = not answered_threads(plan.out, folder.parts)  # else it is the answers that could not be read
        if unanswered and all(prediction.outcome == "failed" for prediction in predictions):
            raise UserError(
                f"{folder.card.name} failed on every thread; tracebacks are in {plan.out / FAILURES}, and "
                "--retry-failed tries again"
            )
        seconds = None if finished else round(time.monotonic() - started, 3)
        records = finish_answer_log(plan.out, folder.parts, wanted)
        ranked = (plan.data.threads[position[prediction.thread_id]] for prediction in predictions)
        # An answer that could not be read counts as failed, too, but its clips were used.
        failed = {p.thread_id for p in predictions if p.outcome == "failed"} - read_answers(plan.out).keys()
        with attribute_errors(plan.system.declaration.name, "audio_used", plan.out / FAILURES):
            heard = None if policy is None else AudioCoverage(plan.system, ranked, failed)
        coverage = None if heard is None else heard.coverage()
        card = complete_card(folder.card, predictions, processes, seconds, coverage)
        ledger = sum_ledgers(record.get("ledger") for record in records)
        extra = ({"ledger": ledger} if ledger else {}) | usage_facts(records, Prices.of(card.settings))
        card = replace(card, extra=card.extra | extra)
        folder.end(predictions, card, heard)
        if trouble is not None:
            raise UserError(f"{trouble}; the run is finished all the same, the same command shows its scores")
        return RunResult(predictions, card, len(finished))


def inspect_threads(plan: Plan) -> None:
    """Let the system look over the whole dataset, before its card is drafted.

    Raises:
        UserError: The system says that the user has to act, or an error in its own code.
    """
    with attribute_errors(plan.system.declaration.name, "inspect_threads"):
        plan.system.inspect_threads([thread.without_labels() for thread in plan.data.threads])


def _rank(
    plan: Plan,
    folder: RunFolder,
    positions: Sequence[int],
    processes: Processes,
    reporter: Reporter,
    has_answered: bool,
) -> UserError | None:
    """Rank the share of one process, batch by batch; returns what went wrong when the system was closed."""
    system = plan.system
    size = plan.batch_size or system.declaration.batch_size
    access = ThreadAccess(plan.data.threads, system.reads, plan.data.clips if system.uses_audio else None)
    answers = SafeRanker(system, plan.out / FAILURES, reporter.say, has_answered=has_answered)
    of_how_many = f" (process {processes.rank + 1} of {processes.world})" if processes.world > 1 else ""
    try:
        with ShardWriter(folder.parts, processes.rank, folder.config) as part:
            with processes.main_first(), attribute_errors(system.declaration.name, "prepare", plan.out / FAILURES):
                system.prepare(access.for_prepare())
            if processes.is_main:
                with attribute_errors(system.declaration.name, "findings", plan.out / FAILURES):
                    _record_findings(plan, folder, processes, reporter)
            notes = AnswerLogWriter(folder.parts, processes.rank)
            with reporter.progress(folder.card.name + of_how_many, len(positions)) as advance:
                for start in range(0, len(positions), size):
                    batch = [access.task(position) for position in positions[start : start + size]]
                    try:
                        predictions = answers.rank(batch)
                    finally:  # what the model wrote is kept, whether or not the run stops at it
                        notes.append(system.take_answer_records())
                    part.append(predictions)
                    for line in system.warnings():
                        reporter.say(line)
                    advance(len(batch), system.throughput())
    finally:
        trouble = _close(plan)
    if trouble is not None and not processes.is_main:
        reporter.say(str(trouble))  # to raise it here would end the processes that are still at work
    return trouble


def _record_findings(plan: Plan, folder: RunFolder, processes: Processes, reporter: Reporter) -> None:
    """Put on the card what the system found out when it was prepared, and say where an earlier session differed."""
    findings = plan.system.findings()
    if findings:
        before = {} if folder.earlier is None else folder.earlier.extra
        _note(folder, processes, reporter, before, findings)
        folder.update(replace(folder.card, extra=folder.card.extra | findings))


def _note(
    folder: RunFolder, processes: Processes, reporter: Reporter, before: Mapping[str, Any], now: Mapping[str, Any]
) -> None:
    folder.card, lines = record_changes(folder.card, before, now)
    for line in lines if processes.is_main else ():
        reporter.say(line)


def _close(plan: Plan) -> UserError | None:
    """Close the system; what goes wrong there must not hide what stopped the run, nor cost what was ranked."""
    try:
        with attribute_errors(plan.system.declaration.name, "close", plan.out / FAILURES):
            plan.system.close()
    except UserError as error:
        return error
    return None
