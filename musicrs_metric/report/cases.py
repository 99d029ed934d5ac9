"""Cases: single threads with query, pool, ground truth, and the first ranks of each system."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..base import numbers
from ..errors import UserError, plain
from ..matching import Pool
from ..runs.predictions import Prediction
from ..runs.references import References
from .document import Answer, Case, Item, ItemState, Link, Section, Sound
from .report_data import ReportData
from .runs import ReportRun
from .threads import ClipAudio, Row

DEPTH = 20
METRIC = "ndcg@20"
_SHOWN = ("recall@20", "ndcg@20", "mrr")

# Limits of embedded audio in bytes, so that the page can be sent by mail.
_CLIP_LIMIT = 1_000_000
_PAGE_LIMIT = 8_000_000
_VIDEO_ID = re.compile(r"[A-Za-z0-9_-]{11}")


def choose(data: ReportData) -> dict[str, str]:
    """Choose two threads: those on which the systems differ most and least.

    Only threads with a ground truth of at least median size count, because the rank of a single item is mostly chance.
    For a single run the choice is its best and its worst thread.

    Args:
        data: The runs and their comparison.

    Returns:
        Thread id to the reason of the choice, for one or two threads. Of equal threads it is the first of the dataset.
        Of threads with equal spread it is the one with the lowest scores.
    """
    values = np.stack([run.threads.values[METRIC] for run in data.runs])
    sizes = np.array([len(items) for items in data.references.ground_truth])
    eligible = np.flatnonzero((sizes > 0) & (sizes >= np.median(sizes)))
    if not len(eligible):
        return {}
    single = len(values) == 1
    spread = values[0] if single else values.max(axis=0) - values.min(axis=0)
    most = int(eligible[np.argmax(spread[eligible])])
    least = int(min(eligible, key=lambda i: (spread[i], values[:, i].mean())))
    measure = numbers.measure_label(METRIC)
    reasons = (
        (f"its highest {measure}", f"its lowest {measure}")
        if single
        else (f"the systems differ most in {measure}", f"the systems differ least in {measure}")
    )
    ids = data.references.thread_ids
    chosen = {ids[most]: reasons[0]}
    chosen.setdefault(ids[least], reasons[1])
    return chosen


def check_cases(references: References, thread_ids: Sequence[str]) -> None:
    """Refuse threads that the dataset does not have.

    Raises:
        UserError: The dataset lacks one of them.
    """
    for thread_id in thread_ids:
        if thread_id not in references.position:
            raise UserError(
                f"--case {plain(thread_id)}: not in dataset {references.name} ({len(references)} threads, such as "
                f"{references.thread_ids[0]})"
            )


def case_section(
    data: ReportData, chosen: Mapping[str, str], clips: Mapping[str, Sequence[ClipAudio]]
) -> tuple[Section, dict[str, ClipAudio]]:
    """Build the section.

    Args:
        data: The runs and their comparison.
        chosen: Thread id to the reason of the choice.
        clips: Thread id to its encoded clips.

    Returns:
        The section, and the clips to embed, by the keys that its sounds name.
    """
    predictions = [run.predictions() for run in data.runs]
    embedded: dict[str, ClipAudio] = {}
    cases = []
    for thread_id, why in chosen.items():
        position = data.references.position[thread_id]
        thread = data.rows[position]
        sounds = tuple(_sounds(thread_id, thread, clips.get(thread_id, ()), embedded))
        answers = tuple(
            _answer(run, found.get(thread_id), data.references, position)
            for run, found in zip(data.runs, predictions, strict=True)
        )
        cases.append(_case(data, position, why, sounds, answers))
    return Section("cases", "Cases: single threads, system by system", tuple(cases)), embedded


def _case(data: ReportData, position: int, why: str, sounds: tuple[Sound, ...], answers: tuple[Answer, ...]) -> Case:
    references, thread = data.references, data.rows[position]
    candidates, truth = references.candidates[position], references.ground_truth[position]
    gold = relevant_positions(Pool(candidates), truth)
    facts = [
        ("Subreddit", f"r/{references.groups['subreddit'][position]}"),
        ("Genre", references.groups["genre"][position]),
    ]
    if thread.get("query"):
        facts.append(("Query", thread["query"]))
    if thread.get("submission_entities"):
        facts.append(("Named by the asker", "; ".join(thread["submission_entities"])))
    chance = data.runs[0].threads.chance
    if chance is not None:
        facts.append(("Chance level", _scores({name: float(chance[name][position]) for name in _SHOWN})))
    return Case(
        title=f"Thread {references.thread_ids[position]}",
        why=why,
        facts=tuple(facts),
        sounds=sounds,
        links=tuple(_links(thread)),
        ground_truth=tuple(truth),
        pool=tuple(Item(str(i + 1), text, "hit" if i in gold else "miss") for i, text in enumerate(candidates)),
        pool_title=f"Pool of {numbers.plural(len(candidates), 'candidate')} in stored order, ground truth marked",
        answers=answers,
    )


def _answer(run: ReportRun, prediction: Prediction | None, references: References, position: int) -> Answer:
    if prediction is None:
        return Answer(run.label, "no prediction for this thread; it scores 0", ())
    values = run.threads.values
    summary = _scores({name: float(values[name][position]) for name in _SHOWN})
    if prediction.outcome not in (None, "ok"):
        summary += f"; outcome: {prediction.outcome}"
    judged = judge(prediction.ranking, references.candidates[position], references.ground_truth[position])
    return Answer(run.label, summary, tuple(judged[:DEPTH]))


def judge(ranking: Sequence[str], candidates: Sequence[str], ground_truth: Sequence[str]) -> list[Item]:
    """Return for every ranked string whether it is a hit, by the rule of `musicrs_metric.matching`.

    Args:
        ranking: Strings, best first.
        candidates: The pool.
        ground_truth: The relevant strings.

    Returns:
        Items with the ranks that scores use. A repeated candidate is excluded. An unknown string keeps its rank.
    """
    pool = Pool(candidates)
    gold = relevant_positions(pool, ground_truth)
    seen: set[int] = set()
    items: list[Item] = []
    for text in ranking:
        position = pool.resolve(text)
        if position in seen:
            continue
        state: ItemState = "unknown" if position is None else "hit" if position in gold else "miss"
        if position is not None:
            seen.add(position)
        items.append(Item(str(len(items) + 1), text, state))
    return items


def relevant_positions(pool: Pool, ground_truth: Sequence[str]) -> set[int]:
    """Return the positions of the ground truth in the pool."""
    return {position for position in map(pool.resolve, ground_truth) if position is not None}


def _scores(values: Mapping[str, float]) -> str:
    return ", ".join(f"{numbers.measure_label(name)} {numbers.percent(value)}" for name, value in values.items())


def _sounds(thread_id: str, thread: Row, clips: Sequence[ClipAudio], embedded: dict[str, ClipAudio]) -> Iterator[Sound]:
    """Describe the clips, and add those that fit into the page to `embedded`."""
    for i, clip in enumerate(clips):
        info = (thread.get("clip_info") or [])[i : i + 1]
        label = f"Clip {i + 1}"
        if info:
            start, length = (numbers.quantity(info[0][name]) for name in ("start_s", "duration_s"))
            label += f": {length} s of video {info[0]['video_id']} from {start} s"
        used = sum(len(other.audio) for other in embedded.values())
        if len(clip.audio) > _CLIP_LIMIT or used + len(clip.audio) > _PAGE_LIMIT:
            yield Sound(label, None, f"not embedded, {numbers.quantity(len(clip.audio) / 1e6)} MB")
            continue
        key = f"{thread_id}/{i + 1}"
        embedded[key] = clip
        yield Sound(label, key)


def _links(thread: Row) -> Iterator[Link]:
    for link in thread.get("links") or ():
        if not _VIDEO_ID.fullmatch(link["video_id"] or ""):
            continue
        start = int(link["start_s"] or 0)
        url = f"https://youtu.be/{link['video_id']}" + (f"?t={start}" if start else "")
        yield Link(url.removeprefix("https://"), url)
