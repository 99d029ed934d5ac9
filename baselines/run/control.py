"""Control runs: every thread is given another thread's input, and keeps its own pool and labels.

shuffled-audio  the clips and links of another thread
shuffled-query  the query, the post and the entities of another asker

The other thread is one of the same genre, so what the input tells of the genre stays. A system that scores as well as
in the plain run has not used what was asked; what remains of its score above chance comes from elsewhere.

A system that does use it may end below chance on the published pools: their wrong candidates are other threads'
answers, and so may be right answers to the query that was swapped in. There, under shuffled-query, recall@20 of minilm
falls from 24.94 to 18.98 % (mean of seeds 0, 1 and 2) and that of lexical from 26.37 to 18.94 % (seed 0); chance is
20.42 %.
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
    """Give every thread another one's input.

    Args:
        data: A dataset.
        swap: Which input. Clips pass between threads that have some; a thread without clips stays without.
        context: What the system will be given; its seed decides who gets whose input.

    Returns:
        The dataset as the system is to see it. Its references stay as they are.

    Raises:
        UserError: The system is not given that input, or fewer than two threads have it.
    """
    _check_input(swap, context)
    threads = data.threads
    places = [place for place, thread in enumerate(threads) if swap == "shuffled-query" or thread.clips]
    if len(places) < 2:
        what = "with clips" if swap == "shuffled-audio" else "in the dataset"
        raise UserError(f"--control {swap}: {count(len(places), 'thread')} {what}, expected at least two to swap")
    giver = input_sources([threads[place].genre for place in places], context.seed)
    source = dict(zip(places, (places[given] for given in giver), strict=True))
    swapped = [_with(swap, thread, threads[source.get(place, place)]) for place, thread in enumerate(threads)]
    n_other = sum(threads[place].genre != threads[given].genre for place, given in source.items())
    data = data._replace(threads=swapped, control=Control(swap, n_other))
    read = data.clips
    if read is None or swap == "shuffled-query":
        return data

    def clips_of_another(place: int) -> tuple[Clip, ...]:
        return read(source.get(place, place))

    return data._replace(clips=clips_of_another)


def input_sources(genres: Sequence[str], seed: int) -> list[int]:
    """Choose for every thread the one whose input it gets: never itself, and of its genre if that has another.

    The threads of a genre form one cycle in a seeded random order, each giving to the one before it, so every input is
    used once. A thread alone in its genre gets that of any other, which is then used twice.

    Args:
        genres: Genre of each of n threads; n at least 2.
        seed: Seed of the choice.

    Returns:
        One place per thread.
    """
    by_genre: dict[str, list[int]] = defaultdict(list)
    for place, genre in enumerate(genres):
        by_genre[genre].append(place)
    giver: dict[int, int] = {}
    for genre, own in by_genre.items():
        if len(own) > 1:
            cycle = shuffled(own, seed, genre, "control")
            giver.update(zip(cycle, cycle[1:] + cycle[:1], strict=True))
        else:
            others = [place for place in range(len(genres)) if place != own[0]]
            giver[own[0]] = shuffled(others, seed, genre, "control")[0]
    return [giver[place] for place in range(len(genres))]


def _check_input(swap: Swap, context: Context) -> None:
    if swap == "shuffled-audio" and context.missing_audio is None:  # no policy for clips: none are heard
        raise UserError(f"--control {swap}: the system hears no clips in {context.modality}; try shuffled-query")
    if swap == "shuffled-query" and context.modality == "audio_only":
        raise UserError(f"--control {swap}: audio_only has no query; try shuffled-audio")


def _with(swap: Swap, thread: Thread, given: Thread) -> Thread:
    if swap == "shuffled-audio":
        return replace(thread, clips=given.clips, links=given.links)
    return replace(thread, query=given.query, post=given.post, submission_entities=given.submission_entities)
