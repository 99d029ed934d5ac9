"""One thread seen whole: what was asked, what may be answered, and what each system ranked first."""

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

# What a page that is mailed around may carry of audio, in bytes.
_CLIP_LIMIT = 1_000_000
_PAGE_LIMIT = 8_000_000
_VIDEO_ID = re.compile(r"[A-Za-z0-9_-]{11}")


def choose(data: ReportData) -> dict[str, str]:
    """Choose the threads that say most: where the systems differ most, and where they differ least.

    Only threads with a ground truth of at least median size: on a single item one lucky place decides everything.
    With a single run: its best and its worst thread.

    Args:
        data: The runs and their comparison.

    Returns:
        Thread id to why it was chosen, one or two of them; of equal threads the first of the dataset, and of those
        with an equal spread the one that the systems do worst on.
    """
    values = np.stack([run.system.table.values[METRIC] for run in data.runs])
    sizes = np.array([len(items) for items in data.references.ground_truth])
    kept = np.flatnonzero((sizes > 0) & (sizes >= np.median(sizes)))
    if not len(kept):
        return {}
    single = len(values) == 1
    spread = values[0] if single else values.max(axis=0) - values.min(axis=0)
    most = int(kept[np.argmax(spread[kept])])
    least = int(min(kept, key=lambda i: (spread[i], values[:, i].mean())))
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
        chosen: Thread id to why it is shown.
        clips: Thread id to its encoded clips.

    Returns:
        The section, and the clips that a page can carry, by the keys that its sounds name.
    """
    predictions = [run.predictions() for run in data.runs]
    embedded: dict[str, ClipAudio] = {}
    cases = []
    for thread_id, why in chosen.items():
        place = data.references.position[thread_id]
        thread = data.rows[place]
        sounds = tuple(_sounds(thread_id, thread, clips.get(thread_id, ()), embedded))
        answers = tuple(
            _answer(run, found.get(thread_id), data.references, place)
            for run, found in zip(data.runs, predictions, strict=True)
        )
        cases.append(_case(data, place, why, sounds, answers))
    return Section("cases", "Cases: single threads, system by system", tuple(cases)), embedded


def _case(data: ReportData, place: int, why: str, sounds: tuple[Sound, ...], answers: tuple[Answer, ...]) -> Case:
    references, thread = data.references, data.rows[place]
    candidates, truth = references.candidates[place], references.ground_truth[place]
    gold = relevant_places(Pool(candidates), truth)
    facts = [("Subreddit", f"r/{references.groups['subreddit'][place]}"), ("Genre", references.groups["genre"][place])]
    if thread.get("query"):
        facts.append(("Query", thread["query"]))
    if thread.get("submission_entities"):
        facts.append(("Named by the asker", "; ".join(thread["submission_entities"])))
    chance = data.runs[0].system.table.chance
    if chance is not None:
        facts.append(("Chance level", _scores({name: float(chance[name][place]) for name in _SHOWN})))
    return Case(
        title=f"Thread {references.thread_ids[place]}",
        why=why,
        facts=tuple(facts),
        sounds=sounds,
        links=tuple(_links(thread)),
        ground_truth=tuple(truth),
        pool=tuple(Item(str(i + 1), text, "hit" if i in gold else "miss") for i, text in enumerate(candidates)),
        pool_title=f"Pool of {numbers.plural(len(candidates), 'candidate')} in stored order, ground truth marked",
        answers=answers,
    )


def _answer(run: ReportRun, prediction: Prediction | None, references: References, place: int) -> Answer:
    if prediction is None:
        return Answer(run.label, "no prediction for this thread; it scores 0", ())
    values = run.system.table.values
    summary = _scores({name: float(values[name][place]) for name in _SHOWN})
    if prediction.outcome not in (None, "ok"):
        summary += f"; outcome: {prediction.outcome}"
    judged = judge(prediction.ranking, references.candidates[place], references.ground_truth[place])
    return Answer(run.label, summary, tuple(judged[:DEPTH]))


def judge(ranking: Sequence[str], candidates: Sequence[str], ground_truth: Sequence[str]) -> list[Item]:
    """Say of every ranked string whether it is a hit, by the rule of `musicrs_metric.matching`.

    Args:
        ranking: Strings, best first.
        candidates: The pool.
        ground_truth: The relevant strings.

    Returns:
        Items with the ranks that scores count: a repeated candidate is left out, an unknown string keeps its rank.
    """
    pool = Pool(candidates)
    gold = relevant_places(pool, ground_truth)
    seen: set[int] = set()
    items: list[Item] = []
    for text in ranking:
        place = pool.resolve(text)
        if place in seen:
            continue
        state: ItemState = "unknown" if place is None else "hit" if place in gold else "miss"
        if place is not None:
            seen.add(place)
        items.append(Item(str(len(items) + 1), text, state))
    return items


def relevant_places(pool: Pool, ground_truth: Sequence[str]) -> set[int]:
    """Places in the pool of the ground truth that it holds."""
    return {place for place in map(pool.resolve, ground_truth) if place is not None}


def _scores(values: Mapping[str, float]) -> str:
    return ", ".join(f"{numbers.measure_label(name)} {numbers.percent(value)}" for name, value in values.items())


def _sounds(thread_id: str, thread: Row, clips: Sequence[ClipAudio], embedded: dict[str, ClipAudio]) -> Iterator[Sound]:
    """Describe the clips, and put those that a page can carry into `embedded`."""
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
