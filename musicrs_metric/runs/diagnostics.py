"""Signs of a mistake in the rankings of a run: empty rankings, and titles that no pool holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import count, plain, show, some
from ..hits import Hits
from ..matching import Pool
from .references import References

# Above this share of unknown titles, the rankings may be those of other pools, or use another spelling.
SUSPICIOUS = 0.05
_EXAMPLES = 3


@dataclass(frozen=True)
class Diagnostics:
    """Suspicious properties of the rankings of a run.

    Attributes:
        empty: Threads whose ranking is empty; each scored 0.
        n_ranked: Ranked titles.
        n_unknown: Titles that name no candidate of their thread.
        examples: Some of these: thread, rank from 1, title.
    """

    empty: tuple[str, ...]
    n_ranked: int
    n_unknown: int
    examples: tuple[tuple[str, int, str], ...]

    def sentences(self) -> Iterator[str]:
        """Yield one sentence per finding, with examples; nothing if there is none."""
        if self.empty:
            yield f"{count(len(self.empty), 'ranking')} empty, counted as 0: {some(self.empty)}."
        if self.n_unknown:
            shown = "; ".join(f"{plain(thread)}, rank {rank}: {show(title)}" for thread, rank, title in self.examples)
            yield f"Unknown to their pool: {shown}{'; ...' * (self.n_unknown > len(self.examples))}."
        if self.n_unknown > SUSPICIOUS * self.n_ranked:
            share = 100 * self.n_unknown / self.n_ranked
            yield (
                f"Warning: {share:.1f} % of the ranked titles are unknown to the pool of their thread. Are they spelt "
                "as the candidates are, and ranked for these pools?"
            )


def diagnose(rankings: Sequence[Sequence[str] | None], references: References, hits: Hits) -> Diagnostics:
    """Look for signs of a mistake in rankings.

    Args:
        rankings: One per thread in dataset order; None without a prediction.
        references: The dataset.
        hits: The same rankings, judged.
    """
    n_unknown = int(hits.n_unknown.sum())
    ranked = zip(references.thread_ids, rankings, strict=True)
    return Diagnostics(
        empty=tuple(thread for thread, ranking in ranked if ranking is not None and not ranking),
        n_ranked=sum(len(ranking or ()) for ranking in rankings),
        n_unknown=n_unknown,
        examples=tuple(_unknown(rankings, references, hits)) if n_unknown else (),
    )


def _unknown(
    rankings: Sequence[Sequence[str] | None], references: References, hits: Hits
) -> Iterator[tuple[str, int, str]]:
    """Yield the first unknown title of each of the first threads that have one."""
    for position in hits.n_unknown.nonzero()[0][:_EXAMPLES].tolist():
        pool = Pool(references.candidates[position])
        rank, title = next((r, t) for r, t in enumerate(rankings[position] or (), 1) if pool.resolve(t) is None)
        yield references.thread_ids[position], rank, title
