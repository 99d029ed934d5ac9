"""Time of a comparison by systems, metrics and resamples: it should grow in line with each."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from benchmarks.simulations import published_threads
from musicrs_metric.compare import HEADLINE, System, compare
from musicrs_metric.hits import hits_from_indices
from musicrs_metric.intervals import RESAMPLES
from musicrs_metric.measures import DEFAULT_K, measure_names
from musicrs_metric.scoring import thread_table


def random_systems(count: int) -> list[System]:
    """Systems that rank pools of the published sizes at random."""
    rng = np.random.default_rng(0)
    size, relevant = published_threads()
    gold = [range(n) for n in relevant]
    rankings = ([rng.permutation(n) for n in size] for _ in range(count))
    tables = (thread_table(hits_from_indices(ranking, gold, size)) for ranking in rankings)
    return [System(f"random {i}", table) for i, table in enumerate(tables)]


def seconds(systems: Sequence[System], metrics: Sequence[str], resamples: int) -> float:
    """Best of three comparisons."""
    times = []
    for _ in range(3):
        start = perf_counter()
        compare(systems, metrics, resamples=resamples)
        times.append(perf_counter() - start)
    return min(times)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the seconds that comparisons on 477 threads take.

    Args:
        argv: Not read.
    """
    del argv
    everything = measure_names(DEFAULT_K)
    systems = random_systems(40)
    print(f"{'systems':>8}{'metrics':>8}{'resamples':>10}{'seconds':>9}")
    for count, metrics, resamples in [
        *((count, HEADLINE, RESAMPLES) for count in (5, 10, 20, 40)),
        *((20, HEADLINE, RESAMPLES * times // 4) for times in (1, 2, 4, 8)),
        (20, everything, RESAMPLES),
    ]:
        taken = seconds(systems[:count], metrics, resamples)
        print(f"{count:8}{len(metrics):8}{resamples:10,}{taken:9.2f}")


if __name__ == "__main__":
    main()
