"""Describe a run before it starts. Nothing is loaded, ranked or written."""

from __future__ import annotations

from collections.abc import Iterator

from musicrs_metric.errors import count

from .card import draft_card
from .guard import attribute_errors
from .missing_audio import check_clips
from .runner import Plan, inspect_threads


def dry_run(plan: Plan) -> Iterator[str]:
    """Describe a run.

    Args:
        plan: The run.

    Yields:
        Lines about run, dataset and system.

    Raises:
        UserError: An error would end the run before its first thread.
    """
    system, threads = plan.system, plan.data.threads
    check_clips(threads, system.context.missing_audio)
    inspect_threads(plan)
    card = draft_card(system, plan.system_name, plan.data, plan.name)
    n = len(plan.wanted({}))
    yield f"{card.name}, {card.modality}: {n} of {count(len(threads), 'thread')} of {card.dataset} ({card.config})"
    fields = {
        "model": card.model_id,
        "revision": card.model_revision,
        "protocol": card.protocol,
        "prompt sha256": card.prompt_hash,
        "clips": card.clip_plan,
        "threads without clips": card.missing_audio,
    }
    yield from (f"{name}: {value}" for name, value in fields.items() if value is not None)
    with attribute_errors(system.declaration.name, "describe_run"):
        yield from system.describe_run(threads[0].without_labels(), plan.batch_size or system.declaration.batch_size)
        wanted = set(plan.wanted({}))
        yield from system.estimate([thread.without_labels() for thread in threads if thread.thread_id in wanted])
    yield "Nothing was loaded and nothing was written (--dry-run)."
