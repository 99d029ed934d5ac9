"""Dialogues against random orders: the null distribution of a mean, from simulated orders.

A draw orders all items of a dialogue at random, once for all its turns. Different dialogues have independent orders.
Turns of one dialogue share their goal, so a system without any information can repeat a lucky order at every turn. A
null of independent turns is too narrow for such a system. This one is right for it, and wide enough for a system that
orders every turn anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..chance import ChanceTest, Verdict
from ..closed_forms import Floats
from ..hits import Bools, Hits, Ints
from ..matching import Pool
from ..measures import measure
from ..runs.references import References
from ..scoring import Empty, NullRule, ThreadTable
from .corpus import DIALOGUE, Corpus
from .measures import values as catalogue_values

DRAWS, FEWER_DRAWS, MANY_TURNS = 4_000, 1_000, 1_000
_ROUNDING = 1e-9

Means = dict[str, Floats]


@dataclass(frozen=True)
class _Items:
    """Items of a dialogue whose place matters, among its `n` items; shape (turns, items)."""

    n: int
    absent: Bools
    relevant: Bools


@dataclass(frozen=True)
class DialogueNull:
    """Random orders of the dialogues of a corpus.

    Attributes:
        references: The corpus, over pools or a catalogue.
        n_relevant: Shape (n,): relevant items of each turn.
        k: Cutoffs.
    """

    references: References
    n_relevant: Ints
    k: tuple[int, ...]

    @cached_property
    def turns(self) -> list[Ints]:
        """Turns of each dialogue, dialogues in order of their first turn."""
        rows: dict[str, list[int]] = {}
        for row, dialogue in enumerate(self.references.groups[DIALOGUE]):
            rows.setdefault(dialogue, []).append(row)
        return [np.array(numbers) for numbers in rows.values()]

    def means(self, counted: Bools, answered: Bools) -> tuple[Means, Means]:
        """Return the macro and the micro means of all draws.

        Args:
            counted: Shape (n,): turns in the mean.
            answered: Shape (n,): turns with a prediction. The others score 0 in every draw.

        Returns:
            Measure name to shape (draws,), for the dialogues with a turn that is counted.
        """
        key = self.k, self.n_relevant.tobytes(), counted.tobytes(), answered.tobytes()
        drawn: dict[object, tuple[Means, Means]] = self.references.drawn
        if key not in drawn:
            drawn[key] = self._means(counted, answered)
        return drawn[key]

    def _means(self, counted: Bools, answered: Bools) -> tuple[Means, Means]:
        draws = DRAWS if len(counted) <= MANY_TURNS else FEWER_DRAWS
        macro: Means = {}
        micro: Means = {}
        dialogues = [(number, rows[counted[rows]]) for number, rows in enumerate(self.turns) if counted[rows].any()]
        for number, rows in dialogues:
            generator = np.random.default_rng([0, number])
            for name, column in self._values(rows, draws, generator).items():
                total = column[answered[rows]].sum(axis=0)
                macro[name] = macro.get(name, 0.0) + total / (len(rows) * len(dialogues))
                micro[name] = micro.get(name, 0.0) + total / counted.sum()
        return macro, micro

    def _values(self, rows: Ints, draws: int, generator: np.random.Generator) -> Means:
        """Return measure name to shape (turns, draws)."""
        items = self._items(rows)
        positions = np.sort(_positions(generator, draws, items.n, items.absent.shape[1]), axis=1)
        order = generator.permuted(np.tile(np.arange(positions.shape[1]), (draws, 1)), axis=1)
        threads, ranks = [], []
        for turn, (absent, relevant) in enumerate(zip(items.absent, items.relevant, strict=True)):
            draw, column = np.nonzero(relevant[order])
            threads.append(turn * draws + draw)
            ranks.append((positions + 1 - np.cumsum(absent[order], axis=1))[draw, column])
        none = np.zeros(len(rows) * draws, dtype=np.int64)
        hits = Hits(
            np.concatenate(threads),
            np.concatenate(ranks),
            np.repeat(self.n_relevant[rows], draws),
            np.repeat(items.relevant.sum(axis=1), draws),
            np.repeat(items.n - items.absent.sum(axis=1), draws),
            none,
            none,
            none.astype(bool),
        )
        compute: Callable[[Hits, tuple[int, ...]], Means]
        compute = catalogue_values if isinstance(self.references, Corpus) else measure
        return {name: column.reshape(len(rows), draws) for name, column in compute(hits, self.k).items()}

    def _items(self, rows: Ints) -> _Items:
        absent: list[Collection[object]] = []
        relevant: list[Collection[object]] = []
        if isinstance(self.references, Corpus):
            codes, n = self.references.catalogue.codes, self.references.catalogue.n_clusters
            for row in rows:
                absent.append({codes[item] for item in self.references.known[row] if item in codes})
                relevant.append({codes[item] for item in self.references.ground_truth[row] if item in codes})
        else:
            pools = [self.references.candidates[row] for row in rows]
            everything = {candidate for pool in pools for candidate in pool}
            n = len(everything)
            for row, pool in zip(rows, pools, strict=True):
                absent.append(everything.difference(pool))
                relevant.append(_in_pool(pool, self.references.ground_truth[row]))
        column = {item: place for place, item in enumerate(dict.fromkeys(i for ids in absent + relevant for i in ids))}
        masks = np.zeros((2, len(rows), len(column)), dtype=bool)
        for mask, sets in zip(masks, (absent, relevant), strict=True):
            for turn, ids in enumerate(sets):
                mask[turn, [column[item] for item in ids]] = True
        return _Items(n, masks[0], masks[1] & ~masks[0])


@dataclass(frozen=True)
class RunNull(NullRule):
    """The null distribution for one run: turns without a prediction score 0, in the run and in every draw.

    Attributes:
        null: Random orders of the corpus.
        answered: Shape (n,): turns with a prediction.
        empty: Whether turns with an empty ground truth count as "zero" or are "skip"ped.
    """

    null: DialogueNull
    answered: Bools
    empty: Empty = "zero"

    def test(self, name: str, mean: float | None, chosen: Bools) -> ChanceTest | None:
        """Test a mean over dialogues of the mean over their turns.

        Args:
            name: Measure, such as "recall@20".
            mean: The mean over the dialogues.
            chosen: Shape (d,): dialogues in the mean.

        Returns:
            The test; None without a dialogue.
        """
        counted = self._counted(chosen)
        if mean is None or not counted.any():
            return None
        return _test(mean, self.null.means(counted, self.answered)[0][name])

    def verdicts(self, values: Means) -> dict[str, dict[str, Verdict]]:
        """Return the verdicts on both means over the dialogues with a prediction.

        Args:
            values: Measure name to shape (n,): values of the turns.

        Returns:
            "macro" and "micro" to measure to verdict; empty without a dialogue.
        """
        counted = self._counted(np.array([self.answered[rows].any() for rows in self.null.turns]))
        if not counted.any():
            return {}
        dialogues = [kept for rows in self.null.turns if len(kept := rows[counted[rows]])]
        macro, micro = self.null.means(counted, self.answered)
        means = {
            "macro": lambda column: np.mean([column[rows].mean() for rows in dialogues]),
            "micro": lambda column: column[counted].mean(),
        }
        return {
            kind: {name: _test(float(means[kind](values[name])), drawn[name]).verdict for name in values}
            for kind, drawn in (("macro", macro), ("micro", micro))
        }

    def _counted(self, chosen: Bools) -> Bools:
        counted = np.zeros(len(self.answered), dtype=bool)
        for is_chosen, rows in zip(chosen, self.null.turns, strict=True):
            counted[rows] = is_chosen
        return counted & (self.null.n_relevant > 0) if self.empty == "skip" else counted


def _test(mean: float, drawn: Floats) -> ChanceTest:
    above, below = ((drawn >= mean - _ROUNDING).sum(), (drawn <= mean + _ROUNDING).sum())
    return ChanceTest(float(1 + above) / (1 + len(drawn)), float(1 + below) / (1 + len(drawn)))


def run_null(table: ThreadTable, references: References, empty: Empty = "zero") -> RunNull:
    """Return the null distribution for a table of turns."""
    return RunNull(DialogueNull(references, table.hits.n_relevant, table.k), ~table.hits.missing, empty)


def _in_pool(pool: Sequence[str], ground_truth: Sequence[str]) -> set[object]:
    names = list(pool)
    places = map(Pool(names).resolve, ground_truth)
    return {names[place] for place in places if place is not None}


def _positions(generator: np.random.Generator, draws: int, n: int, m: int) -> Ints:
    """Draw m distinct positions among n, shape (draws, m)."""
    if m * m > n:
        return np.stack([generator.choice(n, m, replace=False, shuffle=False) for _ in range(draws)])
    rows = generator.integers(0, n, (draws, m))
    while True:  # two of m positions are equal with a probability of at most 1/2
        ordered = np.sort(rows, axis=1)
        again = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if not again.any():
            return rows
        rows[again] = generator.integers(0, n, (int(again.sum()), m))
