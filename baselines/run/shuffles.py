"""A run in several orders of the pools: how much of a score is the order's doing.

Order 1 is the run folder's own run, so that every tool finds one prediction per thread where it looks for it. The
others are runs of their own in `shuffles/02` and so on, each with its card. When all are finished, `robustness.json`
holds the mean score and what the order does to it; see `baselines.run.order_effects`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from musicrs_metric.base.files import to_json, write_text
from musicrs_metric.base.seeds import shuffled
from musicrs_metric.runs.run_card import RunCard

from ..commands.summary import ranked_only
from ..data import Data, PoolOrder
from .answer_log import sum_ledgers
from .order_effects import OrderEffects, order_effects
from .processes import Processes
from .reporter import Reporter
from .runner import Plan, RunResult, run
from .usage import add_usage

FOLDER = "shuffles"
ROBUSTNESS = "robustness.json"


class ShuffledResult(NamedTuple):
    """A finished run in several orders.

    Attributes:
        card: Card of the first order, named after all of them, with the outcomes and ledgers of all of them.
        effects: What the order does.
    """

    card: RunCard
    effects: OrderEffects


def reorder_pools(data: Data, order: PoolOrder, seed: int) -> Data:
    """Show every pool in another order.

    Args:
        data: A dataset.
        order: Which order; a thread's pool in it depends on the seed, the thread and the order's number only.
        seed: Seed of the run.
    """
    purpose = f"order {order.number}"
    threads = [
        replace(thread, candidates=tuple(shuffled(thread.candidates, seed, thread.thread_id, purpose)))
        for thread in data.threads
    ]
    return data._replace(threads=threads, order=order)


def run_shuffles(plan: Plan, shuffles: int, processes: Processes, reporter: Reporter) -> ShuffledResult | None:
    """Run a system over a dataset once per order, or go on with such a run.

    Args:
        plan: What to run; its data in stored order.
        shuffles: Number of orders, at least 2.
        processes: The processes that share the run; each of them makes this call.
        reporter: Tells the user how it goes.

    Returns:
        The result in the main process, None in the others.

    Raises:
        UserError: See `baselines.run.runner.run`.
    """
    orders = [PoolOrder(number, shuffles) for number in range(1, shuffles + 1)]
    plans = [
        replace(
            plan,
            data=reorder_pools(plan.data, order, plan.system.context.seed),
            out=plan.out if order.number == 1 else plan.out / FOLDER / f"{order.number:02}",
        )
        for order in orders
    ]
    results = [result for each in plans if (result := run(each, processes, reporter)) is not None]
    if not results:
        return None
    card, effects = finished = _summarise(plans, results)
    about = {"name": card.name, "fingerprint": card.fingerprint, "seed": card.seed, "outcomes": card.outcomes}
    write_text(plan.out / ROBUSTNESS, [to_json(about | effects.to_dict(), indent=2), "\n"])
    return finished


def _summarise(plans: list[Plan], results: list[RunResult]) -> ShuffledResult:
    # A limit that was lowered in between leaves threads that some orders lack.
    in_all = set.intersection(*({p.thread_id for p in result.predictions} for result in results))
    given = [[p for p in result.predictions if p.thread_id in in_all] for result in results]
    references = ranked_only(plans[0].data.references, given[0])
    position = plans[0].data.references.position
    shown = [[plan.data.threads[position[thread]].candidates for thread in references.thread_ids] for plan in plans]
    first = results[0].card
    outcomes = sum((Counter(result.card.outcomes) for result in results), Counter[str]())
    ledger = sum_ledgers(result.card.extra.get("ledger") for result in results)
    usage = add_usage([result.card.extra for result in results])
    extra = first.extra | ({"ledger": ledger} if ledger else {}) | usage
    name = first.name.removesuffix(str(plans[0].data.order)) + f"mean of {len(plans)} orders"
    card = replace(first, name=name, outcomes=dict(sorted(outcomes.items())), extra=extra)
    return ShuffledResult(card, order_effects(shown, given, references))
