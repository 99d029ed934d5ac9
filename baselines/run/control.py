"""Control runs: every thread gets the input of another thread, and keeps its own pool and labels.

shuffled-audio  the clips and links of another thread
shuffled-query  the query, the post and the entities of another thread

The other thread has the same genre, so the information about the genre stays. A system that scores as well as in the
plain run does not use the input. The score that remains above chance comes from elsewhere.

A system that uses the input may end below chance on the published pools: their distractors come from the ground truth
of other threads, and may be relevant to the swapped query. There, under shuffled-query, recall@20 of minilm falls from
24.94 to 18.98 % (mean of seeds 0, 1 and 2) and that of lexical from 26.37 to 18.94 % (seed 0). Chance is 20.42 %.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from musicrs_dataset.records import Clip, Thread
from musicrs_metric.base.seeds import shuffled
from musicrs_metric.errors import UserError, count

from ..data import Control, Data, Swap
from ..system import Context


def swap_inputs(data: Data, swap: Swap, context: Context) -> Data:
    """Give every thread the input of another thread.

    Args:
        data: A dataset.
        swap: The input to swap. Clips are swapped between threads that have some. A thread without clips stays so.
        context: Context of the system. Its seed decides the exchange.

    Returns:
        The dataset with swapped inputs. Its references stay as they are.

    Raises:
        UserError: The system does not use the input, or fewer than two threads have it.
    """
    _check_input(swap, context)
    threads = data.threads
    indices = [index for index, thread in enumerate(threads) if swap == "shuffled-query" or thread.clips]
    if len(indices) < 2:
        kind = "with clips" if swap == "shuffled-audio" else "in the dataset"
        raise UserError(f"--control {swap}: {count(len(indices), 'thread')} {kind}, expected at least two to swap")
    sources = input_sources([threads[index].genre for index in indices], context.seed)
    source = dict(zip(indices, (indices[row] for row in sources), strict=True))
    swapped = [_with(swap, thread, threads[source.get(index, index)]) for index, thread in enumerate(threads)]
    n_other = sum(threads[index].genre != threads[other].genre for index, other in source.items())
    data = data._replace(threads=swapped, control=Control(swap, n_other))
    read = data.clips
    if read is None or swap == "shuffled-query":
        return data

    def read_source(index: int) -> tuple[Clip, ...]:
        return read(source.get(index, index))

    return data._replace(clips=read_source)


def input_sources(genres: Sequence[str], seed: int) -> list[int]:
    """Choose the source of the input of every thread: never itself, and of the same genre if it has another thread.

    The threads of a genre form one cycle in a seeded random order, so every input is used once. A thread alone in its
    genre gets the input of any other, which is then used twice.

    Args:
        genres: Genre of each of n threads; n at least 2.
        seed: Seed of the choice.

    Returns:
        One index per thread.
    """
    by_genre: dict[str, list[int]] = defaultdict(list)
    for index, genre in enumerate(genres):
        by_genre[genre].append(index)
    source: dict[int, int] = {}
    for genre, own in by_genre.items():
        if len(own) > 1:
            cycle = shuffled(own, seed, genre, "control")
            source.update(zip(cycle, cycle[1:] + cycle[:1], strict=True))
        else:
            others = [index for index in range(len(genres)) if index != own[0]]
            source[own[0]] = shuffled(others, seed, genre, "control")[0]
    return [source[index] for index in range(len(genres))]


def _check_input(swap: Swap, context: Context) -> None:
    if swap == "shuffled-audio" and context.missing_audio is None:  # no policy for clips: the system uses none
        raise UserError(f"--control {swap}: the system uses no clips in {context.modality}; try shuffled-query")
    if swap == "shuffled-query" and context.modality == "audio_only":
        raise UserError(f"--control {swap}: audio_only has no query; try shuffled-audio")


def _with(swap: Swap, thread: Thread, other: Thread) -> Thread:
    if swap == "shuffled-audio":
        return replace(thread, clips=other.clips, links=other.links)
    return replace(thread, query=other.query, post=other.post, submission_entities=other.submission_entities)
