"""A run in several orders of the pools, to measure how far the score depends on the order.

The run folder itself holds order 1, so that every tool finds one prediction per thread in the usual place. The other
orders are runs in `shuffles/02` and so on, each with its card. When all are finished, `robustness.json` holds the mean
score and the effects of the order; see `baselines.run.order_effects`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from musicrs_metric.base.files import to_json, write_text
from musicrs_metric.base.seeds import shuffled
from musicrs_metric.runs.run_card import RunCard

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
        card: Card of the first order, with a name for all orders, and with the outcomes and counts of all.
        effects: Effects of the order.
    """

    card: RunCard
    effects: OrderEffects


def reorder_pools(data: Data, order: PoolOrder, seed: int) -> Data:
    """Return the dataset with its pools in another order.

    Args:
        data: A dataset.
        order: The order. It depends only on the seed, the thread and the number of the order.
        seed: Seed of the run.
    """
    purpose = f"order {order.number}"
    threads = [
        replace(thread, candidates=tuple(shuffled(thread.candidates, seed, thread.thread_id, purpose)))
        for thread in data.threads
    ]
    return data._replace(threads=threads, order=order)


def run_shuffles(plan: Plan, shuffles: int, processes: Processes, reporter: Reporter) -> ShuffledResult | None:
    """Run a system on a dataset once per order, or resume such a run.

    Args:
        plan: The run, with its data in stored order.
        shuffles: Number of orders, at least 2.
        processes: The processes that share the run. Each of them makes this call.
        reporter: Shows progress to the user.

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
    results = [result for one_order in plans if (result := run(one_order, processes, reporter)) is not None]
    if not results:
        return None
    card, effects = summary = _summarise(plans, results)
    fields = {"name": card.name, "fingerprint": card.fingerprint, "seed": card.seed, "outcomes": card.outcomes}
    write_text(plan.out / ROBUSTNESS, [to_json(fields | effects.to_dict(), indent=2), "\n"])
    return summary


def _summarise(plans: list[Plan], results: list[RunResult]) -> ShuffledResult:
    # If the limit was lowered between sessions, some orders lack threads.
    in_all = set.intersection(*({p.thread_id for p in result.predictions} for result in results))
    predicted = [[p for p in result.predictions if p.thread_id in in_all] for result in results]
    references = plans[0].data.references.subset([prediction.thread_id for prediction in predicted[0]])
    position = plans[0].data.references.position
    shown = [[plan.data.threads[position[thread]].candidates for thread in references.thread_ids] for plan in plans]
    first = results[0].card
    outcomes = sum((Counter(result.card.outcomes) for result in results), Counter[str]())
    ledger = sum_ledgers(result.card.extra.get("ledger") for result in results)
    usage = add_usage([result.card.extra for result in results])
    extra = first.extra | ({"ledger": ledger} if ledger else {}) | usage
    name = first.name.removesuffix(str(plans[0].data.order)) + f"mean of {len(plans)} orders"
    card = replace(first, name=name, outcomes=dict(sorted(outcomes.items())), extra=extra)
    return ShuffledResult(card, order_effects(shown, predicted, references))
